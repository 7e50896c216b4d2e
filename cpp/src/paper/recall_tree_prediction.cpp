// Prediction, line for line as in figure 1 of the paper: Recall_Tree_Test.
#include <algorithm>
#include <numeric>

#include "recalltree/paper/descent.hpp"
#include "recalltree/paper/recall_tree.hpp"

namespace recalltree {

float RecallTree::margin(NodeId n, const Example& x, bool shared, Found* found) const {
  const RowId router = tree_[n].router.load(std::memory_order_acquire);
  if (found == nullptr) return router == kNoRow ? 0.0f : routers_->score(router, x, shared);
  float f = 0.0f;
  if (router == kNoRow)
    found->add_rows(1);
  else
    routers_->scores(&router, 1, x, &f, *found);
  return f;
}

float RecallTree::margin_again(NodeId n, const Example& x, const Found& found,
                               std::size_t place) const {
  const RowId router = tree_[n].router.load(std::memory_order_relaxed);
  float f = 0.0f;
  if (router != kNoRow) routers_->scores_again(&router, 1, x, &f, found, place);
  return f;
}

double RecallTree::recall(NodeId n, std::uint32_t max_candidates, double unit, bool shared) const {
  Node& node = const_cast<Node&>(tree_[n]);  // locked, and fitted only while learning
  SpinLock::Guard guard(node.lock, shared);
  node.histogram.fit(max_candidates);
  return recall_lower_bound(node.histogram.recall(), node.histogram.total() / unit,
                            recall_config_.bound_lambda);
}

void RecallTree::descend(const Example& x, const Limits& limits, double unit,
                         std::vector<NodeId>& route, std::vector<float>& margins, bool shared,
                         Found* found) const {
  NodeId n = 0;
  route.assign(1, n);
  double recall_n = recall(n, limits.max_candidates, unit, shared);
  while (tree_[n].depth < limits.max_depth) {
    const float f = margin(n, x, shared, found);
    margins.push_back(f);
    const NodeId r = tree_.child(n, f > 0.0f);
    if (r == kNoNode) break;
    const double recall_r = recall(r, limits.max_candidates, unit, shared);
    if (recall_n > recall_r) break;
    n = r;
    recall_n = recall_r;
    route.push_back(n);
  }
}

bool RecallTree::gather_candidates(NodeId n, std::uint32_t max_candidates, ClassId y, Workspace& ws,
                                   bool shared) const {
  ws.candidates.clear();
  Node& node = const_cast<Node&>(tree_[n]);  // as in recall()
  {
    SpinLock::Guard guard(node.lock, shared);
    ws.work.histogram_touches += node.histogram.fit(max_candidates);
    if (y != kNoClass && !node.histogram.is_candidate(y)) return false;
    node.histogram.candidates(ws.candidates);
  }
  ws.rows.resize(ws.candidates.size());
  for (std::size_t i = 0; i < ws.candidates.size(); ++i) ws.rows[i] = ws.candidates[i].label;
  return true;
}

void RecallTree::score_candidates(const Example& x, const std::vector<NodeId>& route, Workspace& ws,
                                  bool shared, Found* found) const {
  const std::size_t n = ws.rows.size();
  ws.scores.resize(n);
  ws.extra.resize(n);
  if (found != nullptr)
    predictors_->scores(ws.rows.data(), n, x, ws.scores.data(), *found);
  else
    predictors_->scores(ws.rows.data(), n, x, ws.scores.data(), shared);
  path_features(route, ws.path);
  if (ws.path.keys.empty()) return;
  path_weights_.scores(ws.rows.data(), n, ws.path, ws.extra.data(), shared);
  for (std::size_t i = 0; i < n; ++i) ws.scores[i] += ws.extra[i];
  if (!recall_config_.path_interactions) return;
  for (const NodeId node : ws.path.keys)
    for (std::size_t i = 0; i < n; ++i)
      if (const RowId row = interaction_row(ws.rows[i], node); row != kNoRow)
        ws.scores[i] += interactions_->score(row, x, shared);
}

bool RecallTree::wins(ClassId y, double added, const Workspace& ws) {
  // Ties go to the better candidate, as in prediction, where candidates are sorted.
  std::size_t best = 0;
  const auto candidate = [&](std::size_t i) {
    LabelHistogram::Candidate c = ws.candidates[i];
    if (c.label == y) c.count -= added;
    return c;
  };
  for (std::size_t i = 1; i < ws.candidates.size(); ++i)
    if (ws.scores[i] > ws.scores[best] ||
        (ws.scores[i] == ws.scores[best] && LabelHistogram::better(candidate(i), candidate(best))))
      best = i;
  return ws.candidates[best].label == y;
}

// What prediction needs of each node, side by side: candidates in order and the sum of their path
// weights. Worth building when there are more rows to predict than nodes.
struct RecallTree::Packed {
  std::vector<double> recall;
  std::vector<std::uint32_t> offsets{0};
  std::vector<ClassId> labels;
  std::vector<float> path_scores;

