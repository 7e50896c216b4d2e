// Trees that vote, viewed where KeyForest saved them.
#pragma once

#include <cmath>
#include <memory>
#include <span>
#include <vector>

#include "recalltree/base/config.hpp"
#include "recalltree/file/mapped_tree.hpp"
#include "recalltree/file/mapped_weights.hpp"
#include "recalltree/voting/forest_rules.hpp"
#include "recalltree/voting/voting_workspace.hpp"

namespace recalltree {

class MappedKeyForest {
 public:
  MappedKeyForest(const OneAgainstSomeConfig& config, const State& state, std::size_t n_classes);

  const MappedTree& tree() const { return tree_; }
  std::size_t n_nodes() const { return tree_.size(); }
  const MappedWeights& routers() const { return *routers_; }
  std::size_t histogram_bytes() const {
    return tree_.histogram_bytes() + class_offsets_.size_bytes() + class_nodes_.size_bytes() +
           class_counts_.size_bytes();
  }
  std::size_t node_bytes() const { return tree_.node_bytes() + passed_.size_bytes(); }
  std::size_t n_trees() const { return rules_.n_trees(); }

  void descend(const Example& x, std::size_t n_classes, double unit, VotingWorkspace& v,
               Work& work) const;
  // Calls vote(label, vote) for the labels of a node, and returns how many they were.
  template <class Vote>
  std::size_t vote(const NodeKey& key, Vote vote) const {
    const float scale = ForestRules::vote_scale(key, tree_.total(key.node));
    return tree_.visit_labels(key.node, rules_.max_labels(),
                              [&](ClassId label, double count, std::uint32_t) {
                                vote(label, scale * static_cast<float>(std::sqrt(count)));
                              });
  }

  // Whether learning could go on from here.
  bool is_complete() const {
    return tree_.is_complete() && routers_->has_accumulators() && has_passed_;
  }
  // Throws std::invalid_argument where a number is not finite, or out of order. Reads everything.
  void check() const;

 private:
  ForestRules rules_;
  MappedTree tree_;
  std::unique_ptr<MappedWeights> routers_;
  // Not in a model that only predicts: the examples that passed each node, and where those of each
  // class were counted.
  bool has_passed_ = false;
  std::span<const double> passed_;
  std::span<const std::uint64_t> class_offsets_;
  std::span<const std::uint32_t> class_nodes_;
  std::span<const float> class_counts_;
};

}  // namespace recalltree
