// Storage of one-against-some in a mapped file. Keys and pairs are found by searching lists that
// are sorted in the file, so that nothing is built to open one; before many rows are predicted, an
// index is.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "recalltree/base/config.hpp"
#include "recalltree/base/half.hpp"
#include "recalltree/file/mapped_cells.hpp"
#include "recalltree/file/mapped_key_forest.hpp"
#include "recalltree/file/mapped_weights.hpp"
#include "recalltree/file/vote_index.hpp"
#include "recalltree/voting/vote_store.hpp"

namespace recalltree {

// The entries of a histogram, from arrays. A class that does not exist, as in a damaged file, is
// read as one of which nothing is known.
template <class Stored>
struct MappedEntries {
  std::span<const ClassId> labels;
  const float* roots;
  const Stored* weights;
  std::size_t n_classes;

  std::size_t size() const { return labels.size(); }
  KeyHistograms::Entry operator[](std::size_t i) const {
    if (labels[i] >= n_classes) return {0, 0.0f, 0.0f};
    return {labels[i], roots[i], widen(weights[i])};
  }
};

class MappedVoteStore {
 public:
  // Store of a model that learned this many examples.
  MappedVoteStore(const OneAgainstSomeConfig& config, const State& state, std::size_t n_classes,
                  std::uint64_t n_examples);

  VotingRules rules;
  MappedKeyForest forest;

  // For prediction. Nobody learns.
  std::size_t n_classes() const { return classes_.n_classes; }
  double examples() const { return classes_.counted[0]; }
  double decay_unit() const { return decay_unit_; }
  VoteScales scales() const { return {classes_.scales[0], classes_.scales[2], classes_.scales[4]}; }
  ClassTerms terms(ClassId y) const {
    if (const VoteIndex* const index = this->index()) return index->terms(y);
    return {inverse_norm_of(classes_.sums[2 * y + 1]), classes_.bias[y]};
  }
  ClassCounts counts_of(ClassId y) const {
    const auto accumulators = classes_.bias_accumulators;
    return {classes_.sums[2 * y], classes_.sums[2 * y + 1],
            accumulators.empty() ? 0.0f : accumulators[y]};
  }
  void read_dense(const Rows& rows, std::size_t i, VotingWorkspace& ws) const {
    centring_.read(rows, i, ws.before.dense, ws.x);
  }
  void find_key(ActiveKey& key) const {
    const auto& keys = keys_.features;
    std::size_t at = 0, end = keys.size();
    if (const VoteIndex* const index = this->index()) std::tie(at, end) = index->bucket(key.key);
    at = static_cast<std::size_t>(std::lower_bound(keys.begin() + at, keys.begin() + end, key.key) -
                                  keys.begin());
    if (at < end && keys[at] == key.key) key.place = static_cast<std::uint32_t>(at);
  }
  KeyCounts counts_of(const ActiveKey& key) const {
    if (key.place == ActiveKey::kNoKey) return {};
    return {keys_.examples[key.place], keys_.weights[key.place]};
  }
  template <class Use>
  void with_entries(const ActiveKey& key, Use use) const {
    if (key.place == ActiveKey::kNoKey) return use(std::span<const KeyHistograms::Entry>());
    const auto [begin, end] = range(keys_.offsets, key.place, keys_.labels.size());
    const auto labels = keys_.labels.subspan(begin, end - begin);
    with_weights(keys_.predictors, [&, begin = begin](const auto* weights) {
      use(MappedEntries{labels, keys_.roots.data() + begin, weights + begin, n_classes()});
    });
  }
  template <class Visit>
  void visit_frequent(Visit visit) const {
    for (const ClassId label : classes_.frequent)
      if (label < n_classes() && visit(label)) return;
  }
  const MappedWeights& predictors() const { return *predictors_; }
  const MappedCells& cells() const { return *cells_; }
  RECALLTREE_INLINE PairGuess* find_pairs(ClassId y, std::span<const AskedKey> keys,
                                          PairGuess* found) const {
    const auto [begin, end] = range(pairs_.offsets, y, pairs_.keys.size());
    const VoteIndex* const index = this->index();
    if (index == nullptr || (*index)[y].capacity == 0) return search_pairs(begin, end, keys, found);
    const VoteIndex::Class& here = (*index)[y];
    const TaggedSlots slots = index->slots_of(here);
    const std::uint16_t* const places = index->places_of(here);
    // Nothing branches on a guess: no processor foresees whether a class has met a key.
    for (std::uint32_t k = 0; k < keys.size(); ++k) {
      const std::uint32_t slot = slots.guess(keys[k].key);
      const std::uint32_t place = places[slot == TaggedSlots::kNone ? 0 : slot];
      *found = {k, place};
      prefetch_pair(begin + place);
      found += slot != TaggedSlots::kNone;
    }
    return found;
  }
  template <class Visit>
  RECALLTREE_INLINE void visit_pairs(ClassId y, std::span<const AskedKey> keys,
                                     std::span<const PairGuess> found, Visit visit) const {
    const auto [begin, end] = range(pairs_.offsets, y, pairs_.keys.size());
    with_weights(pairs_.weights, [&, begin = begin, end = end](const auto* weights) {
      for (const auto& [k, place] : found) {
        std::size_t at = begin + place;
        // A guess may be wrong.
        if (at >= end || pairs_.keys[at] != keys[k].key) at = search(begin, end, keys[k].key);
        if (at < end && pairs_.keys[at] == keys[k].key)
          visit(k, static_cast<std::uint32_t>(at - begin), pairs_.counts[at], widen(weights[at]));
      }
    });
  }
  // Calls visit(key, count, weight, accumulator) for all that a class has met.
  template <class Visit>
  void visit_class(ClassId y, Visit visit) const {
    const auto [begin, end] = range(pairs_.offsets, y, pairs_.keys.size());
    with_weights(pairs_.weights, [&, begin = begin, end = end](const auto* weights) {
      for (std::size_t i = begin; i < end; ++i)
        visit(pairs_.keys[i], pairs_.counts[i], widen(weights[i]),
              pairs_.accumulators.empty() ? 0.0f : pairs_.accumulators[i]);
    });
  }
  void prefetch_row(const Rows& rows, std::size_t i) const {
    if (index() == nullptr) return;
    rows.visit(i, [&](std::uint32_t j, float) {
      ActiveKey key{j, 0.0f, 0.0f};
      find_key(key);
      prefetch_entries(key, 0, kReadTogether + 1);
    });
  }
  void prefetch_entries(const ActiveKey& key, std::size_t begin, std::size_t end) const {
    if (key.place == ActiveKey::kNoKey) return;
    const std::size_t first = keys_.offsets[key.place] + begin;
    prefetch(keys_.labels.data() + first, end - begin);
    prefetch(keys_.roots.data() + first, end - begin);
    prefetch(
        static_cast<const char*>(keys_.predictors.data) + first * weight_bytes(keys_.predictors),
        (end - begin) * weight_bytes(keys_.predictors));
  }
  void prefetch_class(ClassId y) const {
    prefetch(&pairs_.offsets[y]);
    if (const VoteIndex* const index = this->index()) prefetch(&(*index)[y]);
  }
  void prefetch_pairs(ClassId y) const {
    if (const VoteIndex* const index = this->index()) index->prefetch(y);
  }
  // Called before this many rows are predicted.
  void prepare_for(std::size_t n_rows) const;

