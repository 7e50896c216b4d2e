#include "recalltree/file/mapped_recall_tree.hpp"

#include <algorithm>

#include "recalltree/paper/criteria.hpp"

namespace recalltree {

MappedRecallTree::MappedRecallTree(const RecallTreeConfig& config, State state)
    : MappedModel(config.learner, std::move(state)),
      recall_config_(config),
      tree_(state_, 1, n_classes()) {
  predictors_ = map_weights("predictors", state_, config.learner);
  routers_ = map_weights("routers", state_, config.learner);
  path_weights_ = map_sparse_weights("path", state_, n_nodes());
  interactions_ = map_weights("interactions", state_, config.learner);
  const bool has_no_path = config.path_features == PathFeatures::none && path_weights_->size() == 0;
  require(
      predictors_->size() == n_classes() && (has_no_path || path_weights_->size() == n_classes()),
      "predictors and classes differ in number");
  tree_.check_routers(routers_->size());

  interaction_keys_ =
      state_.get<std::uint64_t>("interactions.node_and_class", interactions_->size());
  require(std::adjacent_find(interaction_keys_.begin(), interaction_keys_.end(),
                             std::greater_equal<>()) == interaction_keys_.end(),
          "'interactions.node_and_class' is not increasing");

  max_candidates_ = state_.get<std::uint32_t>("tree.max_candidates", 1)[0];
  require(n_nodes() > 0 ? max_candidates_ == limits(n_classes_seen()).max_candidates
                        : max_candidates_ == 0 && n_classes_seen() == 0,
          "'tree.max_candidates' does not follow from the number of classes");
  unit_ = inflation_of(config, state_.get<double>("tree.decay_origin", 1)[0],
                       static_cast<double>(n_examples_) - 1);
  state_.check_all_read();
}

bool MappedRecallTree::is_complete() const {
  return predictors_->has_accumulators() && routers_->has_accumulators() &&
         path_weights_->has_accumulators() && interactions_->has_accumulators() &&
         tree_.is_complete();
}

void MappedRecallTree::check() const {
  MappedModel::check();
  for (const auto* weights :
       {predictors_.get(), routers_.get(), path_weights_.get(), interactions_.get()})
    weights->check();
  tree_.check();
  require(std::isfinite(unit_) && unit_ > 0.0, "'tree.decay_origin' is out of range");
}

// --- Figure 1: Recall_Tree_Test
// --------------------------------------------------------------------------------

float MappedRecallTree::margin(NodeId n, const Example& x) const {
  const RowId router = tree_.router(n);
  return router < routers_->size() ? routers_->score(router, x) : 0.0f;
}

double MappedRecallTree::recall(NodeId n) const {
  return recall_lower_bound(tree_.recall(n, max_candidates_), tree_.total(n) / unit_,
                            recall_config_.bound_lambda);
}

std::size_t MappedRecallTree::descend(const Example& x, std::vector<NodeId>& route) const {
  const std::uint32_t max_depth = limits(n_classes_seen()).max_depth;
  NodeId n = 0;
  route.assign(1, n);
  double recall_n = recall(n);
  std::size_t evaluated = 0;
  while (route.size() <= max_depth) {
    ++evaluated;
    const NodeId r = tree_.child(n, margin(n, x) > 0.0f);
    if (r == kNoNode) break;
    const double recall_r = recall(r);
    if (recall_n > recall_r) break;
    n = r;
    recall_n = recall_r;
    route.push_back(n);
  }
  return evaluated;
}

void MappedRecallTree::score(const Rows& rows, std::size_t i, Workspace& ws) const {
  read(rows, i, ws.x);
  ws.work.router_evaluations += descend(ws.x, ws.route);
  ws.labels.clear();
  tree_.visit_labels(ws.route.back(), max_candidates_,
                     [&](ClassId label, double, std::uint32_t) { ws.labels.push_back(label); });
  const std::size_t n = ws.labels.size();
  ws.scores.resize(n);
  predictors_->scores(ws.labels.data(), n, ws.x, ws.scores.data());
  ws.work.predictor_evaluations += n;
  path_features(ws.route, ws.path);
  if (ws.path.keys.empty()) return;
  ws.extra.resize(n);
  path_weights_->scores(ws.labels.data(), n, ws.path, ws.extra.data());
  for (std::size_t k = 0; k < n; ++k) ws.scores[k] += ws.extra[k];
  if (!recall_config_.path_interactions) return;
  for (const NodeId node : ws.path.keys)
    for (std::size_t k = 0; k < n; ++k)
      if (const RowId row = interaction_row(ws.labels[k], node); row != kNoRow)
        ws.scores[k] += interactions_->score(row, ws.x);
}

RowId MappedRecallTree::interaction_row(ClassId y, NodeId n) const {
  const std::uint64_t key = std::uint64_t{n} << 32 | y;
  const auto it = std::lower_bound(interaction_keys_.begin(), interaction_keys_.end(), key);
  if (it == interaction_keys_.end() || *it != key) return kNoRow;
  return static_cast<RowId>(it - interaction_keys_.begin());
}

void MappedRecallTree::route(const Rows& rows, std::size_t i, std::vector<NodeId>& route) const {
  Example x;
  read(rows, i, x);
  descend(x, route);
}

// --- Looking inside
// --------------------------------------------------------------------------------------------

NodeSummary MappedRecallTree::node(NodeId n) const {
  return {tree_.left(n),   tree_.right(n),    tree_.parent(n),        tree_.depth(n),
          tree_.router(n), tree_.n_labels(n), tree_.total(n) / unit_, recall(n)};
}

std::vector<LabelHistogram::Candidate> MappedRecallTree::ranked_labels(NodeId n) const {
  std::vector<LabelHistogram::Candidate> all;
  tree_.visit_labels(n, tree_.n_labels(n), [&](ClassId label, double count, std::uint32_t arrival) {
    all.push_back({label, arrival, count / unit_});
  });
  return all;
}

std::vector<std::pair<std::string, std::size_t>> MappedRecallTree::memory() const {
  return {{"predictors", predictors_->bytes()},
          {"routers", routers_->bytes()},
          {"path_features", path_weights_->bytes()},
          {"path_interactions", interactions_->bytes() + interaction_keys_.size_bytes()},
          {"nodes", tree_.node_bytes()},
          {"histograms", tree_.histogram_bytes()},
          {"feature_scale", scale_.size_bytes()}};
}

}  // namespace recalltree
