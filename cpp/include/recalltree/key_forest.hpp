// Shallow recall trees side by side, and the nodes that an example ends at as its keys.
//
// Routers learn by the paper's entropy rule, as in the Recall Tree. What makes the trees differ is
// where a router begins: at a random hyperplane of its own. A tree whose leaves vote has a second
// key for every example: where it would have ended had the router that was least sure sent it the
// other way.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "config.hpp"
#include "example.hpp"
#include "linear_learner.hpp"
#include "state.hpp"
#include "tree.hpp"
#include "types.hpp"
#include "weights.hpp"
#include "workspace.hpp"

namespace recalltree {

class KeyForest {
 public:
  explicit KeyForest(const OneAgainstSomeConfig& config);

  const Tree& tree() const { return tree_; }
  const Weights& routers() const { return *routers_; }
  std::size_t n_trees() const { return n_trees_; }

  // The route of prediction in every tree, and the nodes that vote: those where routes end, then
  // the second ones.
  void descend(const Example& x, std::size_t n_classes, double unit, VotingWorkspace& v, Work& work,
               bool shared) const;
  // The routers on the way learn which side lowers the entropy.
  void update_routers(const std::vector<Route>& routes, const Example& x, ClassId y, double weight,
                      double unit, const LinearLearner& learner, LinearLearner::Workspace& ws,
                      Work& work, bool shared);
  // Counts the label at all nodes on the way and at the child that comes next, which is made on
  // first use.
  void count(const std::vector<Route>& routes, ClassId y, double counted, Work& work, bool shared);
  // Calls vote(label, trust times the root of its share) for the labels of some nodes, and returns
  // how many they were.
  template <class Vote>
  std::size_t vote(const std::vector<NodeKey>& keys, bool shared, Vote vote) const;
  void rescale(double factor);

  void save(State& state) const;
  void load(const State& state, std::size_t n_classes);

 private:
  void find_second_key(const Example& x, std::uint32_t bottom, std::size_t tree, VotingWorkspace& v,
                       Work& work, bool shared) const;
  std::uint32_t max_depth(std::size_t n_classes) const;
  float margin(NodeId node, std::uint64_t place, std::size_t tree, const Example& x,
               bool shared) const;
  float random_margin(std::uint64_t place, std::size_t tree, const Example& x) const;
  double recall(NodeId n, double unit, bool shared) const;
  void update_router(const RouteStep& step, const Example& x, ClassId y, double weight, double unit,
                     const LinearLearner& learner, LinearLearner::Workspace& ws, Work& work,
                     bool shared);

  OneAgainstSomeConfig config_;
  std::size_t n_trees_;
  std::uint32_t max_labels_;  // of a key that vote
  bool stops_early_;          // where recall would get worse, as in the paper
  Tree tree_;                 // all trees; their roots come first
  std::unique_ptr<Weights> routers_;
};

template <class Vote>
std::size_t KeyForest::vote(const std::vector<NodeKey>& keys, bool shared, Vote vote) const {
  std::size_t read = 0;
  for (const NodeKey& key : keys) {
    auto& node = const_cast<Node&>(tree_[key.node]);
    SpinLock::Guard guard(node.lock, shared);
    const LabelHistogram& histogram = node.histogram;
    const double scale = histogram.total() > 0.0 ? 1.0 / histogram.total() : 0.0;
    read += histogram.n_candidates();
    histogram.visit_candidates([&](ClassId label, double count) {
      vote(label, key.trust * std::sqrt(static_cast<float>(count * scale)));
    });
  }
  return read;
}

}  // namespace recalltree
