// What follows from the parameters of trees that vote, for those that learn and for those that are
// mapped.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "recalltree/base/config.hpp"
#include "recalltree/base/example.hpp"
#include "recalltree/base/types.hpp"
#include "recalltree/paper/criteria.hpp"
#include "recalltree/voting/voting_workspace.hpp"

namespace recalltree {

class ForestRules {
 public:
  explicit ForestRules(const OneAgainstSomeConfig& config);

  std::size_t n_trees() const { return n_trees_; }
  std::uint32_t max_labels() const { return max_labels_; }  // in the histogram of a node
  bool stops_early() const { return stops_early_; }
  std::uint32_t max_depth(std::size_t n_classes) const;

  // The route of prediction in every tree, and the nodes that vote: those where routes end, then
  // the second ones. Of a node: child(node, right) or kNoNode; margin(node, margin at which its
  // router began); recall(node), the bound.
  template <class Child, class Margin, class Recall>
  void descend(const Example& x, std::size_t n_classes, VotingWorkspace& v, Work& work, Child child,
               Margin margin, Recall recall) const {
    const std::uint32_t bottom = max_depth(n_classes);
    v.routes.resize(n_trees_);
    v.node_keys.clear();
    for (std::size_t t = 0; t < n_trees_; ++t) {
      Route& route = v.routes[t];
      route.assign(1, {static_cast<NodeId>(t), 1});
      for (std::uint32_t d = 0; d < bottom; ++d) {
        RouteStep& step = route.back();
        step.margin = margin(step.node, random_margin(step.place, t, x, v));
        ++work.router_evaluations;
        const bool right = step.margin > 0.0f;
        const NodeId next = child(step.node, right);
        if (next == kNoNode) break;
        if (stops_early_ && recall(step.node) > recall(next)) break;
        const std::uint64_t place = 2 * step.place + right;
        route.push_back({next, place});
      }
      route.back().is_last = route.size() == bottom + 1;
      v.node_keys.push_back({route.back().node, 1.0f});
    }
    if (!stops_early_)
      for (std::size_t t = 0; t < n_trees_; ++t)
        find_second_key(x, bottom, t, v, work, child, margin);
  }

  // What a key with this total votes for a label, over the root of the label's count.
  static float vote_scale(const NodeKey& key, double total) {
    return total > 0.0 ? static_cast<float>(key.trust / std::sqrt(total)) : 0.0f;
  }
  // The bound of recall of a node whose histogram lists so many labels, with this mass, of
  // examples with this total. As long as there is room for more, all labels are there.
  double recall_bound(std::size_t n_labels, double mass, double total, double unit) const {
    const bool is_all = n_labels < max_labels_ || mass >= total;
    return recall_lower_bound(is_all ? 1.0 : mass / total, total / unit, bound_lambda_);
  }

 private:
  float random_margin(std::uint64_t place, std::size_t tree, const Example& x,
                      VotingWorkspace& v) const;
  std::uint64_t seed_of(std::uint64_t place, std::size_t tree) const;
  Hyperplane hyperplane(std::uint64_t place, std::size_t tree) const;

  // Behind the least sure router that has another side.
  template <class Child, class Margin>
  void find_second_key(const Example& x, std::uint32_t bottom, std::size_t tree, VotingWorkspace& v,
                       Work& work, Child child, Margin margin) const {
    const Route& route = v.routes[tree];
    std::size_t least = route.size();
    for (std::size_t i = 0; i < route.size(); ++i)
      if (!route[i].is_last && child(route[i].node, route[i].margin <= 0.0f) != kNoNode &&
          (least == route.size() || std::fabs(route[i].margin) < std::fabs(route[least].margin)))
        least = i;
    if (least == route.size()) return;
    bool right = route[least].margin <= 0.0f;
    NodeId node = child(route[least].node, right);
    std::uint64_t place = 2 * route[least].place + right;
    for (std::size_t depth = least + 1; depth < bottom; ++depth) {
      right = margin(node, random_margin(place, tree, x, v)) > 0.0f;
      ++work.router_evaluations;
      const NodeId next = child(node, right);
      if (next == kNoNode) break;
      node = next;
      place = 2 * place + right;
    }
    // The odds of the other side, as the router sees them.
    v.node_keys.push_back({node, std::exp(-std::fabs(route[least].margin))});
  }

  LearnerConfig learner_;
  std::size_t n_trees_;
  std::uint32_t max_labels_, max_depth_;
  bool stops_early_;  // where recall would get worse, as in the paper
  double bound_lambda_;
  std::uint64_t seed_;
};

}  // namespace recalltree
