#include "recalltree/mapped_recall_tree.hpp"

#include <algorithm>

#include "recalltree/criteria.hpp"

namespace recalltree {

MappedRecallTree::MappedRecallTree(const RecallTreeConfig& config, State state)
    : MappedModel(config.learner, std::move(state)), recall_config_(config) {
  left_ = state_.get<std::uint32_t>("tree.left");
  right_ = state_.get<std::uint32_t>("tree.right", n_nodes());
  parent_ = state_.get<std::uint32_t>("tree.parent", n_nodes());
  depth_ = state_.get<std::uint32_t>("tree.depth", n_nodes());
  router_ = state_.get<std::uint32_t>("tree.router", n_nodes());
  predictors_ = map_weights("predictors", state_, config.learner);
  routers_ = map_weights("routers", state_, config.learner);
  path_weights_ = map_sparse_weights("path", state_, n_nodes());
  interactions_ = map_weights("interactions", state_, config.learner);
  require(predictors_->size() == n_classes() && path_weights_->size() == n_classes(),
          "predictors and classes differ in number");
  check_tree();

  labels_ = state_.get<std::uint32_t>("histograms.labels");
  counts_ = state_.get<double>("histograms.counts", labels_.size());
  offsets_ = state_.get<std::uint64_t>("histograms.offsets", n_nodes() + 1);
  sums_ = state_.get<double>("histograms.sums", 3 * n_nodes());
  if (state_.has("histograms.arrivals"))
    arrivals_ = state_.get<std::uint32_t>("histograms.arrivals", labels_.size());
  check_offsets(offsets_, labels_.size(), "histograms.offsets");
  check_class_ids(labels_, "histograms.labels");

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

// Children come after their parents and name them, so there are no cycles and every node is reached
// once.
void MappedRecallTree::check_tree() const {
  const auto is_child = [&](NodeId child, NodeId n) {
    return child == kNoNode || (child > n && child < n_nodes() && parent_[child] == n &&
                                depth_[child] == depth_[n] + 1);
  };
  for (NodeId n = 0; n < n_nodes(); ++n) {
    require(n > 0 ? parent_[n] < n : parent_[n] == kNoNode && depth_[n] == 0,
            "a node has no parent");
    require(is_child(left_[n], n) && is_child(right_[n], n) &&
                (left_[n] != right_[n] || left_[n] == kNoNode),
            "a node's children are not its own");
    require(n == 0 || left_[parent_[n]] == n || right_[parent_[n]] == n,
            "a node is not a child of its parent");
    require(router_[n] == kNoRow || router_[n] < routers_->size(), "a router does not exist");
  }
}

bool MappedRecallTree::is_complete() const {
  return predictors_->has_accumulators() && routers_->has_accumulators() &&
         path_weights_->has_accumulators() && interactions_->has_accumulators() &&
         state_.has("histograms.arrivals");
}

void MappedRecallTree::check() const {
  MappedModel::check();
  for (const auto* weights :
       {predictors_.get(), routers_.get(), path_weights_.get(), interactions_.get()})
    weights->check();
  check_finite(counts_, "histograms.counts");
  check_finite(sums_, "histograms.sums");
  require(std::isfinite(unit_) && unit_ > 0.0, "'tree.decay_origin' is out of range");
  std::vector<NodeId> counted_at(n_classes(), kNoNode);
  std::vector<bool> arrived;
  for (NodeId n = 0; n < n_nodes(); ++n) {
    const std::size_t begin = offsets_[n], size = labels(n).size();
    arrived.assign(size, false);
    for (std::size_t i = 0; i < size; ++i) {
      const ClassId label = labels_[begin + i];
      require(counted_at[label] != n, "a histogram repeats a class");
      counted_at[label] = n;
      require(i == 0 || counts_[begin + i] <= counts_[begin + i - 1],
              "a histogram is not ranked by count");
      if (arrivals_.empty()) continue;
      const std::uint32_t arrival = arrivals_[begin + i];
      require(arrival < size && !arrived[arrival], "'histograms.arrivals' is not an order");
      require(i == 0 || counts_[begin + i] < counts_[begin + i - 1] ||
                  arrival > arrivals_[begin + i - 1],
              "a histogram is not ranked by arrival where counts are equal");
      arrived[arrival] = true;
    }
  }
}

// --- Figure 1: Recall_Tree_Test
// --------------------------------------------------------------------------------

float MappedRecallTree::margin(NodeId n, const Example& x) const {
  const RowId router = router_[n];
  return router < routers_->size() ? routers_->score(router, x) : 0.0f;
}

std::span<const ClassId> MappedRecallTree::labels(NodeId n) const {
  const std::size_t end = std::min<std::size_t>(offsets_[n + 1], labels_.size());
  const std::size_t begin = std::min<std::size_t>(offsets_[n], end);
  return labels_.subspan(begin, end - begin);
}

double MappedRecallTree::recall(NodeId n) const {
  const double total = sums_[3 * n], mass = sums_[3 * n + 2];
  const double recall = labels(n).size() <= max_candidates_ ? 1.0 : std::min(1.0, mass / total);
  return recall_lower_bound(recall, total / unit_, recall_config_.bound_lambda);
}

std::size_t MappedRecallTree::descend(const Example& x, std::vector<NodeId>& route) const {
  const std::uint32_t max_depth = limits(n_classes_seen()).max_depth;
  NodeId n = 0;
  route.assign(1, n);
  double recall_n = recall(n);
  std::size_t evaluated = 0;
  while (route.size() <= max_depth) {
    ++evaluated;
    const NodeId r = margin(n, x) > 0.0f ? right_[n] : left_[n];
    if (r <= n || r >= n_nodes()) break;
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
  const auto all = labels(ws.route.back());
  ws.labels.clear();
  for (const ClassId label : all.first(std::min<std::size_t>(all.size(), max_candidates_)))
    if (label < n_classes()) ws.labels.push_back(label);
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
  return {left_[n],   right_[n],        parent_[n],           depth_[n],
          router_[n], labels(n).size(), sums_[3 * n] / unit_, recall(n)};
}

std::vector<LabelHistogram::Candidate> MappedRecallTree::ranked_labels(NodeId n) const {
  std::vector<LabelHistogram::Candidate> all;
  const auto found = labels(n);
  const auto begin = static_cast<std::size_t>(found.data() - labels_.data());
  for (std::uint32_t i = 0; i < found.size(); ++i)
    all.push_back(
        {found[i], arrivals_.empty() ? i : arrivals_[begin + i], counts_[begin + i] / unit_});
  return all;
}

std::vector<std::pair<std::string, std::size_t>> MappedRecallTree::memory() const {
  const std::size_t nodes = left_.size_bytes() * 5 + offsets_.size_bytes() + sums_.size_bytes();
  return {{"predictors", predictors_->bytes()},
          {"routers", routers_->bytes()},
          {"path_features", path_weights_->bytes()},
          {"path_interactions", interactions_->bytes() + interaction_keys_.size_bytes()},
          {"nodes", nodes},
          {"histograms", labels_.size_bytes() + counts_.size_bytes() + arrivals_.size_bytes()},
          {"feature_scale", scale_.size_bytes()}};
}

}  // namespace recalltree