  // True if learning can continue from here.
  bool is_complete() const { return is_complete_; }
  // Throws std::invalid_argument where a number is not finite, or out of order. Reads everything.
  void check() const;
  // Bytes by part, the feature scale last.
  std::vector<std::pair<std::string, std::size_t>> memory() const;

 private:
  // Part [offsets[i], offsets[i + 1]) of a list, wherever the file says that is.
  struct Range {
    std::size_t begin, end;
  };
  static Range range(std::span<const std::uint64_t> offsets, std::size_t i, std::size_t size) {
    const std::size_t end = std::min<std::size_t>(offsets[i + 1], size);
    return {std::min<std::size_t>(offsets[i], end), end};
  }
  // Keys and pairs are both sorted, so that a search begins where the last one ended.
  PairGuess* search_pairs(std::size_t begin, std::size_t end, std::span<const AskedKey> keys,
                          PairGuess* found) const {
    std::size_t at = begin;
    for (std::uint32_t k = 0; k < keys.size() && at < end; ++k) {
      at = search(at, end, keys[k].key);
      if (at < end && pairs_.keys[at] == keys[k].key)
        *found++ = {k, static_cast<std::uint32_t>(at - begin)};
    }
    return found;
  }
  void prefetch_pair(std::size_t at) const {
    prefetch(pairs_.keys.data() + at);
    prefetch(pairs_.counts.data() + at);
    prefetch(static_cast<const char*>(pairs_.weights.data) + at * weight_bytes(pairs_.weights));
  }
  static std::size_t weight_bytes(const Array& weights) { return weights.kind == 'f' ? 4 : 2; }
  const VoteIndex* index() const { return index_.load(std::memory_order_acquire); }
  // Place of a key among the sorted pairs [begin, end), or of the first larger one.
  std::size_t search(std::size_t begin, std::size_t end, std::uint32_t key) const {
    const auto keys = pairs_.keys.subspan(begin, end - begin);
    return begin +
           static_cast<std::size_t>(std::lower_bound(keys.begin(), keys.end(), key) - keys.begin());
  }
  void check_keys(const OneAgainstSomeConfig& config) const;

  std::unique_ptr<MappedWeights> predictors_;
  std::optional<MappedCells> cells_;
  FeatureCentring centring_;
  KeyArrays<Viewed> keys_;
  PairArrays<Viewed> pairs_;
  ClassArrays<Viewed> classes_;
  CentringArrays<Viewed> moments_;
  bool is_complete_ = false;
  double decay_unit_ = 1.0;
  mutable std::once_flag made_index_;
  mutable std::unique_ptr<const VoteIndex> own_index_;
  mutable std::atomic<const VoteIndex*> index_{nullptr};
};

}  // namespace recalltree
