// Voting: keys of an example vote for candidates, which are then scored, wherever the counts are
// kept. A store has
//   rules, n_classes()                    what follows from the parameters
//   examples(), decay_unit()              weight of the counted examples, and the unit of counts
//   scales(), terms(y)                    A, S and B; inverse norm and bias of a class
//   read_dense(rows, i, ws)               dense rows as linear models see them
//   find_key(key), counts_of(key)         the histogram of a feature
//   with_entries(key, use)                its entries, ranked
//   visit_frequent(visit)                 the most frequent classes, until visit(label) is true
//   find_pairs(y, keys, found)            which of the keys a class may know, from `found` on,
//   visit_pairs(y, keys, found, visit)    and what: visit(position, slot, count, weight)
//   forest, predictors()                  trees that vote (KeyForestPrediction), dense predictors
//   cells()                               dense rows: whiten, find, score; if rules.has_cells
//   prepare_for(n)                        called before n rows are predicted
//   prefetch_row(rows, i), prefetch_entries(key, begin, end), prefetch_class(y), prefetch_pairs(y)
// There are two: VoteStore, in tables that learn, and MappedVoteStore, in the arrays of a file.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "recalltree/base/rows.hpp"
#include "recalltree/base/types.hpp"
#include "recalltree/voting/read_budget.hpp"
#include "recalltree/voting/voting_rules.hpp"
#include "recalltree/voting/voting_workspace.hpp"

namespace recalltree {

// The labels of the example that is learned. As far as it is already counted, on later passes, it
// is left out of its own counts.
struct LeaveOut {
  std::span<OwnLabel> labels;
  Labels ids;          // the same
  double count = 0.0;  // of its weight, in growing units

