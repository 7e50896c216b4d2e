// How the keys of an example vote for candidates and how these are scored, wherever the counts are
// kept: in the tables of a learner, or in the arrays of a file.
//
// A model gives
//   rules(), unit(), examples()               what follows from its parameters, what it counted
//   read_dense(rows, i, workspace)            dense rows as linear models see them
//   find_key(j), document_count(key), weight(key)        the histogram of a feature
//   with_entries(key, threads, use)            its entries, largest root first, by number
//   prefetch_row(rows, i)                     what will be read first of the next row
//   prefetch_entries(key, begin, end)
//   visit_frequent(threads, visit)             the most frequent classes, until visit(label) is
//   true prefetch_class(y), prefetch_pairs(y)      first the one, then the other, then
//   find_pairs(y, keys, threads, found)        which of the keys a class may know, from `found` on,
//   visit_pairs(y, keys, found, threads, visit)  and what it knows: visit(position, count, weight)
//   n_trees(), descend(x, n_classes, workspace, work, threads)
//   vote_of_node(key, threads, vote)           the labels of a node: vote(label, vote)
//   affinity_scale(), share_scale(),          A, S and B
//   node_scale()
//   inverse_norm(y), bias(y), terms(y)        both of them
//   predictor_scores(labels, n, x, out, threads)
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <span>
#include <vector>

#include "recalltree/base/rows.hpp"
#include "recalltree/base/types.hpp"
#include "recalltree/linear/weights.hpp"
#include "recalltree/voting/read_budget.hpp"
#include "recalltree/voting/voting_rules.hpp"
#include "recalltree/voting/voting_workspace.hpp"

namespace recalltree {

// The example that is learned, as far as it is already counted: on later passes it is left out of
// its own counts.
struct LeaveOut {
  ClassId y = kNoClass;
  double count = 0.0;  // of its weight, in growing units
  float inverse_norm = 0.0f;

  ClassId left_out() const { return count > 0.0 ? y : kNoClass; }
};

// What the keys, the routers and the predictors see of row i. Nothing is learned from it yet, so
// that prediction sees the same.
template <class Model>
void read_example(const Model& model, const Rows& rows, std::size_t i, double own,
                  OneAgainstSomeWorkspace& ws) {
  const VotingRules& rules = model.rules();
  VotingWorkspace& v = ws.voting;
  v.keys.clear();
  if (rules.features_vote || rules.weights_in_pairs)
    rules.weighting.read(model, rows, i, own, v.keys);
  if (rules.weights_in_pairs && model.n_trees() == 0) return;
  if (rules.config.learner.sparse) {
    ws.x.features.clear(), ws.x.values.clear();
    for (const ActiveKey& key : v.keys) {
      ws.x.features.push_back(key.key);
      ws.x.values.push_back(key.value);
    }
  } else {
    model.read_dense(rows, i, ws);
  }
}

template <class Model>
float inverse_norm(const Model& model, ClassId z, const LeaveOut& own) {
  return z == own.left_out() ? own.inverse_norm : model.inverse_norm(z);
}

template <class Model>
VoteScales scales_of_votes(const Model& model) {
  return {model.rules().features_vote ? model.affinity_scale() : 0.0f, model.node_scale()};
}

// The features vote.
template <class Model>
void vote_of_features(const Model& model, const LeaveOut& own, std::size_t max_entries,
                      OneAgainstSomeWorkspace& ws) {
  VotingWorkspace& v = ws.voting;
  plan_reading(model, max_entries, v, ws.threads);
  const ClassId left_out = own.left_out();
  const float S = model.share_scale();
  for (std::size_t k = 0; k < v.keys.size(); ++k) {
    ActiveKey& key = v.keys[k];
    if (key.n_read == 0) continue;
    const float share = S * key.pull * key.rarity;
    model.with_entries(key, ws.threads, [&](const auto& entries) {
      const std::size_t n = std::min<std::size_t>(key.n_read, entries.size());
      key.unread = n < entries.size() ? entries[n].root : 0.0f;
      ws.work.histogram_touches += n;
      std::size_t at = n;  // of the class that is left out
      if (left_out != kNoClass)
        for (at = 0; at < n && entries[at].label != left_out;) ++at;
      v.votes.add(entries, 0, at, key.pull, share, key.value);
      if (at == n) return;
      const KeyHistograms::Entry without{left_out, v.own_root[k], entries[at].weight};
      if (without.root > 0.0f) v.votes.add(&without, 0, 1, key.pull, share, key.value);
      v.votes.add(entries, at + 1, n, key.pull, share, key.value);
    });
  }
}

template <class Model>
void find_candidates(const Model& model, const LeaveOut& own, OneAgainstSomeWorkspace& ws) {
  const VotingRules& rules = model.rules();
  const std::size_t max_candidates = rules.config.max_candidates;
  VotingWorkspace& v = ws.voting;
  // Every node has a vote, even where there are more of them than entries to read.
  v.votes.reserve(std::min<std::size_t>(
      std::max<std::size_t>(rules.config.max_entries, v.node_keys.size()), model.n_classes()));
  v.own_node_vote = 0.0f;
  std::size_t read = 0;
  if (model.n_trees() > 0) {
    Votes::Adding adding(v.votes);
    float own_vote = 0.0f;
    for (const NodeKey& key : v.node_keys)
      read += model.vote_of_node(key, ws.threads, [&](ClassId label, float vote) {
        adding[label].nodes += vote;
        if (label == own.y) own_vote += vote;
      });
    v.own_node_vote = own_vote;
    ws.work.histogram_touches += read;
  }
  if (rules.features_vote)
    vote_of_features(
        model, own,
        rules.config.max_entries - std::min<std::size_t>(read, rules.config.max_entries), ws);
  const VoteScales scales = scales_of_votes(model);
  const ClassId left_out = own.left_out();
  v.votes.take_best(max_candidates, v.candidates, [&](ClassId z, const Sums& sums) {
    const auto [inverse_norm, bias] = model.terms(z);
    return scales.score(sums, z == left_out ? own.inverse_norm : inverse_norm, bias);
  });
  v.n_voted = v.candidates.size();
  // If the keys know too few classes, the most frequent ones fill up.
  if (v.n_voted < max_candidates)
    model.visit_frequent(ws.threads, [&](ClassId label) {
      const auto voted = v.candidates.begin() + static_cast<std::ptrdiff_t>(v.n_voted);
      const auto is_label = [&](const Candidate& c) { return c.label == label; };
      if (std::none_of(v.candidates.begin(), voted, is_label))
        v.candidates.push_back({label, model.bias(label)});
      return v.candidates.size() == max_candidates;
    });
  v.n_found = v.candidates.size();
}

// The number, or 0, without a branch.
inline float kept_if(bool condition, float number) {
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(number) &
                              (0u - static_cast<std::uint32_t>(condition)));
}

