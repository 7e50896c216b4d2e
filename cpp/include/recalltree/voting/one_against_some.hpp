// One-against-some: the keys of an example vote for a few candidates, and only these are compared.
//
//   vote(y | x)  = sum over the features k of x of  u_k |v_k| (A sqrt(c(y, k) / n_y)
//                                                             + S sqrt(c(y, k) / n_k))
//                + B sum over the nodes k that x belongs to of  s_k sqrt(c(y, k) / n_k)
//   score(y | x) = vote(y | x) + w_y . v + b_y
//   candidates   = the F classes with the largest score by the entries that were read
//
// v is the weighted example, c(y, k) how often class y met key k, n_y the sum of a class's counts
// over the features, n_k the examples that had key k. The first vote of the features is the
// affinity (Bhattacharyya's) of the example and the class as distributions over features, each with
// a weight u_k of its own; the second says how much of a feature is the class's. A, S, B, u, w and
// b are learned by a softmax over the candidates.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <shared_mutex>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "recalltree/base/config.hpp"
#include "recalltree/base/hints.hpp"
#include "recalltree/base/intended_race.hpp"
#include "recalltree/linear/dense_weights.hpp"
#include "recalltree/model/learner.hpp"
#include "recalltree/voting/class_pairs.hpp"
#include "recalltree/voting/feature_centring.hpp"
#include "recalltree/voting/key_forest.hpp"
#include "recalltree/voting/key_histograms.hpp"
#include "recalltree/voting/voting.hpp"
#include "recalltree/voting/voting_in_blocks.hpp"

namespace recalltree {

class OneAgainstSome final : public Learner {
 public:
  explicit OneAgainstSome(const OneAgainstSomeConfig& config);

  const OneAgainstSomeConfig& config() const { return given_; }
  std::uint32_t max_candidates() const { return rules_.config.max_candidates; }
  const KeyHistograms& histograms() const { return histograms_; }
  const ClassPairs& pairs() const { return pairs_; }
  const KeyForest& forest() const { return forest_; }
  // Of dense rows where trees vote; otherwise the weights are in the pairs.
  const DenseWeights& predictors() const { return predictors_; }
  bool has_dense_predictors() const { return !rules_.weights_in_pairs; }
  // A, S and B.
  std::tuple<float, float, float> vote_scales() const {
    return {affinity_scale_.value, share_scale_.value, node_scale_.value};
  }
  // Counts are kept in growing units instead of letting the old ones fade; this is the latest unit.
  double unit() const {
    return rules_.unit(static_cast<double>(relaxed_load(n_counted_)), unit_origin_);
  }
  ClassView class_view(ClassId y) const;
  // Calls visit(key, count, weight, accumulator) for all that a class has met.
  template <class Visit>
  void visit_class(ClassId y, Visit visit) const {
    const ClassPairs::Table& table = pairs_[y];
    table.visit([&](const ClassPairs::Pair& pair, std::uint32_t) {
      visit(pair.key(), pair.count, pair.weight, pair.accumulator);
    });
  }
  // The weight of the examples of every class, those of later passes not counted again.
  std::vector<double> class_examples() const;
  // The most frequent classes and the weight of their examples, as many as a histogram holds.
  std::vector<std::pair<ClassId, double>> frequent_classes() const;

