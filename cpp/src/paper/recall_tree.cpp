// Learning, line for line as in figure 2 of the paper.
#include "recalltree/paper/recall_tree.hpp"

#include <algorithm>
#include <cmath>

namespace recalltree {
namespace {

// Differences of entropies below this are rounding, not preference.
constexpr double kEntropyFloor = 1e-10;

}  // namespace

RecallTree::RecallTree(const RecallTreeConfig& config)
    : RecallTreePrediction(config.learner),
      recall_config_(config),
      predictors_(make_weights(config.learner, true)),
      routers_(make_weights(config.learner, true)),
      interactions_(make_weights(config.learner, false)),
      path_weights_(false) {}

// --- Figure 2 (left): Recall_Tree_Train

void RecallTree::learn_one(const Rows& rows, std::size_t i, Labels labels, double weight,
                           Workspace& base) {
  auto& ws = static_cast<RecallTreeWorkspace&>(base);
  learner_.scale.learn(rows, i, weight, ws.x);
  const auto t = static_cast<double>(n_examples_++);
  rebase_decay(t);
  const Limits before = limits(n_classes_seen());
  for (const ClassId y : labels) see(y);
  const Limits now = limits(n_classes_seen());
  const double unit = decay_unit_at(t);
  if (labels.empty()) return learn_without_labels(weight, unit, now, ws);

  // The answer of predict: its descent, on counts (and feature scales) that do not hold this
  // example yet. The margins are those that learning needs too, so this costs almost nothing.
  const Example& seen = ws.x.before(ws.before);
  const bool unchanged = &seen == &ws.x;
  ws.shadow_route.clear();
  ws.shadow_margins.clear();
  ws.routers_found.clear();
  bool was_candidate = false;
  if (tree_.size() > 0) {
    const double unit_before = decay_unit_at(t - 1);
    descend(
        tree_, before.max_depth,
        [&](NodeId n) {
          return ws.shadow_margins.emplace_back(margin(n, seen, &ws.routers_found));
        },
        [&](NodeId n) { return fitted_recall(n, before.max_candidates, unit_before); },
        ws.shadow_route);
    Node& stop = tree_[ws.shadow_route.back()];
    ws.work.histogram_touches += 1 + stop.histogram.fit(before.max_candidates);
    was_candidate = std::any_of(labels.begin(), labels.end(),
                                [&](ClassId y) { return stop.histogram.is_candidate(y); });
    ws.counts_before.clear();
    for (const ClassId y : labels) ws.counts_before.push_back(stop.histogram.count(y));
    if (was_candidate && labels.size() > 1) stop.histogram.candidates(ws.predicted);
  }

  std::size_t reused = 0;
  NodeId n = tree_.root_or_new();
  ws.route.assign(1, n);
  double recall_n = update_candidates(n, labels, weight, unit, now.max_candidates, ws);
  while (tree_[n].depth < now.max_depth) {
    const std::size_t level = ws.route.size() - 1;
    const bool passed = level < ws.shadow_margins.size() && ws.shadow_route[level] == n;
    const std::size_t place = passed ? level : ws.routers_found.n_models;
    float f;
    if (passed && unchanged)
      f = ws.shadow_margins[level], ++reused;
    else if (passed)
      f = margin_again(n, ws.x, ws.routers_found, place);
    else
      f = margin(n, ws.x, &ws.routers_found);
    ++ws.work.router_evaluations;
    update_router(n, f, labels, weight, unit, ws, place);
    if (recall_config_.routing_order == RoutingOrder::update_first) {
      f = margin(n, ws.x);
      ++ws.work.router_evaluations;
    }
    const NodeId r = tree_.child_or_new(n, f > 0.0f);
    const double recall_r = update_candidates(r, labels, weight, unit, now.max_candidates, ws);
    if (recall_n > recall_r) break;
    n = r;
    recall_n = recall_r;
    ws.route.push_back(n);
  }
  ws.work.progressive_evaluations += ws.shadow_margins.size() - reused;

  bool right = false;
  const bool same = unchanged && !ws.shadow_route.empty() && ws.shadow_route.back() == n &&
                    before.max_candidates == now.max_candidates &&
                    (labels.size() == 1 || !has_new_candidates(n, labels, ws));
  if (was_candidate && !same) {
    if (labels.size() > 1)
      take_predicted(ws);
    else
      gather_candidates(ws.shadow_route.back(), before.max_candidates, labels, ws);
    if (!ws.labels.empty()) {
      score_gathered(seen, ws.shadow_route, nullptr, ws);
      ws.work.progressive_evaluations += ws.candidates.size();
      right = wins(labels, ws);
    }
  }
  if (gather_candidates(n, now.max_candidates, labels, ws)) {
    score_gathered(ws.x, ws.route, &ws.predictors_found, ws);
    ws.work.predictor_evaluations += ws.candidates.size();
    if (was_candidate && same) right = wins(labels, ws);
    update_predictors(labels, weight, ws.route, ws);
  }
  ws.progress.count(weight, !right);
}

void RecallTree::learn_without_labels(double weight, double unit, Limits now,
                                      RecallTreeWorkspace& ws) {
  if (tree_.size() == 0) return;
  descend(
      tree_, now.max_depth,
      [&](NodeId n) {
        ++ws.work.router_evaluations;
        return margin(n, ws.x);
      },
      [&](NodeId n) { return fitted_recall(n, now.max_candidates, unit); }, ws.route);
  if (!gather_candidates(ws.route.back(), now.max_candidates, {}, ws)) return;
  score_gathered(ws.x, ws.route, &ws.predictors_found, ws);
  ws.work.predictor_evaluations += ws.candidates.size();
  update_predictors({}, weight, ws.route, ws);
}

// --- Figure 2 (right): update_router

void RecallTree::update_router(NodeId n, float f, Labels labels, double weight, double unit,
                               RecallTreeWorkspace& ws, std::size_t place) {
  const RouterLesson lesson =
      router_lesson(n, tree_[n].histogram.total(), labels, weight, unit, ws);
  if (lesson.importance == 0.0) return;
  const ModelId router = tree_.router_or_new(n, *routers_);
  const Part part{routers_.get(), &router, &ws.x, true, &ws.routers_found, place};
  learner_.learn({&part, 1}, 1, &f, &lesson.target, &lesson.importance, ws.x.rate, ws);
}

RecallTree::RouterLesson RecallTree::router_lesson(NodeId n, double total, Labels labels,
                                                   double weight, double unit,
                                                   RecallTreeWorkspace& ws) const {
  struct Side {
    double total = 0.0, entropy = 0.0, entropy_with_labels = 0.0;
  };
  const double added = weight * unit, n_labels = static_cast<double>(labels.size());
  const auto read = [&](bool right) {
    Side side;
    const NodeId child = tree_.child(n, right);
    side.entropy_with_labels = std::log(n_labels);  // they would be alone there
    if (child == kNoNode) return side;
    const LabelHistogram& histogram = tree_[child].histogram;
    ++ws.work.histogram_touches;
    side.total = histogram.total();
    side.entropy = histogram.entropy();
    side.entropy_with_labels = histogram.entropy_with(labels, added / n_labels);
    return side;
  };
  const Side left = read(false), right = read(true);
  // The average entropy of the children if the example goes to one side: that side counts it in its
  // share, too.
  const double entropy_if_left =
      ((left.total + added) * left.entropy_with_labels + right.total * right.entropy) / total;
  const double entropy_if_right =
      (left.total * left.entropy + (right.total + added) * right.entropy_with_labels) / total;
  const double delta = entropy_if_left - entropy_if_right;
  if (std::fabs(delta) < kEntropyFloor) return {};

  double importance = weight;
  if (recall_config_.router_weighting == RouterWeighting::entropy)
    importance = weight * std::fabs(delta);
  if (recall_config_.router_weighting == RouterWeighting::total_entropy)
    importance = total / unit * std::fabs(delta);
  // The side with the lower entropy wins; positive is right.
  return {delta > 0.0 ? 1.0f : -1.0f, importance};
}

// Labels share the weight of their example, so that r is the mean over examples of the share of
// their labels that are candidates, and m counts examples.
double RecallTree::update_candidates(NodeId n, Labels labels, double weight, double unit,
                                     std::uint32_t max_candidates, RecallTreeWorkspace& ws) {
  Node& node = tree_[n];
  const double added = weight * unit / static_cast<double>(labels.size());
  for (const ClassId y : labels)
    ws.work.histogram_touches += node.histogram.add(y, added, max_candidates);
  return recall_lower_bound(node.histogram.recall(), node.histogram.total() / unit,
                            recall_config_.bound_lambda);
}

void RecallTree::update_predictors(Labels labels, double weight, const std::vector<NodeId>& route,
                                   RecallTreeWorkspace& ws) {
  const std::size_t n = ws.candidates.size();
  ws.targets.resize(n);
  ws.importance.assign(n, weight);
  for (std::size_t i = 0; i < n; ++i) ws.targets[i] = is_among(labels, ws.labels[i]) ? 1.0f : -1.0f;
  std::vector<Part> parts{
      {predictors_.get(), ws.labels.data(), &ws.x, true, &ws.predictors_found, 0}};
  path_features(route, ws.path);
  if (!ws.path.features.empty())
    parts.push_back({&path_weights_, ws.labels.data(), &ws.path, false});
  if (recall_config_.path_interactions) {
    ws.interaction_models.resize(std::max(ws.interaction_models.size(), ws.path.features.size()));
    for (std::size_t k = 0; k < ws.path.features.size(); ++k) {
      auto& models = ws.interaction_models[k];
      models.resize(n);
      for (std::size_t i = 0; i < n; ++i)
        models[i] = interaction_model_or_new(ws.labels[i], ws.path.features[k]);
      parts.push_back({interactions_.get(), models.data(), &ws.x, true});
    }
  }
  learner_.learn(parts, n, ws.scores.data(), ws.targets.data(), ws.importance.data(), ws.x.rate, ws,
                 negative_floor());
}

// --- What learning asks of nodes and routers

float RecallTree::margin(NodeId n, const Example& x, LookupCache* found) const {
  const ModelId router = tree_.router(n);
  if (found == nullptr) return router == kNoModel ? 0.0f : routers_->score(router, x);
  float f = 0.0f;
  if (router == kNoModel)
    found->add_models(1);
  else
    routers_->scores(&router, 1, x, &f, *found);
  return f;
}

float RecallTree::margin_again(NodeId n, const Example& x, const LookupCache& found,
                               std::size_t place) const {
  const ModelId router = tree_.router(n);
  float f = 0.0f;
  if (router != kNoModel) routers_->scores_again(&router, 1, x, &f, found, place);
  return f;
}

double RecallTree::fitted_recall(NodeId n, std::uint32_t max_candidates, double unit) {
  Node& node = tree_[n];
  node.histogram.fit(max_candidates);
  return recall_lower_bound(node.histogram.recall(), node.histogram.total() / unit,
                            recall_config_.bound_lambda);
}

bool RecallTree::gather_candidates(NodeId n, std::uint32_t max_candidates, Labels labels,
                                   RecallTreeWorkspace& ws) {
  Node& node = tree_[n];
  ws.labels.clear();
  {
    ws.work.histogram_touches += node.histogram.fit(max_candidates);
    const auto is_candidate = [&](ClassId y) { return node.histogram.is_candidate(y); };
    if (!labels.empty() && std::none_of(labels.begin(), labels.end(), is_candidate)) return false;
    node.histogram.candidates(ws.candidates);
  }
  for (const auto& c : ws.candidates) ws.labels.push_back(c.label);
  return !ws.labels.empty();
}

void RecallTree::take_predicted(RecallTreeWorkspace& ws) {
  ws.candidates = ws.predicted;
  ws.labels.clear();
  for (const auto& c : ws.candidates) ws.labels.push_back(c.label);
}

bool RecallTree::has_new_candidates(NodeId n, Labels labels, const RecallTreeWorkspace& ws) {
  Node& node = tree_[n];
  return std::any_of(labels.begin(), labels.end(), [&](ClassId y) {
    const auto is_y = [y](const auto& candidate) { return candidate.label == y; };
    return node.histogram.is_candidate(y) &&
           std::none_of(ws.predicted.begin(), ws.predicted.end(), is_y);
  });
}

void RecallTree::score_gathered(const Example& x, const std::vector<NodeId>& route,
                                LookupCache* found, RecallTreeWorkspace& ws) {
  ws.scores.resize(ws.labels.size());
  if (found != nullptr) found->clear();
  if (found == nullptr)
    predictors_->scores(ws.labels.data(), ws.labels.size(), x, ws.scores.data());
  else
    predictors_->scores(ws.labels.data(), ws.labels.size(), x, ws.scores.data(), *found);
  add_path_scores(x, route, ws);
}

bool RecallTree::wins(Labels labels, const RecallTreeWorkspace& ws) {
  // Ties go to the better candidate, as in prediction, where candidates are sorted.
  std::size_t best = 0;
  const auto candidate = [&](std::size_t i) {
    LabelHistogram::Candidate c = ws.candidates[i];
    const auto l = std::find(labels.begin(), labels.end(), c.label) - labels.begin();
    if (static_cast<std::size_t>(l) < labels.size())
      c.count = ws.counts_before[static_cast<std::size_t>(l)];
    return c;
  };
  for (std::size_t i = 1; i < ws.candidates.size(); ++i)
    if (ws.scores[i] > ws.scores[best] ||
        (ws.scores[i] == ws.scores[best] && LabelHistogram::better(candidate(i), candidate(best))))
      best = i;
  return is_among(labels, ws.candidates[best].label);
}

// --- Batches, decay, classes

void RecallTree::begin_batch(const Batch&) {
  predictors_->grow_to(n_classes());
  // Without path features there is nothing to keep, unless an older file had models for it.
  if (recall_config_.path_features != PathFeatures::none || path_weights_.size() > 0)
    path_weights_.grow_to(n_classes());
}

void RecallTree::end_batch() { fit_nodes(); }

// So that prediction finds them ready.
void RecallTree::fit_nodes() {
  const std::uint32_t max_candidates = limits(n_classes_seen()).max_candidates;
  if (max_candidates == fitted_candidates_) return;
  for (NodeId n = 0; n < tree_.size(); ++n)
    counted().histogram_touches += tree_[n].histogram.fit(max_candidates);
  fitted_candidates_ = max_candidates;
}

void RecallTree::rebase_decay(double n) {
  if (recall_config_.count_decay <= 0.0) return;
  const double half_lives = (n - decay_origin_) / recall_config_.count_decay;
  if (half_lives < 100.0) return;
  const double whole = std::floor(half_lives) - 1.0;
  for (NodeId i = 0; i < tree_.size(); ++i) tree_[i].histogram.rescale(std::exp2(-whole));
  decay_origin_ += whole * recall_config_.count_decay;
}

ModelId RecallTree::interaction_model(ClassId y, NodeId n) const {
  const auto it = interaction_models_.find(std::uint64_t{n} << 32 | y);
  return it == interaction_models_.end() ? kNoModel : it->second;
}

ModelId RecallTree::interaction_model_or_new(ClassId y, NodeId n) {
  const auto [it, made] = interaction_models_.try_emplace(std::uint64_t{n} << 32 | y, kNoModel);
  if (made) it->second = interactions_->add_model();
  return it->second;
}

// --- State

State RecallTree::save() const {
  State state;
  save_common(state);
  save_lists(state);
  predictors_->save("predictors", state);
  routers_->save("routers", state);
  path_weights_.save("path", state);
  save_interactions(state);
  tree_.save(state);
  state.put("tree.max_candidates", std::vector<std::uint32_t>{fitted_candidates_});
  state.put("tree.decay_origin", std::vector<double>{decay_origin_});
  return state;
}

// In the order of their nodes and classes, so that a model can be found by searching.
void RecallTree::save_interactions(State& state) const {
  std::vector<std::pair<std::uint64_t, ModelId>> pairs(interaction_models_.begin(),
                                                       interaction_models_.end());
  std::sort(pairs.begin(), pairs.end());
  std::vector<std::uint64_t> nodes_and_classes;
  std::vector<ModelId> models;
  for (const auto& [node_and_class, model] : pairs) {
    nodes_and_classes.push_back(node_and_class);
    models.push_back(model);
  }
  interactions_->save("interactions", state, models);
  state.put("interactions.node_and_class", std::move(nodes_and_classes));
}

void RecallTree::load(const State& state) {
  load_common(state);
  predictors_->load("predictors", state);
  routers_->load("routers", state);
  path_weights_.load("path", state);
  interactions_->load("interactions", state);
  fitted_candidates_ = state.get<std::uint32_t>("tree.max_candidates")[0];
  decay_origin_ = state.get<double>("tree.decay_origin")[0];
  tree_.load(state, fitted_candidates_);
  ModelId model = 0;
  for (const auto node_and_class : state.get<std::uint64_t>("interactions.node_and_class"))
    interaction_models_.emplace(node_and_class, model++);
}

std::vector<std::pair<std::string, std::size_t>> RecallTree::memory() const {
  return {{"predictors", predictors_->bytes()},
          {"routers", routers_->bytes()},
          {"path_features", path_weights_.bytes()},
          {"path_interactions", interactions_->bytes() + interaction_models_.size() * 32},
          {"nodes", tree_.node_bytes() + packed_bytes()},
          {"histograms", tree_.histogram_bytes()},
          {"feature_scale", learner_.scale.bytes()}};
}

}  // namespace recalltree
