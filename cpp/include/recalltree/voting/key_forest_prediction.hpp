// Prediction with trees that vote, wherever they are stored: where an example ends in each tree,
// and what the nodes there say of the labels. Forest is the one that learns or the mapped one:
//   tree()                             child(node, right) or kNoNode, router(node)
//   routers()                          their weights
//   with_histogram(node, use)          calls use(histogram), which has size(), total(), mass() and
//                                      visit(label, root), which returns how many labels there are
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "recalltree/base/config.hpp"
#include "recalltree/base/hints.hpp"
#include "recalltree/base/types.hpp"
#include "recalltree/paper/criteria.hpp"
#include "recalltree/voting/voting_workspace.hpp"

namespace recalltree {

// Rules of the forest, as its parameters make them.
class ForestRules {
 public:
  explicit ForestRules(const OneAgainstSomeConfig& config);

  std::size_t n_trees() const { return n_trees_; }
  std::uint32_t max_labels() const { return max_labels_; }  // in the histogram of a node
  // True if routes stop where recall would get worse, as in the paper.
  bool stops_early() const { return stops_early_; }

 protected:
  std::uint32_t max_depth(std::size_t n_classes) const;
  // The margin at which a router begins: of a random hyperplane.
  float random_margin(std::uint64_t place, std::size_t tree, VotingWorkspace& ws) const;
  // The bound of recall. As long as there is room for more labels, all of them are there.
  template <class Histogram>
  double recall_bound(const Histogram& histogram, double decay_unit) const {
    const double mass = histogram.mass(), total = histogram.total();
    const bool is_all = histogram.size() < max_labels_ || mass >= total;
    return recall_lower_bound(is_all ? 1.0 : mass / total, total / decay_unit, bound_lambda_);
  }

 private:
  std::uint64_t seed_of(std::uint64_t place, std::size_t tree) const;
  Hyperplane hyperplane(std::uint64_t place, std::size_t tree) const;

  LearnerConfig learner_;
  std::size_t n_trees_;
  std::uint32_t max_labels_, max_depth_;
  bool stops_early_;
  double bound_lambda_;
  std::uint64_t seed_;
};

template <class Forest>
class KeyForestPrediction : public ForestRules {
 public:
  using ForestRules::ForestRules;

  // The route of ws.x in every tree, and the nodes that vote: those where routes end, then the
  // second ones.
  void descend(std::size_t n_classes, double decay_unit, VotingWorkspace& ws) const {
    const std::uint32_t bottom = max_depth(n_classes);
    ws.routes.resize(n_trees());
    ws.node_keys.clear();
    for (std::size_t t = 0; t < n_trees(); ++t) {
      Route& route = ws.routes[t];
      route.assign(1, {static_cast<NodeId>(t), 1});
      for (std::uint32_t d = 0; d < bottom; ++d) {
        RouteStep& step = route.back();
        step.margin = margin(step.node, step.place, t, ws);
        const bool right = step.margin > 0.0f;
        const NodeId next = self().tree().child(step.node, right);
        if (next == kNoNode) break;
        if (stops_early() && recall(step.node, decay_unit) > recall(next, decay_unit)) break;
        const std::uint64_t place = 2 * step.place + right;
        route.push_back({next, place});
      }
      route.back().is_last = route.size() == bottom + 1;
      ws.node_keys.push_back({route.back().node, 1.0f});
    }
    if (!stops_early())
      for (std::size_t t = 0; t < n_trees(); ++t) find_second_key(bottom, t, ws);
  }

  // Calls vote(label, vote) for the labels of a node, and returns how many they were.
  template <class Vote>
  RECALLTREE_INLINE std::size_t vote(const NodeKey& key, Vote vote) const {
    return self().with_histogram(key.node, [&](const auto& histogram) {
      const double total = histogram.total();
      const float scale = total > 0.0 ? static_cast<float>(key.trust / std::sqrt(total)) : 0.0f;
      return histogram.visit([&](ClassId label, float root) { vote(label, scale * root); });
    });
  }

 private:
  const Forest& self() const { return static_cast<const Forest&>(*this); }

  float margin(NodeId n, std::uint64_t place, std::size_t tree, VotingWorkspace& ws) const {
    ++ws.work.router_evaluations;
    const float begun = random_margin(place, tree, ws);
    const ModelId router = self().tree().router(n);
    return router < self().routers().size() ? begun + self().routers().score(router, ws.x) : begun;
  }
  double recall(NodeId n, double decay_unit) const {
    return self().with_histogram(
        n, [&](const auto& histogram) { return recall_bound(histogram, decay_unit); });
  }

  // Behind the least sure router that has another side.
  void find_second_key(std::uint32_t bottom, std::size_t tree, VotingWorkspace& ws) const {
    const Route& route = ws.routes[tree];
    std::size_t least = route.size();
    for (std::size_t i = 0; i < route.size(); ++i)
      if (!route[i].is_last &&
          self().tree().child(route[i].node, route[i].margin <= 0.0f) != kNoNode &&
          (least == route.size() || std::fabs(route[i].margin) < std::fabs(route[least].margin)))
        least = i;
    if (least == route.size()) return;
    bool right = route[least].margin <= 0.0f;
    NodeId node = self().tree().child(route[least].node, right);
    std::uint64_t place = 2 * route[least].place + right;
    for (std::size_t depth = least + 1; depth < bottom; ++depth) {
      right = margin(node, place, tree, ws) > 0.0f;
      const NodeId next = self().tree().child(node, right);
      if (next == kNoNode) break;
      node = next;
      place = 2 * place + right;
    }
    // The odds of the other side, as the router sees them.
    ws.node_keys.push_back({node, std::exp(-std::fabs(route[least].margin))});
  }
};

}  // namespace recalltree
