// Knowledge of one-against-some: histograms of keys, pairs of classes and keys, trees, classes, and
// how much their votes count. Prediction asks it (voting.hpp), learners change it.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "recalltree/base/config.hpp"
#include "recalltree/base/fields.hpp"
#include "recalltree/base/hints.hpp"
#include "recalltree/cells/cells.hpp"
#include "recalltree/linear/dense_weights.hpp"
#include "recalltree/voting/adagrad.hpp"
#include "recalltree/voting/class_pairs.hpp"
#include "recalltree/voting/feature_centring.hpp"
#include "recalltree/voting/key_forest.hpp"
#include "recalltree/voting/key_histograms.hpp"
#include "recalltree/voting/voting_rules.hpp"
#include "recalltree/voting/voting_workspace.hpp"

namespace recalltree {

// Classes, the most frequent of them, and what was counted of all examples.
template <template <class> class List>
struct ClassArrays {
  std::size_t n_classes = 0;
  List<double> sums;  // weight of the examples, sum of the counts
  List<float> bias, bias_accumulators;
  List<std::uint32_t> frequent;
  List<float> frequent_roots;
  List<float> scales;     // A, S and B, an accumulator after each
  List<double> counted;   // weight of the examples in growing units, origin of these
  List<std::uint64_t> n;  // how many they are

  template <class Self, class Visit>
  static void fields(Self& self, Visit visit) {
    const std::size_t n_classes = self.n_classes;
    visit("classes.sums", self.sums, {.length = 2 * n_classes, .width = 2});
    visit("classes.bias", self.bias, {.length = n_classes});
    visit("classes.bias_accumulators", self.bias_accumulators,
          {.length = n_classes, .for_learning = true});
    visit("frequent.labels", self.frequent);
    visit("frequent.roots", self.frequent_roots, {.length = self.frequent.size()});
    visit("vote.scales", self.scales, {.length = 6});
    visit("counted.examples", self.counted, {.length = 2});
    visit("counted.n", self.n, {.length = 1});
  }
};

// Weight of a class's examples, and the sum of its counts.
struct ClassCounts {
  double examples, count;
  float bias_accumulator;
};

// Ranking needs this of a class, from the sum of its counts.
inline float inverse_norm_of(double count) {
  return count > 0.0 ? static_cast<float>(1.0 / std::sqrt(count)) : 0.0f;
}

class VoteStore {
 public:
  struct ClassSums {
    double examples = 0.0, count = 0.0;
    float bias_accumulator = 0.0f;
  };

  // Number of labels of all rows; models of rows with one label each do not save it.
  static constexpr const char* kLabels = "counted.labels";

  explicit VoteStore(const OneAgainstSomeConfig& config);

  VotingRules rules;
  FeatureCentring centring;
  KeyHistograms histograms;
  KeyHistograms::Key frequent;  // the key that every example has
  ClassPairs pairs;
  KeyForest forest;
  DenseWeights dense_predictors;  // empty where the weights are in the pairs
  StableVector<ClassSums> class_sums;
  std::vector<ClassTerms> class_terms;
  VoteWeight affinity_scale, share_scale, node_scale;  // A, S and B
  // Cells keep the biases of classes; `class_terms` has copies for ranking.
  std::optional<Cells> own_cells;

  void grow_to(std::size_t n_classes);
  // Counts an example of a class. Returns the weight of its examples before and after.
  OwnCount count_class(ClassId y, double counted);
  // Counts an example whose labels have been counted. Returns how many entries of a histogram were
  // touched.
  std::size_t count_example(Labels labels, const std::vector<OwnCount>& of_labels, double counted);
  // Length of a row's steps: 1, exactly, while every row has one label.
  double share_of_step(Labels labels, bool is_new) const;
  // Rewrites all counts in a new unit, before the old one becomes too large for the numbers.
  void rebase_unit();

