// How the keys of an example vote for candidates and how these are scored, wherever the counts are
// kept: in the tables of a learner, or in the arrays of a file.
//
// A model gives
//   rules(), unit(), examples()               what follows from its parameters, what it counted
//   read_dense(rows, i, workspace)            dense rows as linear models see them
//   find_key(j), had(key), weight(key)        the histogram of a feature
//   visit_entries(key, n, shared, visit)      its first n entries: visit(label, root); returns how
//                                             many they were
//   visit_frequent(shared, visit)             the most frequent classes, until visit(label) is true
//   visit_pairs(y, keys, shared, visit)       what a class knows of the keys: visit(position among
//   prefetch_pairs(y, keys)                   them, slot, count, weight)
//   n_trees(), descend(x, n_classes, workspace, work, shared)
//   vote_of_node(key, shared, vote)           the labels of a node: vote(label, vote)
//   feature_scale(), node_scale()             A and B
//   inverse_norm(y), bias(y)
//   predictor_scores(labels, n, x, out, shared)
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <vector>

#include "rows.hpp"
#include "types.hpp"
#include "voting_rules.hpp"
#include "weights.hpp"
#include "workspace.hpp"

namespace recalltree {

// The example that is learned, as far as it is already counted: on later passes it is left out of
// its own counts.
struct Own {
  ClassId y = kNoClass;
  double count = 0.0;  // of its weight, in growing units
  float inverse_norm = 0.0f;

  ClassId left_out() const { return count > 0.0 ? y : kNoClass; }
};

// What the keys, the routers and the predictors see of row i. Nothing is learned from it yet, so
// that prediction sees the same.
template <class Model>
void read_example(const Model& model, const Rows& rows, std::size_t i, double own, Workspace& ws) {
  const VotingRules& rules = model.rules();
  VotingWorkspace& v = ws.voting;
  v.keys.clear();
  if (rules.features_vote || rules.weights_in_pairs)
    rules.weighting.read(model, rows, i, own, v.keys);
  if (rules.weights_in_pairs && model.n_trees() == 0) return;
  if (rules.config.learner.sparse) {
    ws.x.keys.clear(), ws.x.values.clear();
    for (const ActiveKey& key : v.keys) {
      ws.x.keys.push_back(key.key);
      ws.x.values.push_back(key.value);
    }
  } else {
    model.read_dense(rows, i, ws);
  }
}

template <class Model>
float inverse_norm(const Model& model, ClassId z, const Own& own) {
  return z == own.left_out() ? own.inverse_norm : model.inverse_norm(z);
}

// The features vote, those that pull most first, until enough entries are read.
template <class Model>
void vote_of_features(const Model& model, const Own& own, std::size_t max_entries, Workspace& ws,
                      bool shared) {
  VotingWorkspace& v = ws.voting;
  v.order.resize(v.keys.size());
  std::iota(v.order.begin(), v.order.end(), 0u);
  std::sort(v.order.begin(), v.order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return v.keys[a].pull > v.keys[b].pull || (v.keys[a].pull == v.keys[b].pull && a < b);
  });
  const ClassId left_out = own.left_out();
  std::size_t left = max_entries;
  for (const std::uint32_t k : v.order) {
    const float pull = v.keys[k].pull;
    left -= model.visit_entries(v.keys[k], left, shared, [&](ClassId label, float root) {
      if (label == left_out) root = v.own_root[k];
      if (root > 0.0f) v.votes.add_feature_vote(label, pull * root);
    });
    if (left == 0) break;
  }
  ws.work.histogram_touches += max_entries - left;
}