  // What voting.hpp asks for.
  const VotingRules& rules() const { return rules_; }
  double examples() const { return relaxed_load(examples_); }
  void read_dense(const Rows& rows, std::size_t i, OneAgainstSomeWorkspace& ws) const {
    centring_.read(rows, i, ws.before.dense, ws.x);
  }
  void find_key(ActiveKey& key) const { key.histogram = histograms_.find(key.key); }
  double document_count(const ActiveKey& key) const {
    return key.histogram ? relaxed_load(key.histogram->examples) : 0.0;
  }
  float weight(const ActiveKey& key) const {
    return key.histogram ? relaxed_load(key.histogram->weight) : 1.0f;
  }
  template <class Use>
  void with_entries(const ActiveKey& key, Threads threads, Use use) const;
  void prefetch_row(const Rows& rows, std::size_t i) const;
  void prefetch_entries(const ActiveKey& key, std::size_t begin, std::size_t end) const {
    if (key.histogram != nullptr)
      prefetch(relaxed_load(key.histogram->entries) + begin, end - begin);
  }
  template <class Visit>
  void visit_frequent(Threads threads, Visit visit) const;
  void prefetch_class(ClassId y) const { prefetch(&pairs_[y]); }
  void prefetch_pairs(ClassId y) const { pairs_[y].prefetch_tags(); }
  template <class Keys>
  PairGuess* find_pairs(ClassId y, const Keys& keys, Threads threads, PairGuess* found) const;
  template <class Keys, class Visit>
  void visit_pairs(ClassId y, const Keys& keys, std::span<const PairGuess> found, Threads threads,
                   Visit visit) const;
  std::size_t n_trees() const { return forest_.n_trees(); }
  void descend(const Example& x, std::size_t n_classes, VotingWorkspace& v, Work& work,
               Threads threads) const {
    forest_.descend(x, n_classes, unit(), v, work, threads);
  }
  template <class Vote>
  std::size_t vote_of_node(const NodeKey& key, Threads threads, Vote vote) const {
    return forest_.vote(key, threads, vote);
  }
  float affinity_scale() const { return relaxed_load(affinity_scale_.value); }
  float share_scale() const { return relaxed_load(share_scale_.value); }
  float node_scale() const { return relaxed_load(node_scale_.value); }
  float inverse_norm(ClassId y) const { return relaxed_load(ranked_[y].inverse_norm); }
  float bias(ClassId y) const { return relaxed_load(ranked_[y].bias); }
  ClassTerms terms(ClassId y) const {
    const ClassTerms& terms = ranked_[y];
    return {relaxed_load(terms.inverse_norm), relaxed_load(terms.bias)};
  }
  void predictor_scores(const ClassId* labels, std::size_t n, const Example& x, float* out,
                        Threads threads) const {
    predictors_.scores(labels, n, x, out, threads);
  }
  static float inverse_norm_of(double count) {
    return count > 0.0 ? static_cast<float>(1.0 / std::sqrt(count)) : 0.0f;
  }

  // Of the pairs and the entries of histograms: the bytes they take, and the most that were ever
  // taken from the system for them.
  struct PairsMemory {
    std::size_t used, most_held;
  };
  PairsMemory pairs_memory() const;

  State save() const override;
  void load(const State& state) override;
  std::vector<std::pair<std::string, std::size_t>> memory() const override;

 protected:
  void learn_one(const Rows& rows, std::size_t i, ClassId y, double weight, Workspace& ws) override;
  void prefetch_next(const Rows& rows, std::size_t i) const override { prefetch_row(rows, i); }
  std::unique_ptr<Workspace> make_workspace() const override {
    return std::make_unique<OneAgainstSomeWorkspace>();
  }
  void score(const Rows& rows, std::size_t i, Workspace& ws) const override;
  std::size_t rows_at_once() const override { return rows_to_score_at_once(n_classes()); }
  void score_rows(const Rows& rows, std::size_t begin, std::size_t end, Workspace& ws,
                  const Emit& emit) const override;
  void begin_batch(const Batch& batch) override;
  void end_batch() override { n_reached_ = n_classes(); }
  void learn_batch(const Batch& batch, Team team, bool first_pass) override;

 private:
  struct ClassSums {
    double examples = 0.0, count = 0.0;
    float bias_accumulator = 0.0f;
    mutable SpinLock lock;  // guards the sums while several threads learn
  };
  // A number that learns by AdaGrad.
  struct Adaptive {
    float value, accumulator = 0.0f;

    void step(double gradient, double weight, double rate);
  };

  LeaveOut leave_out(ClassId y, double weight, VotingWorkspace& v, Threads threads) const;
  void count_progress(ClassId y, double weight, OneAgainstSomeWorkspace& ws) const;
  void softmax(std::size_t y_at, VotingWorkspace& v) const;
  // Collects the candidates that are wrong enough to learn, and what they have met.
  void find_lessons(const LeaveOut& own, OneAgainstSomeWorkspace& ws) const;
  // Steps on A and B, and on S and u.
  void update_votes(double weight, double rate, VotingWorkspace& v);
  void update_feature_votes(std::size_t y_at, double weight, double rate, VotingWorkspace& v);
  void update_predictors(std::size_t y_at, double weight, double rate, OneAgainstSomeWorkspace& ws);
  void update_pairs(std::size_t lesson, double weight, double rate, OneAgainstSomeWorkspace& ws);
  void publish(const ActiveKey& key, ClassId z, float root, float weight, Threads threads);
  // What a class keeps, as shares, when it learns from a gradient.
  struct Memory {
    double weights, steps;
  };
  Memory memory(double gradient) const;
  void step(ClassPairs::Pair& pair, float value, double gradient, double weight, double rate) const;
  // Returns the sum of squared gradients.
  float update_bias(ClassId z, double gradient, double weight, double rate);
  // Teaches the pairs of the example's class, and counts the example if it is new.
  void update_own_pairs(ClassId y, double gradient, double weight, double rate, double counted,
                        OneAgainstSomeWorkspace& ws);
  void count(ClassId y, double counted, OneAgainstSomeWorkspace& ws);

