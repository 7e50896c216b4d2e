// Learning and prediction, line for line as in figures 1 and 2 of the paper.
#include "recalltree/recall_tree.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "recalltree/intended_race.hpp"

namespace recalltree {
namespace {

// Differences of entropies below this are rounding, not preference.
constexpr double kEntropyFloor = 1e-10;

}  // namespace

RecallTree::RecallTree(const RecallTreeConfig& config)
    : Learner(config.learner),
      recall_config_(config),
      predictors_(make_weights(config.learner, true)),
      routers_(make_weights(config.learner, true)),
      interactions_(make_weights(config.learner, false)),
      path_weights_(false) {}

// --- Figure 2 (left): Recall_Tree_Train
// ------------------------------------------------------------------------

void RecallTree::learn_one(const Rows& rows, std::size_t i, ClassId y, double weight, Workspace& ws,
                           bool shared) {
  learner_.scale.learn(rows, i, weight, ws.x);
  const auto learned = std::atomic_ref(n_examples_);
  const double t = static_cast<double>(shared ? learned.fetch_add(1) : n_examples_++);
  if (!shared) rebase_inflation(t);
  const Limits before = limits(n_classes_seen());
  see(y);
  const Limits now = limits(n_classes_seen());
  const double unit = inflation(t);

  // What predict would answer: its descent, on counts (and feature scales) that do not hold this
  // example yet. The margins are those that learning needs too, so this costs almost nothing.
  const Example& seen = ws.x.before(ws.before);
  const bool unchanged = &seen == &ws.x;
  ws.shadow_route.clear();
  ws.shadow_margins.clear();
  bool was_candidate = false;
  if (tree_.size() > 0) {
    descend(seen, before, inflation(t - 1), ws.shadow_route, ws.shadow_margins, shared);
    Node& stop = tree_[ws.shadow_route.back()];
    SpinLock::Guard guard(stop.lock, shared);
    ws.work.histogram_touches += 1 + stop.histogram.fit(before.max_candidates);
    was_candidate = stop.histogram.is_candidate(y);
  }

  std::size_t reused = 0;
  NodeId n = tree_.child_or_new(kNoNode, false, shared);
  ws.route.assign(1, n);
  double recall_n = update_candidates(n, y, weight, unit, now.max_candidates, ws, shared);
  NodeId last_counted = n;
  while (tree_[n].depth < now.max_depth) {
    const std::size_t level = ws.route.size() - 1;
    const bool known = unchanged && level < ws.shadow_margins.size() && ws.shadow_route[level] == n;
    reused += known;
    float f = known ? ws.shadow_margins[level] : margin(n, ws.x, shared);
    ++ws.work.router_evaluations;
    update_router(n, f, y, weight, unit, ws, shared);
    if (recall_config_.routing_order == RoutingOrder::update_first) {
      f = margin(n, ws.x, shared);
      ++ws.work.router_evaluations;
    }
    const NodeId r = tree_.child_or_new(n, f > 0.0f, shared);
    const double recall_r = update_candidates(r, y, weight, unit, now.max_candidates, ws, shared);
    last_counted = r;
    if (recall_n > recall_r) break;
    n = r;
    recall_n = recall_r;
    ws.route.push_back(n);
  }
  ws.work.progressive_evaluations += ws.shadow_margins.size() - reused;

  bool right = false;
  const bool same = unchanged && !ws.shadow_route.empty() && ws.shadow_route.back() == n &&
                    before.max_candidates == now.max_candidates;
  if (was_candidate && !same) {
    const NodeId stop = ws.shadow_route.back();
    const std::size_t level = ws.shadow_route.size() - 1;
    const bool counted =
        stop == last_counted || (level < ws.route.size() && ws.route[level] == stop);
    if (gather_candidates(stop, before.max_candidates, y, ws, shared)) {
      score_candidates(seen, ws.shadow_route, ws, shared);
      ws.work.progressive_evaluations += ws.candidates.size();
      right = wins(y, counted ? weight * unit : 0.0, ws);
    }
  }
  if (gather_candidates(n, now.max_candidates, y, ws, shared)) {
    score_candidates(ws.x, ws.route, ws, shared);
    ws.work.predictor_evaluations += ws.candidates.size();
    if (was_candidate && same) right = wins(y, weight * unit, ws);
    update_predictors(y, weight, ws.route, ws, shared);
  }
  ws.progress.count(weight, !right);
}

// --- Figure 2 (right): update_router
// ---------------------------------------------------------------------------

void RecallTree::update_router(NodeId n, float f, ClassId y, double weight, double unit,
                               Workspace& ws, bool shared) {
  struct Side {
    double total = 0.0, entropy = 0.0, entropy_with_y = 0.0;
  };
  const double added = weight * unit;
  const auto read = [&](bool right) {
    Side side;
    const NodeId child = tree_.child(n, right);
    if (child == kNoNode) return side;
    Node& node = tree_[child];
    SpinLock::Guard guard(node.lock, shared);
    ++ws.work.histogram_touches;
    side.total = node.histogram.total();
    side.entropy = node.histogram.entropy();
    side.entropy_with_y = node.histogram.entropy_with(node.histogram.count(y), added);
    return side;
  };
  const Side left = read(false), right = read(true);
  Node& node = tree_[n];
  double total;
  {
    SpinLock::Guard guard(node.lock, shared);
    total = node.histogram.total();
  }
  // The average entropy of the children if the example goes to one side: that side counts it in its
  // share, too.
  const double entropy_if_left =
      ((left.total + added) * left.entropy_with_y + right.total * right.entropy) / total;
  const double entropy_if_right =
      (left.total * left.entropy + (right.total + added) * right.entropy_with_y) / total;
  const double delta = entropy_if_left - entropy_if_right;
  if (std::fabs(delta) < kEntropyFloor) return;

  RowId router = node.router.load(std::memory_order_acquire);
  if (router == kNoRow) {
    SpinLock::Guard guard(node.lock, shared);
    router = node.router.load(std::memory_order_relaxed);
    if (router == kNoRow) {
      router = routers_->add_row();
      node.router.store(router, std::memory_order_release);
    }
  }
  const float target =
      delta > 0.0 ? 1.0f : -1.0f;  // the side with the lower entropy wins; positive is right
  double importance = weight;
  if (recall_config_.router_weighting == RouterWeighting::entropy)
    importance = weight * std::fabs(delta);
  if (recall_config_.router_weighting == RouterWeighting::total_entropy)
    importance = total / unit * std::fabs(delta);
  const Part part{routers_.get(), &router, &ws.x, true};
  learner_.learn({&part, 1}, 1, &f, &target, &importance, ws.x.rate, ws.learner, shared);
}

double RecallTree::update_candidates(NodeId n, ClassId y, double weight, double unit,
                                     std::uint32_t max_candidates, Workspace& ws, bool shared) {
  Node& node = tree_[n];
  SpinLock::Guard guard(node.lock, shared);
  ws.work.histogram_touches += node.histogram.add(y, weight * unit, max_candidates);
  return recall_lower_bound(node.histogram.recall(), node.histogram.total() / unit,
                            recall_config_.bound_lambda);
}

void RecallTree::update_predictors(ClassId y, double weight, const std::vector<NodeId>& route,
                                   Workspace& ws, bool shared) {
  const std::size_t n = ws.candidates.size();
  ws.targets.resize(n);
  ws.importance.assign(n, weight);
  for (std::size_t i = 0; i < n; ++i) ws.targets[i] = ws.rows[i] == y ? 1.0f : -1.0f;
  std::vector<Part> parts{{predictors_.get(), ws.rows.data(), &ws.x, true}};
  path_features(route, ws.path);
  if (!ws.path.keys.empty()) parts.push_back({&path_weights_, ws.rows.data(), &ws.path, false});
  if (recall_config_.path_interactions) {
    ws.interaction_rows.resize(std::max(ws.interaction_rows.size(), ws.path.keys.size()));
    for (std::size_t k = 0; k < ws.path.keys.size(); ++k) {
      auto& rows = ws.interaction_rows[k];
      rows.resize(n);
      for (std::size_t i = 0; i < n; ++i)
        rows[i] = interaction_row_or_new(ws.rows[i], ws.path.keys[k]);
      parts.push_back({interactions_.get(), rows.data(), &ws.x, true});
    }
  }
  learner_.learn(parts, n, ws.scores.data(), ws.targets.data(), ws.importance.data(), ws.x.rate,
                 ws.learner, shared);
}

// --- Figure 1: Recall_Tree_Test
// --------------------------------------------------------------------------------

float RecallTree::margin(NodeId n, const Example& x, bool shared) const {
  const RowId router = tree_[n].router.load(std::memory_order_acquire);
  return router == kNoRow ? 0.0f : routers_->score(router, x, shared);
}

double RecallTree::recall(NodeId n, std::uint32_t max_candidates, double unit, bool shared) const {
  Node& node = const_cast<Node&>(tree_[n]);  // locked, and fitted only while learning
  SpinLock::Guard guard(node.lock, shared);
  node.histogram.fit(max_candidates);
  return recall_lower_bound(node.histogram.recall(), node.histogram.total() / unit,
                            recall_config_.bound_lambda);
}

void RecallTree::descend(const Example& x, const Limits& limits, double unit,
                         std::vector<NodeId>& route, std::vector<float>& margins,
                         bool shared) const {
  NodeId n = 0;
  route.assign(1, n);
  double recall_n = recall(n, limits.max_candidates, unit, shared);
  while (tree_[n].depth < limits.max_depth) {
    const float f = margin(n, x, shared);
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
                                  bool shared) const {
  const std::size_t n = ws.rows.size();
  ws.scores.resize(n);
  ws.extra.resize(n);
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
  if (const auto* packed = static_cast<const Packed*>(ws.prepared)) {
    NodeId n = 0;
    for (std::uint32_t depth = 0; depth < now.max_depth; ++depth) {
      ++ws.work.router_evaluations;
      const NodeId r = tree_.child(n, margin(n, ws.x, false) > 0.0f);
      if (r == kNoNode || packed->recall[n] > packed->recall[r]) break;
      n = r;
    }
    const std::uint32_t begin = packed->offsets[n], end = packed->offsets[n + 1];
    ws.labels.assign(packed->labels.begin() + begin, packed->labels.begin() + end);
    ws.scores.resize(ws.labels.size());
    predictors_->scores(ws.labels.data(), ws.labels.size(), ws.x, ws.scores.data(), false);
    // A path of no features adds nothing, and adding 0 would turn -0 into 0.
    if (n != 0 && recall_config_.path_features != PathFeatures::none)
      for (std::size_t k = 0; k < ws.labels.size(); ++k)
        ws.scores[k] += packed->path_scores[begin + k];
  } else {
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
  }
  ws.work.predictor_evaluations += ws.labels.size();
}

void RecallTree::route(const Rows& rows, std::size_t i, std::vector<NodeId>& route) const {
  Workspace ws;
  learner_.scale.read(rows, i, ws.x);
  descend(ws.x, limits(n_classes_seen()), inflation(static_cast<double>(n_examples_) - 1), route,
          ws.shadow_margins, false);
}

// --- Batches, decay, classes
// -----------------------------------------------------------------------------------

void RecallTree::begin_batch(const Batch&) {
  predictors_->grow_to(n_classes());
  path_weights_.grow_to(n_classes());
}

// Nodes that were not visited since F grew take their new candidates now, so that prediction finds
// them ready.
void RecallTree::end_batch() {
  const std::uint32_t max_candidates = limits(n_classes_seen()).max_candidates;
  if (max_candidates == fitted_candidates_) return;
  for (NodeId n = 0; n < tree_.size(); ++n)
    counted().histogram_touches += tree_[n].histogram.fit(max_candidates);
  fitted_candidates_ = max_candidates;
}

void RecallTree::learn_batch(const Batch& batch, std::vector<Workspace>& team, bool first_pass) {
  if (recall_config_.count_decay <= 0.0 || team.size() == 1)
    return Learner::learn_batch(batch, team, first_pass);
  // Counts can only be rebased while one thread works alone, so pieces must be short against the
  // range of a double.
  const auto piece = static_cast<std::size_t>(std::max(1.0, 400.0 * recall_config_.count_decay));
  std::vector<std::int64_t> order(batch.n);
  for (std::size_t i = 0; i < batch.n; ++i) order[i] = static_cast<std::int64_t>(batch.row(i));
  for (std::size_t begin = 0; begin < batch.n; begin += piece) {
    rebase_inflation(static_cast<double>(n_examples_));
    Batch part = batch;
    part.order = order.data() + begin;
    part.n = std::min(piece, batch.n - begin);
    Learner::learn_batch(part, team, first_pass);
  }
}

void RecallTree::rebase_inflation(double n) {
  if (recall_config_.count_decay <= 0.0) return;
  const double half_lives = (n - decay_origin_) / recall_config_.count_decay;
  if (half_lives < 100.0) return;
  const double whole = std::floor(half_lives) - 1.0;
  for (NodeId i = 0; i < tree_.size(); ++i) tree_[i].histogram.rescale(std::exp2(-whole));
  decay_origin_ += whole * recall_config_.count_decay;
}

RowId RecallTree::interaction_row(ClassId y, NodeId n) const {
  std::shared_lock lock(interactions_mutex_);
  const auto it = interaction_rows_.find(std::uint64_t{n} << 32 | y);
  return it == interaction_rows_.end() ? kNoRow : it->second;
}

RowId RecallTree::interaction_row_or_new(ClassId y, NodeId n) {
  if (const RowId known = interaction_row(y, n); known != kNoRow) return known;
  std::unique_lock lock(interactions_mutex_);
  const auto [it, made] = interaction_rows_.try_emplace(std::uint64_t{n} << 32 | y, kNoRow);
  if (made) it->second = interactions_->add_row();
  return it->second;
}

}  // namespace recalltree
