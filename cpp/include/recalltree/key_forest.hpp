// Shallow recall trees side by side, and the nodes that an example ends at as its keys.
//
// Routers learn by the paper's entropy rule, as in the Recall Tree. What makes the trees differ is
// where a router begins: at a random hyperplane of its own. A tree whose leaves vote has a second
// key for every example: where it would have ended had the router that was least sure sent it the
// other way.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "config.hpp"
#include "example.hpp"
#include "forest_rules.hpp"
#include "linear_learner.hpp"
#include "state.hpp"
#include "tree.hpp"
#include "types.hpp"
#include "weights.hpp"
#include "workspace.hpp"

namespace recalltree {

class MappedKeyForest;

class KeyForest {
 public:
  explicit KeyForest(const OneAgainstSomeConfig& config);

  const Tree& tree() const { return tree_; }
  const Weights& routers() const { return *routers_; }
  std::size_t n_trees() const { return rules_.n_trees(); }

  // The route of prediction in every tree, and the nodes that vote (see ForestRules).
  void descend(const Example& x, std::size_t n_classes, double unit, VotingWorkspace& v, Work& work,
               bool shared) const;
  // The routers on the way learn which side lowers the entropy.
  void update_routers(const std::vector<Route>& routes, const Example& x, ClassId y, double weight,
                      double unit, const LinearLearner& learner, LinearLearner::Workspace& ws,
                      Work& work, bool shared);
  // Counts the label at all nodes on the way and at the child that comes next, which is made on
  // first use.
  void count(const std::vector<Route>& routes, ClassId y, double counted, Work& work, bool shared);
  // Calls vote(label, vote) for the labels of a node, and returns how many they were.
  template <class Vote>
  std::size_t vote(const NodeKey& key, bool shared, Vote vote) const;
  void rescale(double factor);

  void save(State& state) const;
  // The view is complete, and has been checked.
  void load(const MappedKeyForest& view, const State& state);

 private:
  double recall(NodeId n, double unit, bool shared) const;
  void update_router(const RouteStep& step, const Example& x, ClassId y, double weight, double unit,
                     const LinearLearner& learner, LinearLearner::Workspace& ws, Work& work,
                     bool shared);

  ForestRules rules_;
  Tree tree_;  // all trees; their roots come first
  std::unique_ptr<Weights> routers_;
};

template <class Vote>
std::size_t KeyForest::vote(const NodeKey& key, bool shared, Vote vote) const {
  auto& node = const_cast<Node&>(tree_[key.node]);
  SpinLock::Guard guard(node.lock, shared);
  const double total = node.histogram.total();
  node.histogram.visit_candidates(
      [&](ClassId label, double count) { vote(label, ForestRules::vote(key, count, total)); });
  return node.histogram.n_candidates();
}

}  // namespace recalltree
