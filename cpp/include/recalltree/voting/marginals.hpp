// Marginal probabilities of labels, from those of a softmax, which sum to 1, where rows
// have lists of labels:
//
//   P(y | x) = 1 / (1 + exp(-a log p_y - b))
//
// a and b are learned from predictions that were made before learning (Platt's scaling).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "recalltree/base/state.hpp"
#include "recalltree/base/types.hpp"
#include "recalltree/voting/adagrad.hpp"

namespace recalltree {

struct MarginalGradient {
  bool is_known = false;
  double slope = 0.0, offset = 0.0;
};

class Marginals {
 public:
  static constexpr const char* kName = "marginals";

  // True once the model has learned lists of labels.
  bool are_known() const { return known_; }
  void begin() { known_ = true; }
  std::pair<float, float> numbers() const { return {slope_.value, offset_.value}; }

  // The scores of the candidates of a row, and its labels.
  MarginalGradient gradient(std::span<const ClassId> candidates, std::span<const float> scores,
                            Labels labels) const {
    if (scores.empty()) return {};
    double of_slope = 0.0, of_offset = 0.0;
    visit(scores, [&](std::size_t c, double log_p, double probability) {
      const double wrong = probability - is_among(labels, candidates[c]);
      of_slope += wrong * log_p;
      of_offset += wrong;
    });
    return {true, of_slope, of_offset};
  }
  void learn(const MarginalGradient& gradient, double weight) {
    if (!gradient.is_known) return;
    slope_.learn(gradient.slope, weight, 0.0f);
    offset_.learn(gradient.offset, weight, -std::numeric_limits<float>::infinity());
  }

  // P of each candidate.
  void probabilities(std::span<const float> scores, std::vector<double>& found) const {
    found.resize(scores.size());
    if (!scores.empty())
      visit(scores, [&](std::size_t c, double, double probability) { found[c] = probability; });
  }

  void save(State& state) const {
    if (known_)
      state.put(kName, std::vector<float>{slope_.value, slope_.accumulator, offset_.value,
                                          offset_.accumulator});
  }
  void load(const State& state) {
    if (!state.has(kName)) return;
    const auto saved = state.get<float>(kName, 4);
    slope_ = {saved[0], saved[1]}, offset_ = {saved[2], saved[3]};
    known_ = true;
  }

 private:
  struct Number {
    float value, accumulator = 0.0f;

    void learn(double gradient, double weight, float least) {
      constexpr double kRate = 0.3, kOffset = 0.1;
      const double G = accumulate(accumulator, gradient, weight);
      const double step = -kRate * weight * gradient / std::sqrt(G + kOffset);
      value = std::max(least, static_cast<float>(value + step));
    }
  };
  // visit(candidate, log p, P) for all candidates, of which there is at least one.
  template <class Visit>
  void visit(std::span<const float> scores, Visit visit) const {
    const double largest = *std::max_element(scores.begin(), scores.end());
    double sum = 0.0;
    for (const float score : scores) sum += std::exp(score - largest);
    const double log_sum = largest + std::log(sum);
    const double a = slope_.value, b = offset_.value;
    for (std::size_t c = 0; c < scores.size(); ++c) {
      const double log_p = std::max(kSmallestLog, scores[c] - log_sum);
      visit(c, log_p, 1.0 / (1.0 + std::exp(-a * log_p - b)));
    }
  }

  static constexpr double kSmallestLog = -20.0;

  Number slope_{1.0f}, offset_{0.0f};
  bool known_ = false;
};

}  // namespace recalltree
