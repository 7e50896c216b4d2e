// Why a model answers as it does: what each feature of one example adds to the scores of its linear
// models.
#pragma once

#include <cstdint>
#include <vector>

#include "recalltree/base/example.hpp"
#include "recalltree/base/rows.hpp"
#include "recalltree/base/types.hpp"
#include "recalltree/linear/weights.hpp"

namespace recalltree {

// The score of model i is bias[i] + path[i] + the sum of values[i * features.size() ...].
struct Contributions {
  std::vector<std::uint32_t> features;  // those of the example that are not zero
  std::vector<float> bias;
  std::vector<float> path;    // indicators of the route, for classes of a Recall Tree; 0 otherwise
  std::vector<float> values;  // by model, then by feature
};

// A score is a sum over features, so a feature's part of it is the score of an example that has
// this feature alone, less the score of an example that has none.
class FeatureParts {
 public:
  FeatureParts(const Example& x, bool sparse) : sparse_(sparse) {
    if (sparse) {
      features_ = x.features;
      values_ = x.values;
      return;
    }
    one_.dense.reserve(x.dense.size());
    for (std::size_t j = 0; j < x.dense.size(); ++j)
      if (x.dense.data()[j] != 0.0f) {
        features_.push_back(static_cast<std::uint32_t>(j));
        values_.push_back(x.dense.data()[j]);
      }
  }

  Contributions none(std::size_t n_models) const {
    return {features_, std::vector<float>(n_models), std::vector<float>(n_models),
            std::vector<float>(n_models * features_.size())};
  }

  // Adds what the features contribute to a model, the i-th of `out`.
  void add(const ReadWeights& weights, ModelId model, std::size_t i, Contributions& out) {
    if (model == kNoModel || model >= weights.size()) return;
    const float bias = weights.score(model, nothing());
    out.bias[i] += bias;
    for (std::size_t k = 0; k < features_.size(); ++k)
      out.values[i * features_.size() + k] += weights.score(model, alone(k)) - bias;
  }

 private:
  const Example& nothing() {
    if (sparse_) {
      one_.features.clear();
      one_.values.clear();
    } else if (last_ < features_.size()) {
      one_.dense.data()[features_[last_]] = 0.0f;
    }
    return one_;
  }
  const Example& alone(std::size_t k) {
    nothing();
    if (sparse_) {
      one_.features.assign(1, features_[k]);
      one_.values.assign(1, values_[k]);
    } else {
      one_.dense.data()[features_[k]] = values_[k];
      last_ = k;
    }
    return one_;
  }

  bool sparse_;
  std::vector<std::uint32_t> features_;
  std::vector<float> values_;
  Example one_;
  std::size_t last_ = SIZE_MAX;  // dense: which feature `one_` holds
};

// Row i of `rows`, as the predictors of these classes see it at the end of its route. Of a Recall
// Tree or of one-against-all.
template <class Model>
Contributions explain_classes(const Model& model, const Rows& rows, std::size_t i,
                              const std::vector<ClassId>& classes) {
  Example x;
  model.read(rows, i, x);
  FeatureParts parts(x, model.config().learner.sparse);
  Contributions out = parts.none(classes.size());
  for (std::size_t k = 0; k < classes.size(); ++k)
    parts.add(model.predictors(), classes[k], k, out);
  if constexpr (requires { model.path_weights(); }) {
    Example path;
    std::vector<NodeId> route;
    model.route(rows, i, route);
    model.path_features(route, path);
    for (std::size_t k = 0; k < classes.size() && !path.features.empty(); ++k) {
      if (classes[k] < model.path_weights().size())
        out.path[k] = model.path_weights().score(classes[k], path);
      if (model.config().path_interactions)
        for (const NodeId node : path.features)
          parts.add(model.interactions(), model.interaction_model(classes[k], node), k, out);
    }
  }
  return out;
}

// The same for the routers of these nodes; all zero where a node has none. Of a Recall Tree or a
// LOMTree.
template <class Model>
Contributions explain_routers(const Model& model, const Rows& rows, std::size_t i,
                              const std::vector<NodeId>& nodes) {
  Example x;
  model.read(rows, i, x);
  FeatureParts parts(x, model.config().learner.sparse);
  Contributions out = parts.none(nodes.size());
  for (std::size_t k = 0; k < nodes.size(); ++k)
    parts.add(model.routers(), model.router(nodes[k]), k, out);
  return out;
}

}  // namespace recalltree