  bool is_counted() const { return count > 0.0; }
  // The class without the example; null if leaving it out changes nothing.
  const OwnLabel* find(ClassId z) const {
    if (is_counted())
      for (const OwnLabel& own : labels)
        if (own.label == z) return &own;
    return nullptr;
  }
};

// Trees and dense predictors see examples, not keys.
template <class Store>
bool has_linear_models(const Store& store, std::size_t n_classes) {
  const bool trees_see = store.forest.n_trees() > 0 && !store.rules.trees_end(n_classes);
  return store.rules.has_dense_predictors || trees_see;
}

// Row i as the keys, the trees and the predictors see it, when this many classes are known. Nothing
// is learned from it yet, so that prediction sees the same. `own` of the counts is the example's.
template <class Store>
void read_example(const Store& store, const Rows& rows, std::size_t i, double own,
                  std::size_t n_classes, VotingWorkspace& ws) {
  const VotingRules& rules = store.rules;
  ws.keys.clear();
  if (rules.features_vote || rules.weights_in_pairs)
    rules.weighting.read(store, rows, i, rules.n_key_features, own, ws.keys);
  ws.has_linear_models = has_linear_models(store, n_classes);
  if (!ws.has_linear_models) return ws.node_keys.clear();
  if (rules.config.learner.sparse) {
    ws.x.features.clear(), ws.x.values.clear();
    for (const ActiveKey& key : ws.keys) {
      ws.x.features.push_back(key.key);
      ws.x.values.push_back(key.value);
    }
  } else {
    store.read_dense(rows, i, ws);
  }
  if (store.forest.n_trees() > 0) store.forest.descend(n_classes, store.decay_unit(), ws);
}

// The dense features of n rows, of which row(k) is the k-th, as cells see them.
template <class Store, class Row>
void whiten_rows(const Store& store, const Rows& rows, std::size_t n, Row row,
                 VotingWorkspace& ws) {
  const std::size_t width = store.cells().width();
  const std::size_t first = store.rules.config.learner.sparse ? store.rules.n_key_features : 0;
  ws.dense.begin(n, width);
  std::fill_n(ws.dense.rows.data(), n * width, 0.0f);
  for (std::size_t k = 0; k < n; ++k) {
    float* const out = ws.dense.rows.data() + k * width;
    rows.visit_between(row(k), first, rows.n_features,
                       [&](std::uint32_t j, float value) { out[j - first] = value; });
  }
  store.cells().whiten(ws.dense.rows.data(), n, ws.dense.whitened.data(), ws.cells);
}

// What cells find for all rows that were whitened.
template <class Store>
void find_near_rows(const Store& store, VotingWorkspace& ws) {
  store.cells().find_rows(ws.dense.whitened.data(), ws.dense.n, store.rules.config.max_candidates,
                          ws.dense.near, ws.cells);
  ws.work.vectors_compared += std::exchange(ws.cells.search.vectors, 0);
}

// Scales of votes; those of features are 0 where only nodes vote.
template <class Store>
VoteScales scales_of_votes(const Store& store) {
  const VoteScales scales = store.scales();
  return store.rules.features_vote ? scales : VoteScales{0.0f, 0.0f, scales.nodes};
}

template <class Store>
ClassTerms terms_without(const Store& store, ClassId z, const LeaveOut& own) {
  const ClassTerms terms = store.terms(z);
  const OwnLabel* const left_out = own.find(z);
  return {left_out != nullptr ? left_out->inverse_norm : terms.inverse_norm, terms.bias};
}

// The nodes vote. Returns how many entries were read.
template <class Store>
std::size_t add_votes_of_nodes(const Store& store, const LeaveOut& own, VotingWorkspace& ws) {
  std::size_t read = 0;
  {
    Votes::Adding adding(ws.votes);
    for (const NodeKey& key : ws.node_keys)
      read +=
          store.forest.vote(key, [&](ClassId label, float vote) { adding[label].nodes += vote; });
  }
  for (OwnLabel& label : own.labels) label.node_vote = ws.votes.of(label.label).nodes;
  ws.work.histogram_touches += read;
  return read;
}

// The features vote.
template <class Store>
void add_votes_of_features(const Store& store, const LeaveOut& own, std::size_t max_entries,
                           VotingWorkspace& ws) {
  plan_reading(store, max_entries, ws);
  const float S = store.scales().share;
  for (std::size_t k = 0; k < ws.keys.size(); ++k) {
    ActiveKey& key = ws.keys[k];
    if (key.n_read == 0) continue;
    const float share = S * key.pull * key.rarity;
    store.with_entries(key, [&](const auto& entries) {
      const std::size_t n = std::min<std::size_t>(key.n_read, entries.size());
      key.unread = n < entries.size() ? entries[n].root : 0.0f;
      ws.work.histogram_touches += n;
      std::size_t begin = 0;
      for (std::size_t left = own.is_counted() ? own.labels.size() : 0; left > 0; --left) {
        const OwnLabel* left_out = nullptr;
        std::size_t at = begin;
        while (at < n && (left_out = own.find(entries[at].label)) == nullptr) ++at;
        if (left_out == nullptr) break;
        ws.votes.add(entries, begin, at, key.pull, share, key.value);
        const KeyHistograms::Entry without{left_out->label, left_out->roots[k], entries[at].weight};
        if (without.root > 0.0f) ws.votes.add(&without, 0, 1, key.pull, share, key.value);
        begin = at + 1;
      }
      ws.votes.add(entries, begin, n, key.pull, share, key.value);
    });
  }
}

// The classes that cells find, with what was voted for them.
template <class Store>
void find_near(const Store& store, VotingWorkspace& ws) {
  const bool voted = store.rules.features_vote || !ws.node_keys.empty();
  ws.near.clear();
  const auto labels =
      ws.dense.has_near()
          ? ws.dense.near.of(ws.dense.next - 1)
          : store.cells().find(ws.dense.x, store.rules.config.max_candidates, ws.cells);
  for (const ClassId label : labels)
    ws.near.push_back({label, store.terms(label).bias, voted ? ws.votes.of(label) : Sums{}});
  ws.work.vectors_compared += std::exchange(ws.cells.search.vectors, 0);
}

// Near classes that were not voted for join the candidates.
inline void add_near(VotingWorkspace& ws) {
  for (const Candidate& near : ws.near) {
    const auto voted = ws.candidates.begin() + static_cast<std::ptrdiff_t>(ws.n_voted);
    const auto is_near = [&](const Candidate& c) { return c.label == near.label; };
    if (std::none_of(ws.candidates.begin(), voted, is_near)) ws.candidates.push_back(near);
  }
}

// The most frequent classes fill up where keys know too few.
template <class Store>
void add_frequent(const Store& store, std::size_t max_candidates, VotingWorkspace& ws) {
  store.visit_frequent([&](ClassId label) {
    const auto voted = ws.candidates.begin() + static_cast<std::ptrdiff_t>(ws.n_voted);
    const auto is_label = [&](const Candidate& c) { return c.label == label; };
    if (std::none_of(ws.candidates.begin(), voted, is_label))
      ws.candidates.push_back({label, store.terms(label).bias});
    return ws.candidates.size() == max_candidates;
  });
}

// The classes that the keys give the largest scores. Near ones are told what was voted for them.
template <class Store>
void take_voted(const Store& store, const LeaveOut& own, VotingWorkspace& ws) {
  const VotingRules& rules = store.rules;
  const std::size_t max_candidates = rules.config.max_candidates;
  const std::size_t max_entries = rules.config.max_entries;
  // Every node has a vote, even where there are more of them than entries to read.
  ws.votes.reserve(std::min(std::max(max_entries, ws.node_keys.size()), store.n_classes()));
  const std::size_t read = add_votes_of_nodes(store, own, ws);
  if (rules.features_vote)
    add_votes_of_features(store, own, max_entries - std::min(read, max_entries), ws);
  if (rules.has_cells) find_near(store, ws);
  const VoteScales scales = scales_of_votes(store);
  ws.votes.take_best(max_candidates, ws.candidates, [&](ClassId z, const Sums& sums) {
    return scales.score(sums, terms_without(store, z, own));
  });
}

template <class Store>
void find_candidates(const Store& store, const LeaveOut& own, VotingWorkspace& ws) {
  const VotingRules& rules = store.rules;
  const std::size_t max_candidates = rules.config.max_candidates;
  if (rules.features_vote || !rules.has_cells || !ws.node_keys.empty())
    take_voted(store, own, ws);
  else
    ws.candidates.clear(), find_near(store, ws);
  ws.n_voted = ws.candidates.size();
  if (rules.has_cells)
    add_near(ws);
  else if (ws.n_voted < max_candidates)
    add_frequent(store, max_candidates, ws);
  ws.n_found = ws.candidates.size();
}

// Asks n classes what they know of some keys: label(i) is the i-th of them, keys(i) what it is
// asked for. use(i, keys, visit_pairs) is called when all have guessed where their pairs are, as
// these are anywhere in memory, which answers many at a time.
template <class Store, class Label, class Keys, class Use>
void ask_pairs(const Store& store, std::size_t n, VotingWorkspace& ws, Label label, Keys keys,
               Use use) {
  std::size_t n_keys = 0;
  for (std::size_t i = 0; i < n; ++i) n_keys += keys(i).size();
  // One more is written before it is known whether it counts.
  if (ws.guesses.size() <= n_keys) ws.guesses.resize(n_keys + 1);
  ws.guess_ends.clear();
  PairGuess* next = ws.guesses.data();
  for (std::size_t i = 0; i < n; ++i) {
    next = store.find_pairs(label(i), keys(i), next);
    ws.guess_ends.push_back(next);
  }
  const PairGuess* begin = ws.guesses.data();
  for (std::size_t i = 0; i < n; ++i) {
    const std::span guesses(begin, ws.guess_ends[i]);
    use(i, keys(i), [&](auto visit) { store.visit_pairs(label(i), keys(i), guesses, visit); });
    begin = ws.guess_ends[i];
  }
  ws.work.pair_lookups += n_keys;
}

// The number, or 0, without a branch.
inline float kept_if(bool condition, float number) {
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(number) &
                              (0u - static_cast<std::uint32_t>(condition)));
}

