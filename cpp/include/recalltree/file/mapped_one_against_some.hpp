// One-against-some, viewed where it was saved. Keys and pairs are found by searching lists that are
// sorted in the file, so that nothing is built to open one.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "recalltree/base/config.hpp"
#include "recalltree/base/half.hpp"
#include "recalltree/file/mapped_key_forest.hpp"
#include "recalltree/file/mapped_model.hpp"
#include "recalltree/file/mapped_weights.hpp"
#include "recalltree/voting/feature_centring.hpp"
#include "recalltree/voting/one_against_some.hpp"
#include "recalltree/voting/voting.hpp"

namespace recalltree {

class MappedOneAgainstSome final : public MappedModel {
 public:
  MappedOneAgainstSome(const OneAgainstSomeConfig& config, State state);

  const OneAgainstSomeConfig& config() const { return given_; }
  std::uint32_t max_candidates() const { return rules_.config.max_candidates; }
  const MappedKeyForest& forest() const { return forest_; }
  // A, S and B.
  std::tuple<float, float, float> vote_scales() const {
    return {scales_[0], scales_[2], scales_[4]};
  }
  ClassView class_view(ClassId y) const;
  // Calls visit(key, count, weight, accumulator) for all that a class has met.
  template <class Visit>
  void visit_class(ClassId y, Visit visit) const;
  // The weight of the examples of every class, those of later passes not counted again.
  std::vector<double> class_examples() const;
  // The most frequent classes and the weight of their examples, as many as a histogram holds.
  std::vector<std::pair<ClassId, double>> frequent_classes() const;

  // What voting.hpp asks for. Nobody learns, so that nothing is ever shared.
  const VotingRules& rules() const { return rules_; }
  double unit() const { return unit_; }
  double examples() const { return examples_; }
  void read_dense(const Rows& rows, std::size_t i, OneAgainstSomeWorkspace& ws) const {
    centring_.read(rows, i, ws.before.dense, ws.x);
  }
  void find_key(ActiveKey& key) const {
    const auto found = std::lower_bound(keys_.begin(), keys_.end(), key.key);
    if (found != keys_.end() && *found == key.key)
      key.place = static_cast<std::uint32_t>(found - keys_.begin());
  }
  double document_count(const ActiveKey& key) const {
    return key.place == ActiveKey::kNoKey ? 0.0 : document_counts_[key.place];
  }
  float weight(const ActiveKey& key) const {
    return key.place == ActiveKey::kNoKey ? 1.0f : key_weights_[key.place];
  }
  template <class Use>
  void with_entries(const ActiveKey& key, Threads, Use use) const;
  void prefetch_entries(const ActiveKey&, std::size_t, std::size_t) const {}
  template <class Visit>
  void visit_frequent(Threads, Visit visit) const;
  void prefetch_row(const Rows&, std::size_t) const {}
  void prefetch_class(ClassId) const {}
  void prefetch_pairs(ClassId) const {}
  template <class Keys>
  PairGuess* find_pairs(ClassId y, const Keys& keys, Threads, PairGuess* found) const;
  template <class Keys, class Visit>
  void visit_pairs(ClassId y, const Keys& keys, std::span<const PairGuess> found, Threads,
                   Visit visit) const;
  std::size_t n_trees() const { return forest_.n_trees(); }
  void descend(const Example& x, std::size_t n_classes, VotingWorkspace& v, Work& work,
               Threads) const {
    forest_.descend(x, n_classes, unit_, v, work);
  }
  template <class Vote>
  std::size_t vote_of_node(const NodeKey& key, Threads, Vote vote) const {
    return forest_.vote(key, vote);
  }
  float affinity_scale() const { return scales_[0]; }
  float share_scale() const { return scales_[2]; }
  float node_scale() const { return scales_[4]; }
  float inverse_norm(ClassId y) const {
    return OneAgainstSome::inverse_norm_of(class_sums_[2 * y + 1]);
  }
  float bias(ClassId y) const { return bias_[y]; }
  ClassTerms terms(ClassId y) const { return {inverse_norm(y), bias(y)}; }
  const MappedWeights& predictors() const { return *predictors_; }
  void predictor_scores(const ClassId* labels, std::size_t n, const Example& x, float* out,
                        Threads) const {
    predictors_->scores(labels, n, x, out);
  }

  bool is_complete() const override;
  void check() const override;
  std::vector<std::pair<std::string, std::size_t>> memory() const override;

