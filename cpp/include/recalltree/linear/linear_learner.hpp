// The one binary learner under every reduction: AdaGrad rates per weight, scale-normalised
// features, and importance-aware steps. "Learn(x, weight, label)" of the paper.
#pragma once

#include <cmath>
#include <memory>
#include <span>
#include <vector>

#include "recalltree/base/config.hpp"
#include "recalltree/kernels/kernels.hpp"
#include "recalltree/linear/dense_weights.hpp"
#include "recalltree/linear/feature_scale.hpp"
#include "recalltree/linear/sparse_weights.hpp"
#include "recalltree/linear/weights.hpp"

namespace recalltree {

// A model may be a sum of parts: weights on x, on path features, on their products. models[i] is
// the model of the i-th model within this part.
struct Part {
  Weights* weights;
  const ModelId* models;
  const Example* example;
  bool regularised;
  LookupCache* found = nullptr;  // where the models have been looked up, if they have,
  std::size_t first = 0;         // beginning with this one
};

inline std::unique_ptr<Weights> make_weights(const LearnerConfig& config, bool bias) {
  if (config.sparse) return std::make_unique<SparseWeights>(bias);
  return std::make_unique<DenseWeights>(config.n_features, bias);
}

class LinearLearner {
 public:
  struct Workspace {
    std::vector<Steps> steps;  // by part
  };

  explicit LinearLearner(const LearnerConfig& config) : config_(config), scale(config) {}

  // One update of n distinct models whose scores are p: targets in {-1, +1}, importance of each.
  // Those that are to be negative are left alone if their gradient is below the floor.
  void learn(std::span<const Part> parts, std::size_t n, const float* p, const float* targets,
             const double* importance, double rate, Workspace& ws,
             double negative_floor = kGradientFloor) const {
    if (ws.steps.size() < parts.size()) ws.steps.resize(parts.size());
    for (std::size_t begin = 0; begin < n; begin += kBlock)
      learn_block(parts, begin, std::min(kBlock, n - begin), p + begin, targets + begin,
                  importance + begin, rate, ws, negative_floor);
  }

  void gradients(const float* p, const float* targets, double* out, std::size_t n) const {
    kernels().gradients(config_.loss, p, targets, out, n);
  }

  void save(State& state) const {
    state.put("scale.features", scale.scale());
    state.put("scale.sums", std::vector<double>{scale.norm_sum(), scale.weight_sum()});
  }
  void load(const State& state) {
    const auto features = state.get<float>("scale.features", config_.n_features);
    scale.scale().assign(features.begin(), features.end());
    const auto sums = state.get<double>("scale.sums", 2);
    scale.norm_sum() = sums[0];
    scale.weight_sum() = sums[1];
  }

 private:
  void learn_block(std::span<const Part> parts, std::size_t begin, std::size_t n, const float* p,
                   const float* y, const double* importance, double rate, Workspace& ws,
                   double negative_floor) const {
    double g[kBlock], t[kBlock], c[kBlock], h[kBlock];
    float weighted_g2[kBlock], step[kBlock], shrinkage[kBlock], no_shrinkage[kBlock] = {};
    kernels().gradients(config_.loss, p, y, g, n);
    for (std::size_t i = 0; i < n; ++i) {
      const double floor = y[i] < 0.0f ? negative_floor : kGradientFloor;
      const bool learns = std::fabs(g[i]) >= floor && importance[i] > 0.0;
      weighted_g2[i] = learns ? static_cast<float>(importance[i] * (g[i] * g[i])) : 0.0f;
      t[i] = rate * importance[i];
      shrinkage[i] = static_cast<float>(t[i] * config_.l2);
      c[i] = 0.0;
    }
    for (std::size_t k = 0; k < parts.size(); ++k)
      parts[k].weights->accumulate(parts[k].models + begin, n, *parts[k].example, weighted_g2,
                                   ws.steps[k], c, parts[k].found, parts[k].first + begin);
    for (std::size_t i = 0; i < n; ++i)
      if (c[i] == 0.0) c[i] = 1.0;  // left out, but the block's arithmetic stays finite
    kernels().steps(config_.loss, p, y, t, c, h, n);
    for (std::size_t i = 0; i < n; ++i) step[i] = static_cast<float>(h[i]);
    for (std::size_t k = 0; k < parts.size(); ++k)
      parts[k].weights->apply(parts[k].models + begin, n, *parts[k].example, weighted_g2,
                              ws.steps[k], step, parts[k].regularised ? shrinkage : no_shrinkage);
  }

  LearnerConfig config_;

 public:
  FeatureScale scale;
};

}  // namespace recalltree