// Counts and weights of a candidate for keys whose lists were not read to it. For the class that
// is left out, `own_root` takes the place of the roots.
template <class VisitPairs>
RECALLTREE_INLINE void add_pairs(float S, std::span<const AskedKey> keys, VisitPairs visit_pairs,
                                 const float* own_root, Sums& candidate, Work& work) {
  Sums sums = candidate;
  std::uint64_t found = 0;
  visit_pairs([&](std::uint32_t k, std::uint32_t, float count, float weight) {
    const AskedKey& key = keys[k];
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
inline void find_unread(VotingWorkspace& ws) {
  ws.unread.clear();
  for (const ActiveKey& key : ws.keys)
    if (key.unread > 0.0f)
      ws.unread.push_back({key.key, key.pull, key.rarity, key.value, key.unread});
}
// All keys, whatever was read of them.
inline void ask_for_all(VotingWorkspace& ws) {
  constexpr float kNothingRead = std::numeric_limits<float>::infinity();
  ws.asked.clear();
  for (const ActiveKey& key : ws.keys)
    ws.asked.push_back({key.key, key.pull, key.rarity, key.value, kNothingRead});
}

// Adds what the histograms lack of the candidates from `from` on.
template <class Store>
void complete_sums(const Store& store, std::size_t from, const LeaveOut& own, VotingWorkspace& ws) {
  const std::span candidates = std::span(ws.candidates).subspan(from);
  for (const Candidate& candidate : candidates) store.prefetch_class(candidate.label);
  for (const Candidate& candidate : candidates) store.prefetch_pairs(candidate.label);
  find_unread(ws);
  // Entries read of the example's own labels count the example itself; or nothing was read.
  const auto is_own = [&](std::size_t i) {
    return from + i >= ws.n_found || own.find(candidates[i].label) != nullptr;
  };
  const float S = scales_of_votes(store).share;
  ask_pairs(
      store, candidates.size(), ws, [&](std::size_t i) { return candidates[i].label; },
      [&](std::size_t i) { return std::span<const AskedKey>(is_own(i) ? ws.asked : ws.unread); },
      [&](std::size_t i, std::span<const AskedKey> keys, auto visit_pairs) {
        Sums& sums = candidates[i].sums;
        if (is_own(i)) sums.affinity = sums.rest = 0.0f;
        const OwnLabel* const left_out = own.find(candidates[i].label);
        add_pairs(S, keys, visit_pairs, left_out != nullptr ? left_out->roots : nullptr, sums,
                  ws.work);
      });
}

// Scores of the candidates from `from` on, with exact counts.
template <class Store>
void score_candidates(const Store& store, std::size_t from, const LeaveOut& own,
                      VotingWorkspace& ws) {
  const std::size_t n = ws.candidates.size();
  ws.labels.resize(n), ws.scores.resize(n), ws.inverse_norm.resize(n);
  for (std::size_t c = from; c < n; ++c) {
    ws.labels[c] = ws.candidates[c].label;
    ws.scores[c] = 0.0f;
  }
  if (store.rules.has_dense_predictors)
    store.predictors().scores(ws.labels.data() + from, n - from, ws.x, ws.scores.data() + from);
  if (store.rules.has_cells)
    store.cells().score(ws.dense.x, std::span(ws.labels).subspan(from), {own.ids, own.count},
                        ws.scores.data() + from, ws.cells);
  if (!ws.keys.empty()) complete_sums(store, from, own, ws);
  const VoteScales scales = scales_of_votes(store);
  for (std::size_t c = from; c < n; ++c) {
    ClassTerms terms = terms_without(store, ws.labels[c], own);
    if (store.rules.has_cells) terms.bias = 0.0f;  // the scores of cells have it
    ws.inverse_norm[c] = terms.inverse_norm;
    ws.scores[c] += scales.score(ws.candidates[c].sums, terms);
  }
  ws.work.predictor_evaluations += n - from;
}

}  // namespace recalltree
