// The loss over the candidates of an example with one label or several:
//
//   -2 log sum over its labels y of sqrt(p_y)
//
// p is the softmax of the scores. Of one label it is the softmax's own loss. The gradient is p - t:
// labels share 1 in proportion to the roots of their probabilities.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace recalltree {

// Role of a candidate. No key voted for a missed label.
enum class Role : std::uint8_t { other, label, missed_label };

// Gradients with respect to the scores; labels have to win by the margin. Missed labels may be left
// out, as if they were no candidates.
inline void label_loss_gradients(std::span<const float> scores, std::span<const Role> roles,
                                 double margin, bool with_missed, std::vector<double>& gradient) {
  const auto takes_part = [&](std::size_t c) {
    return with_missed || roles[c] != Role::missed_label;
  };
  gradient.assign(scores.size(), 0.0);
  constexpr double kLeast = -std::numeric_limits<double>::infinity();
  double largest = kLeast, largest_label = kLeast;
  std::size_t n_labels = 0;
  for (std::size_t c = 0; c < scores.size(); ++c) {
    if (!takes_part(c)) continue;
    gradient[c] = scores[c];
    if (roles[c] != Role::other) {
      gradient[c] -= margin;
      largest_label = std::max(largest_label, gradient[c]);
      ++n_labels;
    }
    largest = std::max(largest, gradient[c]);
  }
  if (n_labels == 0) return gradient.assign(scores.size(), 0.0);
  double shared = 1.0;
  if (n_labels > 1) {
    shared = 0.0;
    for (std::size_t c = 0; c < scores.size(); ++c)
      if (takes_part(c) && roles[c] != Role::other)
        shared += std::exp(0.5 * (gradient[c] - largest_label));
  }
  double sum = 0.0;
  for (std::size_t c = 0; c < scores.size(); ++c)
    if (takes_part(c)) sum += std::exp(gradient[c] - largest);
  for (std::size_t c = 0; c < scores.size(); ++c) {
    if (!takes_part(c)) continue;
    const double score = gradient[c];
    gradient[c] = std::exp(score - largest) / sum;
    if (roles[c] != Role::other) gradient[c] -= std::exp(0.5 * (score - largest_label)) / shared;
  }
}

// Length of a row's steps: sqrt(n) / m, where it has n labels and rows have m on average.
inline double share_of_step(std::size_t n_labels, double mean) {
  return std::sqrt(std::max(1.0, static_cast<double>(n_labels))) / std::max(1.0, mean);
}

}  // namespace recalltree
