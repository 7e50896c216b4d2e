// Other losses and steps for rows with several labels, in place of the core's header of this name.
// The environment chooses: RECALLTREE_LABEL_LOSS and RECALLTREE_LABEL_STEPS, by the names of
// label_losses.py, which says in NumPy what is computed here.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace recalltree {

enum class Role : std::uint8_t { other, label, missed_label };

namespace chosen {

inline std::string of_environment(const char* name, const char* otherwise) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : otherwise;
}

inline const std::string loss = of_environment("RECALLTREE_LABEL_LOSS", "shared by roots");
inline const std::string steps = of_environment("RECALLTREE_LABEL_STEPS", "sqrt(n) / m");

}  // namespace chosen

// Scores of the candidates that take part -> gradients. What the loss itself knows learns once for
// each row.
class LabelLoss {
 public:
  virtual ~LabelLoss() = default;
  virtual std::vector<double> operator()(const std::vector<double>& scores,
                                         const std::vector<bool>& is_label, bool learns) = 0;
};

// p - t, where the labels share 1 in proportion to p to some power: 0 is "pick all, normalised",
// 1/2 the estimator's loss, 1 "find one". `times_labels`: the sum of the losses of the labels.
class SharedByPower : public LabelLoss {
 public:
  explicit SharedByPower(double power, bool times_labels = false)
      : power_(power), times_labels_(times_labels) {}

  std::vector<double> operator()(const std::vector<double>& scores,
                                 const std::vector<bool>& is_label, bool) override {
    const double largest = *std::max_element(scores.begin(), scores.end());
    double all = 0.0, shared = 0.0, n_labels = 0.0;
    std::vector<double> p(scores.size());
    for (std::size_t c = 0; c < scores.size(); ++c) {
      all += p[c] = std::exp(scores[c] - largest);
      if (is_label[c]) shared += std::pow(p[c], power_), ++n_labels;
    }
    for (std::size_t c = 0; c < scores.size(); ++c) {
      const double target = is_label[c] && shared > 0 ? std::pow(p[c], power_) / shared : 0.0;
      p[c] = (times_labels_ ? n_labels : 1.0) * (p[c] / all - target);
    }
    return p;
  }

 private:
  double power_;
  bool times_labels_;
};

// A logistic loss for each candidate, and one offset for all of them, which learns, too.
class Logistic : public LabelLoss {
 public:
  std::vector<double> operator()(const std::vector<double>& scores,
                                 const std::vector<bool>& is_label, bool learns) override {
    std::vector<double> found(scores.size());
    double wrong = 0.0;
    for (std::size_t c = 0; c < scores.size(); ++c)
      wrong += found[c] = 1.0 / (1.0 + std::exp(-scores[c] - offset_)) - is_label[c];
    if (!learns) return found;
    squares_ += wrong * wrong;
    offset_ -= 0.3 * wrong / std::sqrt(squares_ + 0.1);
    return found;
  }

 private:
  double offset_ = 0.0, squares_ = 0.0;
};

inline LabelLoss& label_loss() {
  static SharedByPower all(0.0, true), normalised(0.0), roots(0.5), one(1.0);
  static Logistic logistic;
  static LabelLoss* const chosen = []() -> LabelLoss* {
    if (chosen::loss == "pick all") return &all;
    if (chosen::loss == "pick all, normalised") return &normalised;
    if (chosen::loss == "shared by roots") return &roots;
    if (chosen::loss == "find one") return &one;
    if (chosen::loss == "logistic") return &logistic;
    throw std::invalid_argument("no loss is called '" + chosen::loss + "'");
  }();
  return *chosen;
}

inline void label_loss_gradients(std::span<const float> scores, std::span<const Role> roles,
                                 double margin, bool with_missed, std::vector<double>& gradient) {
  std::vector<double> taking_part;
  std::vector<bool> is_label;
  bool has_label = false;
  for (std::size_t c = 0; c < scores.size(); ++c) {
    if (!with_missed && roles[c] == Role::missed_label) continue;
    is_label.push_back(roles[c] != Role::other);
    has_label |= is_label.back();
    taking_part.push_back(scores[c] - (is_label.back() ? margin : 0.0));
  }
  gradient.assign(scores.size(), 0.0);
  if (!has_label) return;
  const std::vector<double> found = label_loss()(taking_part, is_label, with_missed);
  for (std::size_t c = 0, at = 0; c < scores.size(); ++c)
    if (with_missed || roles[c] != Role::missed_label) gradient[c] = found[at++];
}

inline double share_of_step(std::size_t n_labels, double mean) {
  const double n = std::max(1.0, static_cast<double>(n_labels));
  if (chosen::steps == "sqrt(n) / m") return std::sqrt(n) / std::max(1.0, mean);
  if (chosen::steps == "1") return 1.0;
  if (chosen::steps == "0.7") return 0.7;
  if (chosen::steps == "0.5") return 0.5;
  if (chosen::steps == "0.5, several labels 0.75") return n > 1.0 ? 0.75 : 0.5;
  if (chosen::steps == "1, several labels 0.5") return n > 1.0 ? 0.5 : 1.0;
  throw std::invalid_argument("no steps are called '" + chosen::steps + "'");
}

}  // namespace recalltree
