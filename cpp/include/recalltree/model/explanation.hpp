// Why a model answers as it does: what each feature of one example adds to the scores of its linear
// models.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
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

// Parts of the scores of some classes, by the keys and predictors of an example. The score of class
// i is bias[i] + the sum of row i of votes, predictors and node_votes.
struct VoteShares {
  std::vector<std::uint32_t> features;               // those of the example that are not zero
  std::vector<NodeId> nodes;                         // that vote
  std::vector<float> bias;                           // by class
  std::vector<float> votes, predictors, node_votes;  // one row per class
};

// Row i of `rows`, as one-against-some scores it for these classes.
template <class Model>
VoteShares explain_votes(const Model& model, const Rows& rows, std::size_t i,
                         const std::vector<ClassId>& classes) {
  const auto& store = model.store();
  const auto row = model.read_row(rows, i);
  const bool weights_in_pairs = store.rules.weights_in_pairs;
  VoteShares out;
  for (const auto& key : row->keys) out.features.push_back(key.key);
  if (store.rules.has_dense_predictors) {  // these see what is no key, too
    std::vector<std::uint32_t> seen, keys;
    for (std::uint32_t j = 0; j < model.config().learner.n_features; ++j)
      if (row->x.dense.data()[j] != 0.0f) seen.push_back(j);
    keys.swap(out.features);
    std::set_union(keys.begin(), keys.end(), seen.begin(), seen.end(),
                   std::back_inserter(out.features));
  }
  for (const auto& key : row->node_keys) out.nodes.push_back(key.node);
  const std::size_t n_features = out.features.size(), n_nodes = out.nodes.size();
  out.votes.assign(classes.size() * n_features, 0.0f);
  out.predictors.assign(classes.size() * n_features, 0.0f);
  out.node_votes.assign(classes.size() * n_nodes, 0.0f);
  const auto scales = scales_of_votes(store);
  for (std::size_t c = 0; c < classes.size(); ++c) {
    const ClassId y = classes[c];
    const auto terms = store.terms(y);
    out.bias.push_back(terms.bias);
    for (std::size_t t = 0; t < n_nodes; ++t)
      store.forest.vote(row->node_keys[t], [&](ClassId label, float vote) {
        if (label == y) out.node_votes[c * n_nodes + t] = scales.nodes * vote;
      });
    model.visit_pairs(y, *row, [&](std::uint32_t k, std::uint32_t, float count, float weight) {
      const auto& key = row->keys[k];
      const auto place = std::lower_bound(out.features.begin(), out.features.end(), key.key);
      const auto at = c * n_features + static_cast<std::size_t>(place - out.features.begin());
      if (weights_in_pairs) out.predictors[at] = key.value * weight;
      out.votes[at] = key.pull * std::sqrt(count) *
                      (scales.affinity * terms.inverse_norm + scales.share * key.rarity);
    });
    if (!store.rules.has_dense_predictors) continue;
    const ModelContents predictor = store.predictors().contents(y);
    for (std::size_t k = 0; k < n_features; ++k)
      out.predictors[c * n_features + k] =
          predictor.weights[out.features[k]] * row->x.dense.data()[out.features[k]];
  }
  return out;
}

}  // namespace recalltree
