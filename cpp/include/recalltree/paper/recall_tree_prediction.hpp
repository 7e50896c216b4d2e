// Prediction with a Recall Tree, line for line as in figure 1 of the paper, whatever the tree is
// stored in. Model is the learner or the mapped file, Base what it is beside that. A model has
//   config(), decay_unit()
//   tree()              size, child, parent, depth, router, total, n_labels, recall of a node, and
//                       candidates(n, F, out), ranked(n, out): its labels in candidate order
//   predictors(), routers(), path_weights(), interactions()
//   interaction_model(class, node)
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <memory>
#include <mutex>
#include <numeric>
#include <vector>

#include "recalltree/base/config.hpp"
#include "recalltree/base/example.hpp"
#include "recalltree/base/thread_team.hpp"
#include "recalltree/model/predictor.hpp"
#include "recalltree/paper/criteria.hpp"
#include "recalltree/paper/descent.hpp"
#include "recalltree/paper/label_histogram.hpp"

namespace recalltree {

// F and the maximum depth.
struct Limits {
  std::uint32_t max_candidates, max_depth;
};

inline Limits limits_of(const RecallTreeConfig& config, std::size_t n_classes) {
  const auto log2_floor = [](std::size_t k) {
    return k <= 1 ? 0u : static_cast<std::uint32_t>(std::bit_width(k) - 1);
  };
  const std::uint32_t log2_ceil = n_classes <= 1 ? 0 : log2_floor(n_classes - 1) + 1;
  const std::uint32_t set = std::min(config.max_candidates, LabelHistogram::kMaxCandidates);
  // Depth is rounded down: there are always fewer routers than classes.
  return {set ? set : std::max(1u, 4 * log2_ceil),
          config.max_depth ? config.max_depth : std::max(1u, log2_floor(n_classes))};
}

// Counts are kept in growing units instead of letting the old ones fade: an example learned as the
// n-th adds its weight times this.
inline double decay_unit_of(const RecallTreeConfig& config, double decay_origin, double n) {
  if (config.count_decay <= 0.0) return 1.0;
  return std::exp2((n - decay_origin) / config.count_decay);
}

// Features of a route, for the class predictors.
inline void path_features_of(const RecallTreeConfig& config, const std::vector<NodeId>& route,
                             Example& path) {
  path.features.clear();
  if (config.path_features == PathFeatures::path)
    path.features.assign(route.begin() + 1, route.end());
  else if (config.path_features == PathFeatures::leaf && route.size() > 1)
    path.features.assign(1, route.back());
  path.values.assign(path.features.size(), 1.0f);
}

// Figure 1: down from the root while the bound of recall does not fall. margin(n) is the router's,
// recall(n) the bound. The route ends at the node where the descent stops.
template <class Tree, class Margin, class Recall>
void descend(const Tree& tree, std::uint32_t max_depth, Margin margin, Recall recall,
             std::vector<NodeId>& route) {
  NodeId n = 0;
  route.assign(1, n);
  double recall_n = recall(n);
  while (tree.depth(n) < max_depth && route.size() <= max_depth) {
    const NodeId r = tree.child(n, margin(n) > 0.0f);
    if (r == kNoNode) break;
    const double recall_r = recall(r);
    if (recall_n > recall_r) break;
    n = r;
    recall_n = recall_r;
    route.push_back(n);
  }
}

// A node as it can be seen from outside.
struct NodeSummary {
  NodeId left, right, parent;
  std::uint32_t depth;
  ModelId router;
  std::size_t n_labels;
  double total, recall_bound;  // with decay applied
};

// The nodes side by side: bounds of recall, candidates in order and the sums of their path weights.
// Built for as many rows as there are nodes, in one batch or in several between which nothing was
// learned.
struct PackedNodes {
  std::vector<double> recall;
  std::vector<std::uint32_t> offsets{0};
  std::vector<ClassId> labels;
  std::vector<float> path_scores;