// What a candidate knows of some keys, as far as their histograms did not tell. For the class that
// is left out, `own_root` takes the place of the roots.
template <class Model, class Keys>
void add_pairs(const Model& model, ClassId label, const Keys& keys,
               std::span<const PairGuess> guesses, const float* own_root, Sums& candidate,
               Work& work, Threads threads) {
  work.pair_lookups += keys.size();
  const float S = model.rules().features_vote ? model.share_scale() : 0.0f;
  Sums sums = candidate;
  std::uint64_t found = 0;
  model.visit_pairs(label, keys, guesses, threads, [&](std::uint32_t k, float count, float weight) {
    const auto& key = keys[k];
    found += count > 0.0f;
    float root = std::sqrt(count);
    if (own_root != nullptr) {
      root = own_root[k];
    } else {
      const bool is_new = root <= key.unread;
      root = kept_if(is_new, root), weight = kept_if(is_new, weight);
    }
    sums.affinity += key.pull * root;
    sums.rest += S * key.pull * key.rarity * root + key.value * weight;
  });
  work.pairs_found += found;
  candidate = sums;
}

// The keys with histograms that were not read to the end.
inline void find_unread(VotingWorkspace& v) {
  v.unread.clear();
  for (const ActiveKey& key : v.keys)
    if (key.unread > 0.0f) v.unread.emplace_back(key);
}

// What the histograms did not tell of the candidates from `from` on.
template <class Model>
void complete_sums(const Model& model, std::size_t from, const LeaveOut& own,
                   OneAgainstSomeWorkspace& ws) {
  VotingWorkspace& v = ws.voting;
  const bool leaves_out = own.left_out() != kNoClass;
  find_unread(v);
  // All at once: the pairs of the candidates are anywhere, and memory answers many at a time.
  for (std::size_t c = from; c < v.candidates.size(); ++c)
    model.prefetch_class(v.candidates[c].label);
  for (std::size_t c = from; c < v.candidates.size(); ++c)
    model.prefetch_pairs(v.candidates[c].label);
  // What was read of the example's own class holds the example itself; or nothing was read.
  const auto is_own = [&](std::size_t c) {
    return c >= v.n_found || v.candidates[c].label == own.left_out();
  };
  v.guesses.begin((v.candidates.size() - from) * v.keys.size());
  for (std::size_t c = from; c < v.candidates.size(); ++c) {
    const ClassId label = v.candidates[c].label;
    PairGuess* const next = v.guesses.next();
    v.guesses.add(is_own(c) ? model.find_pairs(label, v.keys, ws.threads, next)
                            : model.find_pairs(label, v.unread, ws.threads, next));
  }
  for (std::size_t c = from; c < v.candidates.size(); ++c) {
    Candidate& candidate = v.candidates[c];
    const auto guesses = v.guesses[c - from];
    if (!is_own(c)) {
      add_pairs(model, candidate.label, v.unread, guesses, nullptr, candidate.sums, ws.work,
                ws.threads);
      continue;
    }
    candidate.sums.affinity = candidate.sums.rest = 0.0f;
    if (!leaves_out)
      for (ActiveKey& key : v.keys) key.unread = std::numeric_limits<float>::infinity();
    add_pairs(model, candidate.label, v.keys, guesses, leaves_out ? v.own_root.data() : nullptr,
              candidate.sums, ws.work, ws.threads);
  }
}

