// Trees that vote, viewed where KeyForest saved them.
#pragma once

#include <memory>
#include <vector>

#include "config.hpp"
#include "criteria.hpp"
#include "forest_rules.hpp"
#include "mapped_tree.hpp"
#include "mapped_weights.hpp"
#include "workspace.hpp"

namespace recalltree {

class MappedKeyForest {
 public:
  MappedKeyForest(const OneAgainstSomeConfig& config, const State& state, std::size_t n_classes);

  const MappedTree& tree() const { return tree_; }
  const MappedWeights& routers() const { return *routers_; }
  std::size_t n_trees() const { return rules_.n_trees(); }

  void descend(const Example& x, std::size_t n_classes, double unit, VotingWorkspace& v,
               Work& work) const;
  // Calls vote(label, vote) for the labels of a node, and returns how many they were.
  template <class Vote>
  std::size_t vote(const NodeKey& key, Vote vote) const {
    const double total = tree_.total(key.node);
    return tree_.visit_labels(key.node, rules_.max_labels(),
                              [&](ClassId label, double count, std::uint32_t) {
                                vote(label, ForestRules::vote(key, count, total));
                              });
  }

  bool is_complete() const { return tree_.is_complete() && routers_->has_accumulators(); }
  void check() const {
    tree_.check();
    routers_->check();
  }

 private:
  ForestRules rules_;
  MappedTree tree_;
  std::unique_ptr<MappedWeights> routers_;
};

}  // namespace recalltree