  const ClassId* labels_of(NodeId n) const { return labels.data() + offsets[n]; }
  std::size_t n_labels(NodeId n) const { return offsets[n + 1] - offsets[n]; }
  std::size_t bytes() const {
    return recall.size() * sizeof(double) + labels.size() * (sizeof(ClassId) + sizeof(float)) +
           offsets.size() * sizeof(std::uint32_t);
  }
};

struct RecallTreeWorkspace : Workspace {
  std::vector<NodeId> route;
  std::vector<LabelHistogram::Candidate> candidates;
  Example path;
  std::vector<float> path_scores;             // by candidate
  std::shared_ptr<const PackedNodes> packed;  // of a prediction over many rows
  // Used by learning: the route that prediction would take, and what was looked up.
  std::vector<NodeId> shadow_route;
  std::vector<float> shadow_margins;
  std::vector<double> counts_before;                 // of the example's labels where it ends
  std::vector<LabelHistogram::Candidate> predicted;  // its candidates, if there are several labels
  LookupCache routers_found, predictors_found, path_found;
  std::vector<double> gradients;                         // by candidate
  std::vector<std::vector<ModelId>> interaction_models;  // by path feature
};

template <class Model, class Base>
class RecallTreePrediction : public Base {
 public:
  using Base::Base;

  Limits limits(std::size_t n_classes) const { return limits_of(self().config(), n_classes); }
  std::size_t n_nodes() const { return self().tree().size(); }
  ModelId router(NodeId n) const { return self().tree().router(n); }  // kNoModel if there is none
  NodeSummary node(NodeId n) const {
    const auto& tree = self().tree();
    return {tree.child(n, false),
            tree.child(n, true),
            tree.parent(n),
            tree.depth(n),
            tree.router(n),
            tree.n_labels(n),
            tree.total(n) / self().decay_unit(),
            recall_bound(n)};
  }
  // Labels in the order of candidates, with decayed counts.
  std::vector<LabelHistogram::Candidate> ranked_labels(NodeId n) const {
    std::vector<LabelHistogram::Candidate> all;
    self().tree().ranked(n, all);
    for (auto& c : all) c.count /= self().decay_unit();
    return all;
  }
  void path_features(const std::vector<NodeId>& route, Example& path) const {
    path_features_of(self().config(), route, path);
  }
  void route(const Rows& rows, std::size_t i, std::vector<NodeId>& route) const {
    Example x;
    this->read(rows, i, x);
    descend_with(x, route);
  }

  std::size_t packed_bytes() const {
    std::lock_guard packing(packing_);
    return packed_ != nullptr ? packed_->bytes() : 0;
  }

 protected:
  std::unique_ptr<Workspace> make_workspace() const override {
    return std::make_unique<RecallTreeWorkspace>();
  }
  void score(const Rows& rows, std::size_t i, Workspace& base) const override {
    auto& ws = static_cast<RecallTreeWorkspace&>(base);
    this->read(rows, i, ws.x);
    ws.work.router_evaluations += descend_with(ws.x, ws.route);
    gather_candidates(ws.route.back(), ws);
    score_candidates(ws.x, ws.route, ws);
    ws.work.predictor_evaluations += ws.labels.size();
  }

  // The more rows there are, the more of them stop at the same node.
  std::size_t rows_at_once() const override { return std::size_t{1} << 18; }
  void prepare_prediction(std::size_t n_rows, std::size_t n_in_all, Team team) const override;
  void score_rows(const Rows& rows, std::size_t begin, std::size_t end, Workspace& ws,
                  const typename Base::Emit& emit) const override;

 private:
  const Model& self() const { return static_cast<const Model&>(*this); }

  double recall_bound(NodeId n) const {
    const auto& tree = self().tree();
    const std::uint32_t max_candidates = limits(this->n_classes_seen()).max_candidates;
    return recall_lower_bound(tree.recall(n, max_candidates), tree.total(n) / self().decay_unit(),
                              self().config().bound_lambda);
  }

  // Returns how many routers were evaluated.
  std::size_t descend_with(const Example& x, std::vector<NodeId>& route) const {
    std::size_t evaluated = 0;
    const auto margin = [&](NodeId n) {
      ++evaluated;
      const ModelId router = self().tree().router(n);
      return router < self().routers().size() ? self().routers().score(router, x) : 0.0f;
    };
    descend(
        self().tree(), limits(this->n_classes_seen()).max_depth, margin,
        [&](NodeId n) { return recall_bound(n); }, route);
    return evaluated;
  }

  // Into ws.labels.
  void gather_candidates(NodeId n, RecallTreeWorkspace& ws) const {
    self().tree().candidates(n, limits(this->n_classes_seen()).max_candidates, ws.candidates);
    ws.labels.clear();
    for (const auto& c : ws.candidates) ws.labels.push_back(c.label);
  }

  // Scores of ws.labels at the end of a route, into ws.scores.
  void score_candidates(const Example& x, const std::vector<NodeId>& route,
                        RecallTreeWorkspace& ws) const {
    ws.scores.resize(ws.labels.size());
    self().predictors().scores(ws.labels.data(), ws.labels.size(), x, ws.scores.data());
    add_path_scores(x, route, ws);
  }

