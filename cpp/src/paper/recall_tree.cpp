// Learning, line for line as in figure 2 of the paper.
#include "recalltree/paper/recall_tree.hpp"

#include <algorithm>
#include <cmath>

#include "recalltree/base/intended_race.hpp"

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
  ws.routers_found.clear();
  Found* const found = shared ? nullptr : &ws.routers_found;
  bool was_candidate = false;
  if (tree_.size() > 0) {
    descend(seen, before, inflation(t - 1), ws.shadow_route, ws.shadow_margins, shared, found);
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
    const bool passed = level < ws.shadow_margins.size() && ws.shadow_route[level] == n;
    const std::size_t place = passed ? level : ws.routers_found.n_rows;
    float f;
    if (passed && unchanged)
      f = ws.shadow_margins[level], ++reused;
    else if (passed && !shared)
      f = margin_again(n, ws.x, *found, place);
    else
      f = margin(n, ws.x, shared, found);
    ++ws.work.router_evaluations;
    update_router(n, f, y, weight, unit, ws, shared, place);
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
    ws.predictors_found.clear();
    score_candidates(ws.x, ws.route, ws, shared, shared ? nullptr : &ws.predictors_found);
    ws.work.predictor_evaluations += ws.candidates.size();
    if (was_candidate && same) right = wins(y, weight * unit, ws);
    update_predictors(y, weight, ws.route, ws, shared);
  }
  ws.progress.count(weight, !right);
}

// --- Figure 2 (right): update_router
// ---------------------------------------------------------------------------

void RecallTree::update_router(NodeId n, float f, ClassId y, double weight, double unit,
                               Workspace& ws, bool shared, std::size_t place) {
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
  const Part part{routers_.get(), &router, &ws.x, true, &ws.routers_found, place};
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
  std::vector<Part> parts{
      {predictors_.get(), ws.rows.data(), &ws.x, true, &ws.predictors_found, 0}};
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
                 ws.learner, shared, std::max(recall_config_.min_gradient, kGradientFloor));
}

// --- Batches, decay, classes
// -----------------------------------------------------------------------------------

void RecallTree::begin_batch(const Batch&) {
  predictors_->grow_to(n_classes());
  // Without path features there is nothing to keep, unless an older file had rows for it.
  if (recall_config_.path_features != PathFeatures::none || path_weights_.size() > 0)
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
