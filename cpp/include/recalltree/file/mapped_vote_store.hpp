// What one-against-some knows, in a mapped file. Keys and pairs are found by searching lists that
// are sorted in the file, so that nothing is built to open one.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "recalltree/base/config.hpp"
#include "recalltree/base/half.hpp"
#include "recalltree/file/mapped_key_forest.hpp"
#include "recalltree/file/mapped_weights.hpp"
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
  // Of a model that learned so many examples.
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
    const auto found = std::lower_bound(keys_.features.begin(), keys_.features.end(), key.key);
    if (found != keys_.features.end() && *found == key.key)
      key.place = static_cast<std::uint32_t>(found - keys_.features.begin());
  }
  KeyCounts counts_of(const ActiveKey& key) const {
    if (key.place == ActiveKey::kNoKey) return {};
    return {keys_.examples[key.place], keys_.weights[key.place]};
  }
  template <class Use>
  void with_entries(const ActiveKey& key, Threads, Use use) const {
    if (key.place == ActiveKey::kNoKey) return use(std::span<const KeyHistograms::Entry>());
    const auto [begin, end] = range(keys_.offsets, key.place, keys_.labels.size());
    const auto labels = keys_.labels.subspan(begin, end - begin);
    with_weights(keys_.predictors, [&, begin = begin](const auto* weights) {
      use(MappedEntries{labels, keys_.roots.data() + begin, weights + begin, n_classes()});
    });
  }
  template <class Visit>
  void visit_frequent(Threads, Visit visit) const {
    for (const ClassId label : classes_.frequent)
      if (label < n_classes() && visit(label)) return;
  }
  const MappedWeights& predictors() const { return *predictors_; }
  // Keys and pairs are both sorted, so that a search begins where the last one ended.
  PairGuess* find_pairs(ClassId y, std::span<const AskedKey> keys, Threads,
                        PairGuess* found) const {
    const auto [begin, end] = range(pairs_.offsets, y, pairs_.keys.size());
    std::size_t at = begin;
    for (std::uint32_t k = 0; k < keys.size() && at < end; ++k) {
      at = gallop(at, end, keys[k].key);
      if (at < end && pairs_.keys[at] == keys[k].key)
        *found++ = {k, static_cast<std::uint32_t>(at - begin)};
    }
    return found;
  }
  template <class Visit>
  RECALLTREE_INLINE void visit_pairs(ClassId y, std::span<const AskedKey>,
                                     std::span<const PairGuess> found, Threads, Visit visit) const {
    const std::size_t begin = range(pairs_.offsets, y, pairs_.keys.size()).begin;
    with_weights(pairs_.weights, [&](const auto* weights) {
      for (const auto& [k, slot] : found)
        visit(k, slot, pairs_.counts[begin + slot], widen(weights[begin + slot]));
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
  void prefetch_row(const Rows&, std::size_t) const {}
  void prefetch_entries(const ActiveKey&, std::size_t, std::size_t) const {}
  void prefetch_class(ClassId) const {}
  void prefetch_pairs(ClassId) const {}

  // Whether learning could go on from here.
  bool is_complete() const { return is_complete_; }
  // Throws std::invalid_argument where a number is not finite, or out of order. Reads everything.
  void check() const;
  // By part, the feature scale last.
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
  // Where a key is among the sorted pairs [begin, end), or the first that is larger.
  std::size_t gallop(std::size_t begin, std::size_t end, std::uint32_t key) const {
    std::size_t step = 1;
    while (begin + step < end && pairs_.keys[begin + step] < key) begin += step, step *= 2;
    const auto first = pairs_.keys.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto last =
        pairs_.keys.begin() + static_cast<std::ptrdiff_t>(std::min(begin + step + 1, end));
    return static_cast<std::size_t>(std::lower_bound(first, last, key) - pairs_.keys.begin());
  }
  void check_keys(const OneAgainstSomeConfig& config) const;

  std::unique_ptr<MappedWeights> predictors_;
  FeatureCentring centring_;
  KeyArrays<Viewed> keys_;
  PairArrays<Viewed> pairs_;
  ClassArrays<Viewed> classes_;
  CentringArrays<Viewed> moments_;
  bool is_complete_ = false;
  double decay_unit_ = 1.0;
};

}  // namespace recalltree