// From candidate `from` on, with exact counts.
template <class Model>
void score_candidates(const Model& model, std::size_t from, const LeaveOut& own,
                      OneAgainstSomeWorkspace& ws) {
  VotingWorkspace& v = ws.voting;
  const std::size_t n = v.candidates.size();
  v.inverse_norm.resize(n), v.score.resize(n), ws.labels.resize(n);
  for (std::size_t c = from; c < n; ++c) {
    ws.labels[c] = v.candidates[c].label;
    v.score[c] = 0.0f;
  }
  if (!model.rules().weights_in_pairs)
    model.predictor_scores(ws.labels.data() + from, n - from, ws.x, v.score.data() + from,
                           ws.threads);
  if (!v.keys.empty()) complete_sums(model, from, own, ws);
  const VoteScales scales = scales_of_votes(model);
  for (std::size_t c = from; c < n; ++c) {
    v.inverse_norm[c] = inverse_norm(model, ws.labels[c], own);
    v.score[c] += scales.score(v.candidates[c].sums, v.inverse_norm[c], model.bias(ws.labels[c]));
  }
  ws.work.predictor_evaluations += n - from;
}

// Row i as prediction sees it, when there are so many classes: its candidates and their scores.
template <class Model>
void score_by_votes(const Model& model, const Rows& rows, std::size_t i, std::size_t n_classes,
                    OneAgainstSomeWorkspace& ws) {
  read_example(model, rows, i, 0.0, ws);
  if (model.n_trees() > 0) model.descend(ws.x, n_classes, ws.voting, ws.work, ws.threads);
  find_candidates(model, {}, ws);
  score_candidates(model, 0, {}, ws);
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
  OneAgainstSomeWorkspace ws;
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
  if (model.n_trees() > 0) model.descend(ws.x, model.n_classes_seen(), v, ws.work, Threads::one);
  for (const NodeKey& key : v.node_keys) found.nodes.push_back(key.node);
  const std::size_t n_features = found.features.size(), n_nodes = v.node_keys.size();
  found.votes.assign(classes.size() * n_features, 0.0f);
  found.predictors.assign(classes.size() * n_features, 0.0f);
  found.node_votes.assign(classes.size() * n_nodes, 0.0f);
  const float A = rules.features_vote ? model.affinity_scale() : 0.0f;
  const float S = rules.features_vote ? model.share_scale() : 0.0f, B = model.node_scale();
  for (std::size_t c = 0; c < classes.size(); ++c) {
    const ClassId y = classes[c];
    found.bias.push_back(model.bias(y));
    for (std::size_t t = 0; t < n_nodes; ++t)
      model.vote_of_node(v.node_keys[t], Threads::one, [&](ClassId label, float vote) {
        if (label == y) found.node_votes[c * n_nodes + t] = B * vote;
      });
    v.guesses.begin(v.keys.size());
    v.guesses.add(model.find_pairs(y, v.keys, Threads::one, v.guesses.next()));
    model.visit_pairs(
        y, v.keys, v.guesses[0], Threads::one, [&](std::uint32_t k, float count, float weight) {
          const auto place =
              std::lower_bound(found.features.begin(), found.features.end(), v.keys[k].key);
          const auto at = c * n_features + static_cast<std::size_t>(place - found.features.begin());
          if (rules.weights_in_pairs) found.predictors[at] = v.keys[k].value * weight;
          found.votes[at] = v.keys[k].pull * std::sqrt(count) *
                            (A * model.inverse_norm(y) + S * v.keys[k].rarity);
        });
    if (rules.weights_in_pairs) continue;
    const ModelContents row = model.predictors().contents(y);
    for (std::size_t k = 0; k < n_features; ++k)
      found.predictors[c * n_features + k] =
          row.weights[found.features[k]] * ws.x.dense.data()[found.features[k]];
  }
  return found;
}

}  // namespace recalltree