 protected:
  // Adds what the route says of ws.labels to ws.scores.
  void add_path_scores(const Example& x, const std::vector<NodeId>& route,
                       RecallTreeWorkspace& ws) const {
    const std::size_t n = ws.labels.size();
    path_features(route, ws.path);
    if (ws.path.features.empty()) return;
    ws.path_scores.resize(n);
    self().path_weights().scores(ws.labels.data(), n, ws.path, ws.path_scores.data());
    for (std::size_t i = 0; i < n; ++i) ws.scores[i] += ws.path_scores[i];
    if (!self().config().path_interactions) return;
    for (const NodeId node : ws.path.features)
      for (std::size_t i = 0; i < n; ++i)
        if (const ModelId model = self().interaction_model(ws.labels[i], node); model != kNoModel)
          ws.scores[i] += self().interactions().score(model, x);
  }

 private:
  std::vector<NodeId> stops_of(const Rows& rows, std::size_t begin, std::size_t end,
                               const PackedNodes& packed, RecallTreeWorkspace& ws) const;
  std::shared_ptr<const PackedNodes> pack_nodes(std::size_t n_threads) const;
  void pack_node(NodeId n, RecallTreeWorkspace& ws) const;

  mutable std::mutex packing_;
  mutable std::shared_ptr<const PackedNodes> packed_;
  mutable std::size_t n_rows_predicted_ = 0;  // since this many examples had been learned:
  mutable std::uint64_t n_learned_ = 0;
};

template <class Model, class Base>
void RecallTreePrediction<Model, Base>::prepare_prediction(std::size_t n_rows, std::size_t n_in_all,
                                                           Team team) const {
  self().predictors().prepare_for(n_in_all, ReadWeights::Asked::together);
  self().routers().prepare_for(n_in_all, ReadWeights::Asked::one_by_one);
  if (self().config().path_interactions) return;
  std::lock_guard packing(packing_);
  if (n_learned_ != this->n_examples()) {
    packed_ = nullptr;
    n_rows_predicted_ = 0;
    n_learned_ = this->n_examples();
  }
  n_rows_predicted_ += n_rows;
  if (packed_ == nullptr && n_rows_predicted_ >= n_nodes()) packed_ = pack_nodes(team.size());
  for (const auto& each : team) static_cast<RecallTreeWorkspace&>(*each).packed = packed_;
}

// Pieces of the nodes, each by one thread; then their lists are put one after the other.
template <class Model, class Base>
std::shared_ptr<const PackedNodes> RecallTreePrediction<Model, Base>::pack_nodes(
    std::size_t n_threads) const {
  constexpr std::size_t kNodesInPiece = 64;
  struct Piece {
    std::vector<ClassId> labels;
    std::vector<float> path_scores;
  };
  const std::size_t n = n_nodes();
  std::vector<Piece> packed_pieces((n + kNodesInPiece - 1) / kNodesInPiece);
  auto packed = std::make_shared<PackedNodes>();
  packed->recall.resize(n);
  packed->offsets.resize(n + 1);
  ThreadTeam threads(std::clamp<std::size_t>(packed_pieces.size(), 1, n_threads));
  Pieces pieces(n, kNodesInPiece);
  threads.run([&](std::size_t) {
    RecallTreeWorkspace ws;
    for (std::size_t begin, end; pieces.next(begin, end);)
      for (std::size_t node = begin; node < end; ++node) {
        Piece& piece = packed_pieces[begin / kNodesInPiece];
        packed->recall[node] = recall_bound(static_cast<NodeId>(node));
        pack_node(static_cast<NodeId>(node), ws);
        packed->offsets[node + 1] = static_cast<std::uint32_t>(ws.labels.size());
        piece.labels.insert(piece.labels.end(), ws.labels.begin(), ws.labels.end());
        piece.path_scores.insert(piece.path_scores.end(), ws.scores.begin(), ws.scores.end());
      }
  });
  for (std::size_t node = 0; node < n; ++node) packed->offsets[node + 1] += packed->offsets[node];
  packed->labels.resize(packed->offsets[n]);
  packed->path_scores.resize(packed->offsets[n]);
  Pieces copies(packed_pieces.size(), 1);
  threads.run([&](std::size_t) {
    for (std::size_t i, end; copies.next(i, end);) {
      const auto at = static_cast<std::ptrdiff_t>(packed->offsets[i * kNodesInPiece]);
      const Piece& piece = packed_pieces[i];
      std::copy(piece.labels.begin(), piece.labels.end(), packed->labels.begin() + at);
      std::copy(piece.path_scores.begin(), piece.path_scores.end(),
                packed->path_scores.begin() + at);
    }
  });
  return packed;
}

// Candidates of a node, and the sums of their path weights, into ws.labels and ws.scores.
template <class Model, class Base>
void RecallTreePrediction<Model, Base>::pack_node(NodeId n, RecallTreeWorkspace& ws) const {
  ws.route.clear();
  for (NodeId up = n; up != kNoNode; up = self().tree().parent(up))
    ws.route.insert(ws.route.begin(), up);
  gather_candidates(n, ws);
  path_features(ws.route, ws.path);
  ws.scores.assign(ws.labels.size(), 0.0f);
  if (!ws.path.features.empty())
    self().path_weights().scores(ws.labels.data(), ws.labels.size(), ws.path, ws.scores.data());
}

// Rows that stop at the same node have the same candidates, so they are scored as a group.
template <class Model, class Base>
void RecallTreePrediction<Model, Base>::score_rows(const Rows& rows, std::size_t begin,
                                                   std::size_t end, Workspace& base,
                                                   const typename Base::Emit& emit) const {
  auto& ws = static_cast<RecallTreeWorkspace&>(base);
  const PackedNodes* const packed = ws.packed.get();
  if (packed == nullptr) return Base::score_rows(rows, begin, end, ws, emit);
  const std::vector<NodeId> stops = stops_of(rows, begin, end, *packed, ws);
  std::vector<std::size_t> order(stops.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return stops[a] < stops[b]; });
  const auto read = [&](std::size_t e, Example& x) { this->read(rows, begin + order[e], x); };
  // Scores that are kept at a time: enough for the rows of many nodes, little beside the weights.
  const std::size_t at_once = std::max(std::size_t{1} << 16, self().predictors().bytes() / 128);
  std::vector<ExampleGroup> groups;
  for (std::size_t next = 0; next < order.size();) {
    groups.clear();
    std::size_t n_scores = 0;
    while (next < order.size() && n_scores < at_once) {
      const NodeId n = stops[order[next]];
      ExampleGroup group{packed->labels_of(n), packed->n_labels(n), next, next};
      for (; next < order.size() && stops[order[next]] == n && n_scores < at_once; ++next)
        n_scores += group.n;
      group.end = next;
      groups.push_back(group);
    }
    ws.scores.resize(n_scores);
    self().predictors().score_groups(groups, read, ws.scores.data());
    ws.work.predictor_evaluations += n_scores;
    float* scores = ws.scores.data();
    for (const ExampleGroup& group : groups) {
      const NodeId n = stops[order[group.begin]];
      for (std::size_t e = group.begin; e < group.end; ++e, scores += group.n) {
        // A path of no features adds nothing, and adding 0 would turn -0 into 0.
        if (n != 0 && self().config().path_features != PathFeatures::none)
          for (std::size_t k = 0; k < group.n; ++k)
            scores[k] += packed->path_scores[packed->offsets[n] + k];
        emit(begin + order[e], group.models, scores, group.n);
      }
    }
  }
}

// The node where each row stops.
template <class Model, class Base>
std::vector<NodeId> RecallTreePrediction<Model, Base>::stops_of(const Rows& rows, std::size_t begin,
                                                                std::size_t end,
                                                                const PackedNodes& packed,
                                                                RecallTreeWorkspace& ws) const {
  const std::uint32_t max_depth = limits(this->n_classes_seen()).max_depth;
  const auto& tree = self().tree();
  std::vector<NodeId> stops;
  ws.work.router_evaluations +=
      Descent(self().routers())
          .run(
              begin, end, 0, [&](std::size_t row, Example& x) { this->read(rows, row, x); },
              [&](NodeId n) { return tree.depth(n) >= max_depth; },
              [&](NodeId n) { return tree.router(n); },
              [&](NodeId n, float f) {
                const NodeId r = tree.child(n, f > 0.0f);
                return r == kNoNode || packed.recall[n] > packed.recall[r] ? kNoNode : r;
              },
              [&](std::size_t, const std::vector<NodeId>& nodes) {
                stops.insert(stops.end(), nodes.begin(), nodes.end());
              });
  return stops;
}

}  // namespace recalltree
