// Dense examples as linear models see them: less the mean of what was seen before, over the largest
// magnitude, and the learning rate that goes with their length.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "config.hpp"
#include "example.hpp"
#include "feature_scale.hpp"
#include "intended_race.hpp"
#include "kernels.hpp"
#include "rows.hpp"

namespace recalltree {

class FeatureCentring {
 public:
  FeatureCentring(const LearnerConfig& config, bool center)
      : learning_rate_(config.learning_rate),
        mean_(center && !config.sparse ? config.n_features : 0, 0.0f) {}

  // Takes the means off an example that the scale has read.
  void center(const FeatureScale& scale, Example& x) const {
    float* z = x.dense.data();
    for (std::size_t j = 0; j < mean_.size(); ++j) {
      const float s = relaxed_load(scale.scale()[j]);
      if (s > 0.0f) z[j] -= relaxed_load(mean_[j]) / s;
    }
  }

  // The rate at which routers learn an example.
  double rate(const Example& x) const {
    const double norm = relaxed_load(norm_sum_), weight = relaxed_load(weight_sum_);
    const double mean = weight > 0.0 ? norm / weight : squared_norm(x);
    return learning_rate_ / std::sqrt(mean);
  }

  // Row i has been learned; x is how it was seen.
  void learn(const Rows& rows, std::size_t i, const Example& x, double weight) {
    relaxed_store(norm_sum_, relaxed_load(norm_sum_) + weight * squared_norm(x));
    const double sum = relaxed_load(weight_sum_) + weight;
    relaxed_store(weight_sum_, sum);
    if (mean_.empty()) return;
    const auto share = static_cast<float>(weight / sum);
    // Zeros count, too, and sparse rows do not list them.
    if (rows.sparse)
      for (float& mean : mean_) relaxed_store(mean, relaxed_load(mean) * (1.0f - share));
    rows.visit(i, [&](std::uint32_t j, float value) {
      const float mean = relaxed_load(mean_[j]);
      relaxed_store(mean_[j], rows.sparse ? mean + share * value : mean + share * (value - mean));
    });
  }

  std::vector<float>& mean() { return mean_; }
  double& norm_sum() { return norm_sum_; }
  double& weight_sum() { return weight_sum_; }
  std::size_t bytes() const { return mean_.size() * sizeof(float); }

 private:
  // The bias is a feature that is 1.
  static double squared_norm(const Example& x) {
    double sum = 1.0;
    for (const float value : x.values) sum += double(value) * double(value);
    if (x.keys.empty()) sum += kernels().dot(x.dense.data(), x.dense.data(), x.dense.size());
    return sum;
  }

  double learning_rate_;
  std::vector<float> mean_;
  double norm_sum_ = 0.0, weight_sum_ = 0.0;
};

}  // namespace recalltree