template <class Model>
void find_candidates(const Model& model, const Own& own, Workspace& ws, bool shared) {
  const VotingRules& rules = model.rules();
  const std::size_t max_candidates = rules.config.max_candidates;
  VotingWorkspace& v = ws.voting;
  v.votes.reserve(std::min<std::size_t>(rules.config.max_entries, model.n_classes()));
  v.own_node_vote = 0.0f;
  std::size_t read = 0;
  if (model.n_trees() > 0) {
    for (const NodeKey& key : v.node_keys)
      read += model.vote_of_node(key, shared, [&](ClassId label, float vote) {
        v.votes.add_node_vote(label, vote);
        if (label == own.y) v.own_node_vote += vote;
      });
    ws.work.histogram_touches += read;
  }
  if (rules.features_vote)
    vote_of_features(
        model, own,
        rules.config.max_entries - std::min<std::size_t>(read, rules.config.max_entries), ws,
        shared);
  const float A = model.feature_scale(), B = model.node_scale();
  v.votes.take_best(max_candidates, v.candidates, [&](ClassId z, float features, float nodes) {
    return A * features * inverse_norm(model, z, own) + B * nodes + model.bias(z);
  });
  v.n_voted = v.candidates.size();
  if (v.n_voted >= max_candidates) return;
  // The keys know too few classes: the most frequent ones fill up.
  model.visit_frequent(shared, [&](ClassId label) {
    const auto voted = v.candidates.begin() + static_cast<std::ptrdiff_t>(v.n_voted);
    const auto is_label = [&](const Candidate& c) { return c.label == label; };
    if (std::none_of(v.candidates.begin(), voted, is_label))
      v.candidates.push_back({label, model.bias(label)});
    return v.candidates.size() == max_candidates;
  });
}

// Exact votes of the features, and the predictors that are kept with the pairs.
template <class Model>
void score_pairs(const Model& model, std::size_t from, const Own& own, VotingWorkspace& v,
                 bool shared) {
  const std::size_t n = v.candidates.size();
  const float A = model.rules().features_vote ? model.feature_scale() : 0.0f;
  constexpr std::size_t kAhead = 2;
  for (std::size_t c = from; c < n; ++c) {
    if (c + kAhead < n && !shared) model.prefetch_pairs(v.candidates[c + kAhead].label, v.keys);
    const ClassId z = v.candidates[c].label;
    const bool is_left_out = z == own.left_out();
    float vote = 0.0f, linear = 0.0f;
    model.visit_pairs(z, v.keys, shared,
                      [&](std::uint32_t k, std::uint32_t slot, float count, float weight) {
                        const float root = is_left_out ? v.own_root[k] : std::sqrt(count);
                        vote += v.keys[k].pull * root;
                        linear += v.keys[k].value * weight;
                        v.hits.push_back({k, slot, root});
                      });
    v.hits_end[c] = static_cast<std::uint32_t>(v.hits.size());
    v.inverse_norm[c] = inverse_norm(model, z, own);
    v.vote[c] = vote * v.inverse_norm[c];
    v.score[c] += A * v.vote[c] + linear;
  }
}

// From candidate `from` on, with exact counts.
template <class Model>
void score_candidates(const Model& model, std::size_t from, const Own& own, Workspace& ws,
                      bool shared) {
  VotingWorkspace& v = ws.voting;
  const std::size_t n = v.candidates.size();
  if (from == 0) v.hits.clear();
  v.vote.resize(n), v.inverse_norm.resize(n), v.score.resize(n), v.hits_end.resize(n);
  ws.rows.resize(n);
  for (std::size_t c = from; c < n; ++c) {
    ws.rows[c] = v.candidates[c].label;
    v.vote[c] = v.inverse_norm[c] = v.score[c] = 0.0f;
    v.hits_end[c] = static_cast<std::uint32_t>(v.hits.size());
  }
  if (!model.rules().weights_in_pairs)
    model.predictor_scores(ws.rows.data() + from, n - from, ws.x, v.score.data() + from, shared);
  if (!v.keys.empty()) score_pairs(model, from, own, v, shared);
  const float B = model.node_scale();
  for (std::size_t c = from; c < n; ++c)
    v.score[c] += B * v.candidates[c].node_vote + model.bias(ws.rows[c]);
  ws.work.predictor_evaluations += n - from;
}

