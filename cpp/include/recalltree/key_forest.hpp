// Shallow recall trees side by side, and the nodes that an example ends at as its keys.
//
// Routers learn by the paper's entropy rule, as in the Recall Tree. What makes the trees differ is
// where a router begins: at a random hyperplane of its own.
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

  // The route of prediction in every tree; the last node of each is a key.
  void descend(const Example& x, std::size_t n_classes, double unit, std::vector<Route>& routes,
               Work& work, bool shared) const;
  // The routers on the way learn which side lowers the entropy.
  void update_routers(const std::vector<Route>& routes, const Example& x, ClassId y, double weight,
                      double unit, const LinearLearner& learner, LinearLearner::Workspace& ws,
                      Work& work, bool shared);
  // Counts the label at all nodes on the way and at the child that comes next, which is made on
  // first use.
  void count(const std::vector<Route>& routes, ClassId y, double counted, Work& work, bool shared);
  // Calls vote(label, root of its share) for the labels of the nodes where routes end, and returns
  // how many they were.
  template <class Vote>
  std::size_t vote(const std::vector<Route>& routes, bool shared, Vote vote) const;
  void rescale(double factor);

  void save(State& state) const;
  void load(const State& state, std::size_t n_classes);

 private:
  std::uint32_t max_depth(std::size_t n_classes) const;
  float margin(const RouteStep& step, std::size_t tree, const Example& x, bool shared) const;
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
std::size_t KeyForest::vote(const std::vector<Route>& routes, bool shared, Vote vote) const {
  std::size_t read = 0;
  for (const Route& route : routes) {
    auto& node = const_cast<Node&>(tree_[route.back().node]);
    SpinLock::Guard guard(node.lock, shared);
    const LabelHistogram& histogram = node.histogram;
    const double scale = histogram.total() > 0.0 ? 1.0 / histogram.total() : 0.0;
    read += histogram.n_candidates();
    histogram.visit_candidates([&](ClassId label, double count) {
      vote(label, std::sqrt(static_cast<float>(count * scale)));
    });
  }
  return read;
}

}  // namespace recalltree