  // For prediction.
  std::size_t n_classes() const { return class_terms.size(); }
  double examples() const { return examples_; }
  double decay_unit() const { return decay_unit_after(0); }
  // Unit of counts after this many more examples.
  double decay_unit_after(std::size_t more) const {
    return rules.decay_unit(static_cast<double>(n_counted_ + more), decay_origin_);
  }
  VoteScales scales() const { return {affinity_scale.value, share_scale.value, node_scale.value}; }
  ClassTerms terms(ClassId y) const {
    const ClassTerms& terms = class_terms[y];
    return {terms.inverse_norm, terms.bias};
  }
  ClassCounts counts_of(ClassId y) const {
    const ClassSums& sums = class_sums[y];
    return {sums.examples, sums.count, sums.bias_accumulator};
  }
  void read_dense(const Rows& rows, std::size_t i, VotingWorkspace& ws) const {
    centring.read(rows, i, ws.before.dense, ws.x);
  }
  void find_key(ActiveKey& key) const { key.histogram = histograms.find(key.key); }
  KeyCounts counts_of(const ActiveKey& key) const {
    if (key.histogram == nullptr) return {};
    return {key.histogram->examples, key.histogram->weight.value};
  }
  template <class Use>
  void with_entries(const ActiveKey& key, Use use) const;
  template <class Visit>
  void visit_frequent(Visit visit) const;
  const DenseWeights& predictors() const { return dense_predictors; }
  const Cells& cells() const { return *own_cells; }
  PairGuess* find_pairs(ClassId y, std::span<const AskedKey> keys, PairGuess* found) const;
  template <class Visit>
  void visit_pairs(ClassId y, std::span<const AskedKey> keys, std::span<const PairGuess> found,
                   Visit visit) const;
  // Calls visit(key, count, weight, accumulator) for all that a class has met.
  template <class Visit>
  void visit_class(ClassId y, Visit visit) const {
    pairs[y].visit([&](const ClassPairs::Pair& pair, std::uint32_t) {
      visit(pair.key(), pair.count, pair.weight, pair.accumulator);
    });
  }
  // Prefetches the beginnings of a row's histograms.
  void prefetch_row(const Rows& rows, std::size_t i) const;
  void prefetch_entries(const ActiveKey& key, std::size_t begin, std::size_t end) const {
    if (key.histogram != nullptr) prefetch(key.histogram->entries + begin, end - begin);
  }
  void prepare_for(std::size_t) const {}
  void prefetch_class(ClassId y) const { prefetch(&pairs[y]); }
  void prefetch_pairs(ClassId y) const { pairs[y].prefetch_tags(); }

  void save(State& state) const;
  // Loads a checked state with this many classes.
  void load(const State& state, std::size_t n_classes);
  // Bytes by part, the feature scale last.
  std::vector<std::pair<std::string, std::size_t>> memory() const;
  // Bytes of everything for this many classes, of which the new ones were never learned.
  std::size_t bytes(std::size_t n_classes) const;

 private:
  double examples_ = 0.0;        // weight of the counted examples, in growing units
  std::uint64_t n_counted_ = 0;  // how many they are
  std::uint64_t n_labels_ = 0;   // and how many labels they have together
  double decay_origin_ = 0.0;    // after this many of them the unit was 1
};

template <class Use>
RECALLTREE_INLINE void VoteStore::with_entries(const ActiveKey& key, Use use) const {
  if (key.histogram == nullptr) return use(std::span<const KeyHistograms::Entry>());
  use(key.histogram->labels());
}

template <class Visit>
void VoteStore::visit_frequent(Visit visit) const {
  for (const auto& entry : frequent.labels())
    if (visit(entry.label)) return;
}

// Guesses where pairs are and prefetches them; all are on their way before the first is read.
RECALLTREE_INLINE PairGuess* VoteStore::find_pairs(ClassId y, std::span<const AskedKey> keys,
                                                   PairGuess* found) const {
  const ClassPairs::Table& table = pairs[y];
  // A branch on whether a class has met a key would be mispredicted often, so there is none.
  for (std::uint32_t k = 0; k < keys.size(); ++k) {
    const std::uint32_t slot = table.guess(keys[k].key);
    *found = {k, slot};
    table.prefetch(slot);
    found += slot != ClassPairs::kNone;
  }
  return found;
}

template <class Visit>
RECALLTREE_INLINE void VoteStore::visit_pairs(ClassId y, std::span<const AskedKey> keys,
                                              std::span<const PairGuess> found, Visit visit) const {
  const ClassPairs::Table& table = pairs[y];
  for (const auto& [k, guessed] : found) {
    const std::uint32_t slot = table.find(keys[k].key, guessed);
    if (slot != ClassPairs::kNone) visit(k, slot, table[slot].count, table[slot].weight);
  }
}

}  // namespace recalltree