// Row i as prediction sees it, when there are so many classes: its candidates and their scores.
template <class Model>
void score_by_votes(const Model& model, const Rows& rows, std::size_t i, std::size_t n_classes,
                    Workspace& ws, bool shared) {
  read_example(model, rows, i, 0.0, ws);
  if (model.n_trees() > 0) model.descend(ws.x, n_classes, ws.voting, ws.work, shared);
  find_candidates(model, {}, ws, shared);
  score_candidates(model, 0, {}, ws, shared);
}

// Of a class: weight of its examples, sum of its counts, both in units of today; its bias.
struct ClassView {
  double examples, count;
  float bias, bias_accumulator;
};

// --- Why
// -------------------------------------------------------------------------------------------------------

// What the keys and the predictors of an example add to the scores of some classes. The score of
// class i is bias[i] + the sum of row i of votes, predictors and node_votes.
struct VoteShares {
  std::vector<std::uint32_t> features;               // those of the example that are not zero
  std::vector<NodeId> nodes;                         // that vote
  std::vector<float> bias;                           // by class
  std::vector<float> votes, predictors, node_votes;  // one row per class
};

template <class Model>
VoteShares share_votes(const Model& model, const Rows& rows, std::size_t i,
                       const std::vector<ClassId>& classes) {
  const VotingRules& rules = model.rules();
  Workspace ws;
  VotingWorkspace& v = ws.voting;
  read_example(model, rows, i, 0.0, ws);
  VoteShares found;
  for (const ActiveKey& key : v.keys) found.features.push_back(key.key);
  if (!rules.weights_in_pairs) {  // the predictors see what is no key, too
    std::vector<std::uint32_t> seen, keys;
    for (std::uint32_t j = 0; j < rules.config.learner.n_features; ++j)
      if (ws.x.dense.data()[j] != 0.0f) seen.push_back(j);
    keys.swap(found.features);
    std::set_union(keys.begin(), keys.end(), seen.begin(), seen.end(),
                   std::back_inserter(found.features));
  }
  if (model.n_trees() > 0) model.descend(ws.x, model.n_classes_seen(), v, ws.work, false);
  for (const NodeKey& key : v.node_keys) found.nodes.push_back(key.node);
  const std::size_t n_features = found.features.size(), n_nodes = v.node_keys.size();
  found.votes.assign(classes.size() * n_features, 0.0f);
  found.predictors.assign(classes.size() * n_features, 0.0f);
  found.node_votes.assign(classes.size() * n_nodes, 0.0f);
  const float A = rules.features_vote ? model.feature_scale() : 0.0f, B = model.node_scale();
  for (std::size_t c = 0; c < classes.size(); ++c) {
    const ClassId y = classes[c];
    found.bias.push_back(model.bias(y));
    for (std::size_t t = 0; t < n_nodes; ++t)
      model.vote_of_node(v.node_keys[t], false, [&](ClassId label, float vote) {
        if (label == y) found.node_votes[c * n_nodes + t] = B * vote;
      });
    model.visit_pairs(
        y, v.keys, false, [&](std::uint32_t k, std::uint32_t, float count, float weight) {
          const auto place =
              std::lower_bound(found.features.begin(), found.features.end(), v.keys[k].key);
          const auto at = c * n_features + static_cast<std::size_t>(place - found.features.begin());
          if (rules.weights_in_pairs) found.predictors[at] = v.keys[k].value * weight;
          found.votes[at] = A * v.keys[k].pull * std::sqrt(count) * model.inverse_norm(y);
        });
    if (rules.weights_in_pairs) continue;
    const RowContents row = model.predictors().contents(y);
    for (std::size_t k = 0; k < n_features; ++k)
      found.predictors[c * n_features + k] =
          row.weights[found.features[k]] * ws.x.dense.data()[found.features[k]];
  }
  return found;
}

}  // namespace recalltree