 protected:
  std::unique_ptr<Workspace> make_workspace() const override {
    return std::make_unique<OneAgainstSomeWorkspace>();
  }
  void score(const Rows& rows, std::size_t i, Workspace& ws) const override;
  std::size_t rows_at_once() const override { return rows_to_score_at_once(n_classes()); }
  void score_rows(const Rows& rows, std::size_t begin, std::size_t end, Workspace& ws,
                  const Emit& emit) const override;

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
    while (begin + step < end && pair_keys_[begin + step] < key) begin += step, step *= 2;
    const auto first = pair_keys_.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto last =
        pair_keys_.begin() + static_cast<std::ptrdiff_t>(std::min(begin + step + 1, end));
    return static_cast<std::size_t>(std::lower_bound(first, last, key) - pair_keys_.begin());
  }
  // Calls use(weights), in the type that they are stored in: float32, float16 or bfloat16.
  template <class Use>
  static void with_weights(const Array& weights, Use use) {
    if (weights.kind == 'e')
      use(static_cast<const Float16*>(weights.data));
    else if (weights.kind == 'H')
      use(static_cast<const BFloat16*>(weights.data));
    else
      use(static_cast<const float*>(weights.data));
  }
  Array weights_array(const char* name, std::size_t size) const;
  void check_keys() const;
  void check_pairs() const;

  OneAgainstSomeConfig given_;
  VotingRules rules_;
  MappedKeyForest forest_;
  std::unique_ptr<MappedWeights> predictors_;
  // Keys and their histograms.
  std::span<const std::uint32_t> keys_;
  std::span<const double> document_counts_;
  std::span<const float> key_weights_;
  std::span<const std::uint64_t> key_offsets_;
  std::span<const ClassId> labels_;
  std::span<const float> roots_;
  Array entry_weights_;
  // Pairs, by class.
  std::span<const std::uint64_t> pair_offsets_;
  std::span<const std::uint32_t> pair_keys_;
  std::span<const float> counts_;
  Array pair_weights_;
  std::span<const float> accumulators_;  // empty in a model that only predicts
  // Classes.
  std::span<const double> class_sums_;  // weight of the examples, sum of the counts
  std::span<const float> bias_;
  std::span<const ClassId> frequent_;
  std::span<const float> scales_;
  FeatureCentring centring_;
  double examples_ = 0.0, unit_ = 1.0;
};

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

template <class Use>
void MappedOneAgainstSome::with_entries(const ActiveKey& key, Threads, Use use) const {
  if (key.place == ActiveKey::kNoKey) return use(std::span<const KeyHistograms::Entry>());
  const auto [begin, end] = range(key_offsets_, key.place, labels_.size());
  const auto labels = labels_.subspan(begin, end - begin);
  with_weights(entry_weights_, [&, begin = begin](const auto* weights) {
    use(MappedEntries{labels, roots_.data() + begin, weights + begin, n_classes()});
  });
}

template <class Visit>
void MappedOneAgainstSome::visit_frequent(Threads, Visit visit) const {
  for (const ClassId label : frequent_)
    if (label < n_classes() && visit(label)) return;
}

template <class Visit>
void MappedOneAgainstSome::visit_class(ClassId y, Visit visit) const {
  const auto [begin, end] = range(pair_offsets_, y, pair_keys_.size());
  const auto visit_all = [&, begin = begin, end = end](const auto* weights) {
    for (std::size_t i = begin; i < end; ++i)
      visit(pair_keys_[i], counts_[i], widen(weights[i]),
            accumulators_.empty() ? 0.0f : accumulators_[i]);
  };
  with_weights(pair_weights_, visit_all);
}

// Keys and pairs are both sorted, so that a search begins where the last one ended.
template <class Keys>
PairGuess* MappedOneAgainstSome::find_pairs(ClassId y, const Keys& keys, Threads,
                                            PairGuess* found) const {
  const auto [begin, end] = range(pair_offsets_, y, pair_keys_.size());
  std::size_t at = begin;
  for (std::uint32_t k = 0; k < keys.size() && at < end; ++k) {
    at = gallop(at, end, keys[k].key);
    if (at < end && pair_keys_[at] == keys[k].key)
      *found++ = {k, static_cast<std::uint32_t>(at - begin)};
  }
  return found;
}

template <class Keys, class Visit>
void MappedOneAgainstSome::visit_pairs(ClassId y, const Keys&, std::span<const PairGuess> found,
                                       Threads, Visit visit) const {
  const std::size_t begin = range(pair_offsets_, y, pair_keys_.size()).begin;
  with_weights(pair_weights_, [&](const auto* weights) {
    for (const auto& [k, slot] : found)
      visit(k, counts_[begin + slot], widen(weights[begin + slot]));
  });
}

}  // namespace recalltree
