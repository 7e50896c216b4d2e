// Scale normalisation, shared by all linear models: a feature is divided by the largest magnitude
// it has shown, and the learning rate by the root of the mean squared norm of what is left.
// Multiplying a feature by a constant therefore changes nothing.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "recalltree/base/config.hpp"
#include "recalltree/base/example.hpp"
#include "recalltree/base/hints.hpp"
#include "recalltree/base/rows.hpp"
#include "recalltree/kernels/kernels.hpp"

namespace recalltree {

class FeatureScale {
 public:
  explicit FeatureScale(const LearnerConfig& config)
      : config_(config), scale_(config.n_features, 0.0f) {}

  // Row i as learners see it now. Features never learned from are zero.
  void read(const Rows& rows, std::size_t i, Example& out) const {
    read(config_, scale_.data(), rows, i, out);
  }
  // The same with scales kept elsewhere.
  static void read(const LearnerConfig& config, const float* scale, const Rows& rows, std::size_t i,
                   Example& out) {
    normalise(config, rows, i, out, [&](std::uint32_t j, float, std::size_t) { return scale[j]; });
  }

  // The same, after the scales and the mean norm have taken the row into account.
  void learn(const Rows& rows, std::size_t i, double weight, Example& out) {
    out.changes.clear();
    const auto grow = [&](std::uint32_t j, float x, std::size_t at) RECALLTREE_INLINE_LAMBDA {
      float& scale = scale_[j];
      const float known = scale, magnitude = std::fabs(x);
      if (magnitude <= known) return known;
      scale = magnitude;
      out.changes.push_back({static_cast<std::uint32_t>(at), known > 0.0f ? x / known : 0.0f});
      return magnitude;
    };
    double norm = 1.0 + normalise(config_, rows, i, out, grow);
    norm = norm_sum_ + weight * norm;
    weight += weight_sum_;
    norm_sum_ = norm;
    weight_sum_ = weight;
    out.rate = config_.learning_rate / std::sqrt(norm / weight);
  }

  // A larger magnitude of a feature than was known.
  struct Raise {
    std::uint32_t feature;
    float magnitude;
  };
  // A row of a mini-batch: the same as if it were learned now, but the scales and the mean norm
  // stay as they are. Returns its squared norm.
  double study(const Rows& rows, std::size_t i, double weight, Example& out,
               std::vector<Raise>& raises) const {
    out.changes.clear();
    raises.clear();
    const auto raised = [&](std::uint32_t j, float x, std::size_t at) RECALLTREE_INLINE_LAMBDA {
      const float known = scale_[j], magnitude = std::fabs(x);
      if (magnitude <= known) return known;
      raises.push_back({j, magnitude});
      out.changes.push_back({static_cast<std::uint32_t>(at), known > 0.0f ? x / known : 0.0f});
      return magnitude;
    };
    const double norm = 1.0 + normalise(config_, rows, i, out, raised);
    out.rate =
        config_.learning_rate / std::sqrt((norm_sum_ + weight * norm) / (weight_sum_ + weight));
    return norm;
  }
  // Rows are taken one by one after they were studied.
  void take(const std::vector<Raise>& raises, double weight, double norm) {
    for (const Raise& raise : raises)
      scale_[raise.feature] = std::max(scale_[raise.feature], raise.magnitude);
    norm_sum_ += weight * norm;
    weight_sum_ += weight;
  }

  // True if the scales would change if row i were learned.
  bool exceeds(const Rows& rows, std::size_t i) const {
    bool found = false;
    rows.visit(i, [&](std::uint32_t j, float x) { found |= std::fabs(x) > scale_[j]; });
    return found;
  }

  std::vector<float>& scale() { return scale_; }
  const std::vector<float>& scale() const { return scale_; }
  double& norm_sum() { return norm_sum_; }
  double norm_sum() const { return norm_sum_; }
  double& weight_sum() { return weight_sum_; }
  double weight_sum() const { return weight_sum_; }
  std::size_t bytes() const { return scale_.size() * sizeof(float); }

 private:
  // Returns the squared norm of the normalised row. scale_of(feature, value, position in `out`).
  template <class ScaleOf>
  RECALLTREE_INLINE static double normalise(const LearnerConfig& config, const Rows& rows,
                                            std::size_t i, Example& out, ScaleOf scale_of) {
    if (!config.sparse) {
      out.dense.reserve(config.n_features);
      float* z = out.dense.data();
      if (rows.sparse) std::fill(z, z + out.dense.size(), 0.0f);
      rows.visit(i, [&](std::uint32_t j, float x) RECALLTREE_INLINE_LAMBDA {
        const float s = scale_of(j, x, j);
        z[j] = s > 0.0f ? x / s : 0.0f;
      });
      return kernels().dot(z, z, out.dense.size());
    }
    out.features.clear();
    out.values.clear();
    double norm = 0.0;
    rows.visit(i, [&](std::uint32_t j, float x) {
      if (x == 0.0f) return;
      const float s = scale_of(j, x, out.features.size());
      if (s == 0.0f) return;
      const float z = x / s;
      out.features.push_back(j);
      out.values.push_back(z);
      norm += double(z) * double(z);
    });
    return norm;
  }

  LearnerConfig config_;
  std::vector<float> scale_;
  double norm_sum_ = 0.0, weight_sum_ = 0.0;
};

}  // namespace recalltree
