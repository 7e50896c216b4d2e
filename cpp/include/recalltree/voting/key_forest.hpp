// Shallow recall trees side by side, and the nodes that an example belongs to as its keys.
//
// Routers learn by the paper's entropy rule, as in the Recall Tree. What makes the trees differ is
// where a router begins: at a random hyperplane of its own. A tree whose leaves vote has a second
// key for every example: where it would have ended had the router that was least sure sent it the
// other way.
//
// Nodes that may be keys have label histograms: all of them if routes may end anywhere, as on the
// paper's path, otherwise the last ones. How many examples of a class passed a node follows from
// where they ended.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "recalltree/base/config.hpp"
#include "recalltree/base/example.hpp"
#include "recalltree/base/hints.hpp"
#include "recalltree/base/spin_lock.hpp"
#include "recalltree/base/stable_vector.hpp"
#include "recalltree/base/state.hpp"
#include "recalltree/base/types.hpp"
#include "recalltree/linear/linear_learner.hpp"
#include "recalltree/linear/weights.hpp"
#include "recalltree/voting/class_nodes.hpp"
#include "recalltree/voting/forest_rules.hpp"
#include "recalltree/voting/ranked_labels.hpp"
#include "recalltree/voting/voting_workspace.hpp"

namespace recalltree {

class MappedKeyForest;

struct KeyNode {
  std::atomic<NodeId> left{kNoNode}, right{kNoNode};  // made on first use
  std::atomic<ModelId> router{kNoModel};              // made on first use
  NodeId parent = kNoNode;
  std::uint32_t tree = 0, depth = 0;
  std::uint64_t place = 1;  // in its tree: 1 at the root, 2 p and 2 p + 1 below p
  double passed = 0.0;      // weight of the examples, in growing units
  RankedLabels histogram;   // of those for which it is a key
  mutable SpinLock lock;    // guards the counts while several threads learn

  NodeId child(bool is_right) const {
    return (is_right ? right : left).load(std::memory_order_acquire);
  }
};

class KeyForest {
 public:
  explicit KeyForest(const OneAgainstSomeConfig& config);

  std::size_t n_trees() const { return rules_.n_trees(); }
  std::size_t n_nodes() const { return nodes_.size(); }
  const KeyNode& node(NodeId n) const { return nodes_[n]; }
  const Weights& routers() const { return *routers_; }
  std::size_t node_bytes() const { return nodes_.bytes(); }
  std::size_t histogram_bytes() const { return class_nodes_.bytes() + label_bytes_; }
  // Of everything, if there were so many classes, none of the others having been counted.
  std::size_t bytes(std::size_t n_classes) const {
    return n_trees() == 0
               ? node_bytes() + routers_->bytes()
               : node_bytes() + routers_->bytes() + class_nodes_.bytes(n_classes) + label_bytes_;
  }

  void grow_to(std::size_t n_classes) {
    if (n_trees() > 0) class_nodes_.grow_to(n_classes);
  }

  // The route of prediction in every tree, and the nodes that vote (see ForestRules).
  void descend(const Example& x, std::size_t n_classes, double unit, VotingWorkspace& v, Work& work,
               Threads threads) const;
  // The routers on the way learn which side lowers the entropy.
  void update_routers(const Example& x, ClassId y, double weight, double unit,
                      const LinearLearner& learner, OneAgainstSomeWorkspace& ws);
  // Counts the label on the way and at the child that comes next, which is made on first use.
  void count(const std::vector<Route>& routes, ClassId y, double counted, Work& work,
             Threads threads);
  // Calls vote(label, vote) for the labels of a node, and returns how many they were.
  template <class Vote>
  std::size_t vote(const NodeKey& key, Threads threads, Vote vote) const;
  void rescale(double factor);

  void save(State& state) const;
  // The view is complete, and has been checked.
  void load(const MappedKeyForest& view, const State& state);

 private:
  // The count of a label at a node that may be a key has grown. Returns how many entries were
  // touched.
  std::size_t raise(KeyNode& node, ClassId y, float before, float after);
  NodeId add_node(NodeId parent, bool is_right);
  NodeId child_or_new(NodeId n, bool is_right, Threads threads);
  double recall(NodeId n, double unit, Threads threads) const;
  void find_passed(ClassId y, VotingWorkspace& v, Threads threads) const;
  void update_router(const RouteStep& step, const double (&passed_of_y)[2], const Example& x,
                     double weight, double unit, const LinearLearner& learner,
                     OneAgainstSomeWorkspace& ws);

  ForestRules rules_;
  StableVector<KeyNode> nodes_;  // of all trees; the roots come first
  ClassNodes class_nodes_;
  std::unique_ptr<Weights> routers_;
  std::atomic<std::size_t> label_bytes_{0};  // of the nodes' histograms
};

template <class Vote>
RECALLTREE_INLINE std::size_t KeyForest::vote(const NodeKey& key, Threads threads,
                                              Vote vote) const {
  const KeyNode& node = nodes_[key.node];
  SpinLock::Guard guard(node.lock, threads);
  const float scale = ForestRules::vote_scale(key, node.histogram.total());
  for (const auto& entry : node.histogram.entries()) vote(entry.label, scale * entry.root);
  return node.histogram.entries().size();
}

}  // namespace recalltree