  const ClassId* labels_of(NodeId n) const { return labels.data() + offsets[n]; }
  std::size_t n_labels(NodeId n) const { return offsets[n + 1] - offsets[n]; }
};

std::shared_ptr<const void> RecallTree::prepare_prediction(std::size_t n_rows) const {
  if (n_rows < tree_.size() || recall_config_.path_interactions) return nullptr;
  auto packed = std::make_shared<Packed>();
  const double unit = inflation(static_cast<double>(n_examples_) - 1);
  Workspace ws;
  for (NodeId n = 0; n < tree_.size(); ++n) {
    packed->recall.push_back(recall(n, fitted_candidates_, unit, false));
    ws.route.clear();
    for (NodeId up = n; up != kNoNode; up = tree_[up].parent) ws.route.insert(ws.route.begin(), up);
    gather_candidates(n, fitted_candidates_, kNoClass, ws, false);
    std::sort(ws.candidates.begin(), ws.candidates.end(), LabelHistogram::better);
    ws.rows.clear();
    for (const auto& c : ws.candidates) ws.rows.push_back(c.label);
    path_features(ws.route, ws.path);
    ws.scores.assign(ws.rows.size(), 0.0f);
    if (!ws.path.keys.empty())
      path_weights_.scores(ws.rows.data(), ws.rows.size(), ws.path, ws.scores.data(), false);
    packed->labels.insert(packed->labels.end(), ws.rows.begin(), ws.rows.end());
    packed->path_scores.insert(packed->path_scores.end(), ws.scores.begin(), ws.scores.end());
    packed->offsets.push_back(static_cast<std::uint32_t>(packed->labels.size()));
  }
  return packed;
}

void RecallTree::score(const Rows& rows, std::size_t i, Workspace& ws) const {
  learner_.scale.read(rows, i, ws.x);
  const Limits now = limits(n_classes_seen());
  ws.shadow_margins.clear();
  descend(ws.x, now, inflation(static_cast<double>(n_examples_) - 1), ws.route, ws.shadow_margins,
          false);
  ws.work.router_evaluations += ws.shadow_margins.size();
  gather_candidates(ws.route.back(), now.max_candidates, kNoClass, ws, false);
  std::sort(ws.candidates.begin(), ws.candidates.end(), LabelHistogram::better);
  ws.labels.clear();
  for (const auto& c : ws.candidates) ws.labels.push_back(c.label);
  ws.rows = ws.labels;
  score_candidates(ws.x, ws.route, ws, false);
  ws.work.predictor_evaluations += ws.labels.size();
}

// Rows that stop at the same node have the same candidates, so they are scored as a group.
void RecallTree::score_rows(const Rows& rows, std::size_t begin, std::size_t end, Workspace& ws,
                            const Emit& emit) const {
  const auto* packed = static_cast<const Packed*>(ws.prepared);
  if (packed == nullptr) return Learner::score_rows(rows, begin, end, ws, emit);
  const std::vector<NodeId> stops = stops_of(rows, begin, end, *packed, ws);
  std::vector<std::size_t> order(stops.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return stops[a] < stops[b]; });
  const auto read = [&](std::size_t e, Example& x) {
    learner_.scale.read(rows, begin + order[e], x);
  };
  // Scores that are kept at a time: enough for the rows of many nodes, little beside the weights.
  const std::size_t at_once = std::max(std::size_t{1} << 16, predictors_->bytes() / 128);
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
    predictors_->score_groups(groups, read, ws.scores.data());
    ws.work.predictor_evaluations += n_scores;
    float* scores = ws.scores.data();
    for (const ExampleGroup& group : groups) {
      const NodeId n = stops[order[group.begin]];
      for (std::size_t e = group.begin; e < group.end; ++e, scores += group.n) {
        // A path of no features adds nothing, and adding 0 would turn -0 into 0.
        if (n != 0 && recall_config_.path_features != PathFeatures::none)
          for (std::size_t k = 0; k < group.n; ++k)
            scores[k] += packed->path_scores[packed->offsets[n] + k];
        emit(begin + order[e], group.rows, scores, group.n);
      }
    }
  }
}

// The node where each row stops.
std::vector<NodeId> RecallTree::stops_of(const Rows& rows, std::size_t begin, std::size_t end,
                                         const Packed& packed, Workspace& ws) const {
  const std::uint32_t max_depth = limits(n_classes_seen()).max_depth;
  std::vector<NodeId> stops;
  Descent descent;
  for (; begin < end; begin += descent.nodes.size()) {
    descent.read(end - begin,
                 [&](std::size_t e, Example& x) { learner_.scale.read(rows, begin + e, x); });
    ws.work.router_evaluations += descent.run(
        0, *routers_, [&](NodeId n) { return tree_[n].depth >= max_depth; },
        [&](NodeId n) { return tree_[n].router.load(std::memory_order_relaxed); },
        [&](NodeId n, float f) {
          const NodeId r = tree_.child(n, f > 0.0f);
          return r == kNoNode || packed.recall[n] > packed.recall[r] ? kNoNode : r;
        });
    stops.insert(stops.end(), descent.nodes.begin(), descent.nodes.end());
  }
  return stops;
}

void RecallTree::route(const Rows& rows, std::size_t i, std::vector<NodeId>& route) const {
  Workspace ws;
  learner_.scale.read(rows, i, ws.x);
  descend(ws.x, limits(n_classes_seen()), inflation(static_cast<double>(n_examples_) - 1), route,
          ws.shadow_margins, false);
}

}  // namespace recalltree
