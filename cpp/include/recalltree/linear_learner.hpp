// The one binary learner under every reduction: AdaGrad rates per weight, scale-normalised features, and
// importance-aware steps. "Learn(x, weight, label)" of the paper.
#pragma once

#include <cmath>
#include <memory>
#include <span>
#include <vector>

#include "config.hpp"
#include "feature_scale.hpp"
#include "kernels.hpp"
#include "weights.hpp"

namespace recalltree {

// A model may be a sum of parts: weights on x, on path features, on their products. rows[i] is the row of the
// i-th model within this part.
struct Part {
  Weights* weights;
  const RowId* rows;
  const Example* example;
  bool regularised;
};

inline std::unique_ptr<Weights> make_weights(const LearnerConfig& config, bool bias) {
  if (config.sparse) return std::make_unique<SparseWeights>(bias);
  return std::make_unique<DenseWeights>(config.n_features, bias);
}

class LinearLearner {
 public:
  static constexpr std::size_t kBlock = 16;  // models whose losses are computed together
  struct Workspace {
    std::vector<Step> steps;
  };

  explicit LinearLearner(const LearnerConfig& config) : config_(config), scale(config) {}

  // One update of n distinct models whose scores are p: targets in {-1, +1}, importance of each.
  void learn(std::span<const Part> parts, std::size_t n, const float* p, const float* targets,
             const double* importance, double rate, Workspace& ws, bool shared) const {
    if (ws.steps.size() < parts.size() * kBlock) ws.steps.resize(parts.size() * kBlock);
    for (std::size_t begin = 0; begin < n; begin += kBlock)
      learn_block(parts, begin, std::min(kBlock, n - begin), p + begin, targets + begin, importance + begin, rate, ws,
                  shared);
  }

  void save(State& state) {
    state.put("scale.features", scale.scale());
    state.put("scale.sums", std::vector<double>{scale.norm_sum(), scale.weight_sum()});
  }
  void load(const State& state) {
    scale.scale() = state.get<float>("scale.features", config_.n_features);
    const auto sums = state.get<double>("scale.sums", 2);
    scale.norm_sum() = sums[0];
    scale.weight_sum() = sums[1];
  }

 private:
  void learn_block(std::span<const Part> parts, std::size_t begin, std::size_t n, const float* p, const float* y,
                   const double* importance, double rate, Workspace& ws, bool shared) const {
    double g[kBlock], t[kBlock], c[kBlock], h[kBlock];
    kernels().gradients(config_.loss, p, y, g, n);
    for (std::size_t i = 0; i < n; ++i) {
      t[i] = rate * importance[i];
      c[i] = 0.0;
      if (skipped(g[i], importance[i])) {
        c[i] = 1.0;  // not used, but keeps the block's arithmetic finite
        continue;
      }
      const float weighted_g2 = static_cast<float>(importance[i] * (g[i] * g[i]));
      for (std::size_t k = 0; k < parts.size(); ++k)
        c[i] += parts[k].weights->accumulate(parts[k].rows[begin + i], *parts[k].example, weighted_g2,
                                             ws.steps[k * kBlock + i], shared);
    }
    kernels().steps(config_.loss, p, y, t, c, h, n);
    for (std::size_t i = 0; i < n; ++i) {
      if (skipped(g[i], importance[i])) continue;
      for (std::size_t k = 0; k < parts.size(); ++k)
        parts[k].weights->apply(parts[k].rows[begin + i], *parts[k].example, ws.steps[k * kBlock + i],
                                static_cast<float>(h[i]),
                                parts[k].regularised ? static_cast<float>(t[i] * config_.l2) : 0.0f);
    }
  }

  static bool skipped(double g, double importance) { return std::fabs(g) < kGradientFloor || importance <= 0.0; }

  LearnerConfig config_;

 public:
  FeatureScale scale;
};

}  // namespace recalltree