  void rebase_unit();

  // Learns an example, whatever memory it takes.
  void learn_example(const Rows& rows, std::size_t i, ClassId y, double weight,
                     OneAgainstSomeWorkspace& ws);
  void limit_memory();
  // Bytes that the model takes if it has so many classes.
  std::size_t bytes(std::size_t n_classes) const;
  // Forgets as many pairs as it must, if the model takes too many bytes with so many classes.
  void hold_budget(std::size_t n_classes);
  // What the pairs of a key are worth, by the parts of a score that they add to.
  struct KeyWorth {
    float affinity = 0.0f, share = 0.0f, weight = 0.0f;
  };
  std::vector<KeyWorth> key_worths() const;
  // Forgets those n of all pairs that are worth least.
  void forget_pairs(std::size_t n, std::size_t n_pairs, const std::vector<KeyWorth>& key_worths);
  void forget_entries();

  OneAgainstSomeConfig given_;
  VotingRules rules_;
  double small_gradient_;  // a candidate that is wrong by less does not learn
  FeatureCentring centring_;
  KeyHistograms histograms_;
  ClassPairs pairs_;
  KeyForest forest_;
  FeatureDropout dropout_;
  DenseWeights predictors_;
  StableVector<ClassSums> classes_;
  std::vector<ClassTerms> ranked_;
  KeyHistograms::Key
      global_counts_;  // the key that every example has; its lock guards examples_, too
  Adaptive affinity_scale_, share_scale_, node_scale_;  // A, S and B
  // Where memory is limited: classes up to the largest that was learned, and what stops learning.
  std::size_t n_reached_ = 0;
  std::shared_mutex learning_;
  double examples_ = 0.0;        // weight of the counted examples, in growing units
  std::uint64_t n_counted_ = 0;  // how many they are
  double unit_origin_ = 0.0;     // after so many of them the unit was 1
  bool first_pass_ = true;
};

template <class Use>
RECALLTREE_INLINE void OneAgainstSome::with_entries(const ActiveKey& key, Threads threads,
                                                    Use use) const {
  if (key.histogram == nullptr) return use(std::span<const KeyHistograms::Entry>());
  SpinLock::Guard guard(key.histogram->lock, threads);
  use(key.histogram->top(key.histogram->size));
}

template <class Visit>
void OneAgainstSome::visit_frequent(Threads threads, Visit visit) const {
  SpinLock::Guard guard(global_counts_.lock, threads);
  for (const auto& entry : global_counts_.top(global_counts_.size))
    if (visit(entry.label)) return;
}

// What may be there is told to memory, and read when all has been told.
template <class Keys>
RECALLTREE_INLINE PairGuess* OneAgainstSome::find_pairs(ClassId y, const Keys& keys,
                                                        Threads threads, PairGuess* found) const {
  const ClassPairs::Table& table = pairs_[y];
  SpinLock::Guard guard(table.lock, threads);
  // Whether a class has met a key cannot be foreseen, so that nothing branches on it.
  for (std::uint32_t k = 0; k < keys.size(); ++k) {
    const std::uint32_t slot = table.guess(keys[k].key);
    *found = {k, slot};
    table.prefetch(slot);
    found += slot != ClassPairs::kNone;
  }
  return found;
}

template <class Keys, class Visit>
RECALLTREE_INLINE void OneAgainstSome::visit_pairs(ClassId y, const Keys& keys,
                                                   std::span<const PairGuess> found,
                                                   Threads threads, Visit visit) const {
  const ClassPairs::Table& table = pairs_[y];
  SpinLock::Guard guard(table.lock, threads);
  for (const auto& [k, guessed] : found) {
    const std::uint32_t slot = table.find(keys[k].key, guessed);
    if (slot != ClassPairs::kNone) visit(k, table[slot].count, table[slot].weight);
  }
}

}  // namespace recalltree
