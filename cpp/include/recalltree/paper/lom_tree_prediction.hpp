// Prediction with a LOMTree, whatever it is stored in. Model is the learner or the mapped file,
// Base what it is beside that. A model has
//   root(), n_nodes(), is_leaf(n), child(n, right), router(n), majority(n), routers()
//   leaf_counts(n, out)   a leaf's labels and counts in order of arrival
//   prefetch_labels(n)
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "recalltree/model/predictor.hpp"
#include "recalltree/paper/descent.hpp"

namespace recalltree {

struct LOMTreeWorkspace : Workspace {
  std::vector<NodeId> route;
  std::vector<std::pair<ClassId, double>> ranked;  // classes of a leaf
  // Used by learning: margins on the route, as prediction sees the example and as it is learned.
  std::vector<float> shadow_margins, margins;
  LookupCache routers_found;
};

template <class Model, class Base>
class LOMTreePrediction : public Base {
 public:
  using Base::Base;
  using RankedLabels = std::vector<std::pair<ClassId, double>>;

  void route(const Rows& rows, std::size_t i, std::vector<NodeId>& route) const {
    Example x;
    this->read(rows, i, x);
    descend(route, [&](NodeId n) { return margin(n, x); });
  }
  // A leaf's classes, the majority first, then by count, ties in order of arrival.
  RankedLabels leaf_labels(NodeId leaf) const {
    RankedLabels ranked;
    rank_labels(leaf, ranked);
    return ranked;
  }

 protected:
  std::unique_ptr<Workspace> make_workspace() const override {
    return std::make_unique<LOMTreeWorkspace>();
  }
  void score(const Rows& rows, std::size_t i, Workspace& base) const override {
    auto& ws = static_cast<LOMTreeWorkspace&>(base);
    this->read(rows, i, ws.x);
    descend(ws.route, [&](NodeId n) { return margin(n, ws.x); });
    ws.work.router_evaluations += ws.route.size() - 1;
    score_leaf(ws.route.back(), ws);
  }

  std::size_t rows_at_once() const override { return std::size_t{1} << 12; }
  void prepare_prediction(std::size_t, std::size_t n_in_all, Team) const override {
    self().routers().prepare_for(n_in_all, ReadWeights::Asked::one_by_one);
  }
  void score_rows(const Rows& rows, std::size_t begin, std::size_t end, Workspace& base,
                  const typename Base::Emit& emit) const override {
    auto& ws = static_cast<LOMTreeWorkspace&>(base);
    ws.work.router_evaluations +=
        Descent(self().routers())
            .run(
                begin, end, self().root(),
                [&](std::size_t row, Example& x) { this->read(rows, row, x); },
                [&](NodeId n) { return self().is_leaf(n); },
                [&](NodeId n) { return self().router(n); },
                [&](NodeId n, float f) { return self().child(n, f > 0.0f); },
                [&](std::size_t first, const std::vector<NodeId>& nodes) {
                  for (const NodeId n : nodes) self().prefetch_labels(n);
                  for (std::size_t e = 0; e < nodes.size(); ++e) {
                    score_leaf(nodes[e], ws);
                    emit(first + e, ws.labels.data(), ws.scores.data(), ws.labels.size());
                  }
                });
  }

  // Down to a leaf; margin_of(node) is asked on the way. The route ends at the leaf.
  template <class MarginOf>
  void descend(std::vector<NodeId>& route, MarginOf margin_of) const {
    NodeId n = self().root();
    route.assign(1, n);
    while (!self().is_leaf(n)) {
      n = self().child(n, margin_of(n) > 0.0f);
      if (n == kNoNode) return;
      route.push_back(n);
    }
  }

 private:
  const Model& self() const { return static_cast<const Model&>(*this); }

  float margin(NodeId n, const Example& x) const {
    const ModelId router = self().router(n);
    return router < self().routers().size() ? self().routers().score(router, x) : 0.0f;
  }

  // A leaf's classes into ws.labels and ws.scores.
  void score_leaf(NodeId leaf, LOMTreeWorkspace& ws) const {
    rank_labels(leaf, ws.ranked);
    ws.labels.clear();
    ws.scores.clear();
    for (const auto& [label, count] : ws.ranked) {
      ws.labels.push_back(label);
      ws.scores.push_back(static_cast<float>(count));
    }
  }

  void rank_labels(NodeId n, RankedLabels& ranked) const {
    ranked.clear();
    if (self().is_leaf(n)) self().leaf_counts(n, ranked);
    const ClassId majority = self().majority(n);
    if (ranked.size() > 1)
      std::stable_sort(ranked.begin(), ranked.end(), [&](const auto& a, const auto& b) {
        return a.second > b.second ||
               (a.second == b.second && a.first == majority && b.first != majority);
      });
    if (ranked.empty() && majority != kNoClass) ranked.emplace_back(majority, 1.0);
  }
};

}  // namespace recalltree
