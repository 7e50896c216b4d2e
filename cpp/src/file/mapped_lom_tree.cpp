#include "recalltree/file/mapped_lom_tree.hpp"

#include <algorithm>

namespace recalltree {

MappedLOMTree::MappedLOMTree(const LOMTreeConfig& config, State state)
    : MappedModel(config.learner, std::move(state)),
      lom_config_(config),
      routers_(map_weights("routers", state_, config.learner)) {
  left_ = state_.get<std::uint32_t>("tree.left");
  right_ = state_.get<std::uint32_t>("tree.right", n_nodes());
  parent_ = state_.get<std::uint32_t>("tree.parent", n_nodes());
  router_ = state_.get<std::uint32_t>("tree.router", n_nodes());
  majority_ = state_.get<std::uint32_t>("tree.majority", n_nodes());
  min_count_ = state_.get<double>("tree.min_count", n_nodes());
  if (state_.has("tree.margins")) margins_ = state_.get<double>("tree.margins", 2 * n_nodes());
  labels_ = state_.get<std::uint32_t>("labels.labels");
  values_ = state_.get<double>("labels.values", 2 * labels_.size());
  offsets_ = state_.get<std::uint64_t>("labels.offsets", n_nodes() + 1);
  root_ = state_.get<std::uint32_t>("tree.root", 1)[0];
  check_offsets(offsets_, labels_.size(), "labels.offsets");
  check_class_ids(labels_, n_classes(), "labels.labels");
  check_tree();
  state_.check_all_read();
}

void MappedLOMTree::check_tree() const {
  require(root_ < n_nodes() && parent_[root_] == kNoNode, "the root does not exist");
  for (NodeId n = 0; n < n_nodes(); ++n) {
    require(majority_[n] == kNoClass || majority_[n] < n_classes(), "a label does not exist");
    if (is_leaf(n)) {
      require(right_[n] == kNoNode, "a node has one child");
      continue;
    }
    require(left_[n] < n_nodes() && right_[n] < n_nodes() && left_[n] != right_[n],
            "a node's children do not exist");
    require(parent_[left_[n]] == n && parent_[right_[n]] == n, "a node's children are not its own");
    require(router_[n] < routers_->size(), "a router does not exist");
  }
  // Every node has one parent that names it; that there is no cycle shows when the root reaches
  // them all.
  std::vector<NodeId> reached{root_};
  for (std::size_t i = 0; i < reached.size() && reached.size() <= n_nodes(); ++i)
    if (!is_leaf(reached[i]))
      reached.insert(reached.end(), {left_[reached[i]], right_[reached[i]]});
  require(reached.size() == n_nodes(), "the nodes are not one tree");
}

void MappedLOMTree::check() const {
  MappedModel::check();
  routers_->check();
  check_finite(min_count_, "tree.min_count");
  check_finite(margins_, "tree.margins");
  check_finite(values_, "labels.values");
  std::vector<NodeId> listed_at(n_classes(), kNoNode);
  for (NodeId n = 0; n < n_nodes(); ++n)
    for (std::size_t i = offsets_[n]; i < offsets_[n + 1]; ++i) {
      require(listed_at[labels_[i]] != n, "a node repeats a class");
      listed_at[labels_[i]] = n;
    }
}

// Where a node's labels are, those that exist.
template <class Visit>
void MappedLOMTree::for_each_label(NodeId n, Visit visit) const {
  const std::size_t end = std::min<std::size_t>(offsets_[n + 1], labels_.size());
  for (std::size_t i = std::min<std::size_t>(offsets_[n], end); i < end; ++i)
    if (labels_[i] < n_classes()) visit(i);
}

LOMTree::Node MappedLOMTree::node(NodeId n) const {
  LOMTree::Node node;
  node.left = left_[n];
  node.right = right_[n];
  node.parent = parent_[n];
  node.router = router_[n];
  node.majority = majority_[n];
  node.min_count = min_count_[n];
  if (!margins_.empty()) node.margin = {margins_[2 * n], margins_[2 * n + 1]};
  for_each_label(n, [&](std::size_t i) {
    LabelSums::Entry& entry = node.labels.find_or_add(labels_[i]);
    entry.sum = values_[2 * i];
    entry.weight = values_[2 * i + 1];
  });
  return node;
}

// --- Prediction
// ------------------------------------------------------------------------------------------------

void MappedLOMTree::descend(const Example& x, std::vector<NodeId>& route) const {
  NodeId n = root_;
  route.assign(1, n);
  while (!is_leaf(n) && route.size() <= n_nodes()) {
    const RowId router = router_[n];
    const float margin = router < routers_->size() ? routers_->score(router, x) : 0.0f;
    const NodeId child = margin > 0.0f ? right_[n] : left_[n];
    if (child >= n_nodes()) break;
    n = child;
    route.push_back(n);
  }
}

void MappedLOMTree::score(const Rows& rows, std::size_t i, Workspace& ws) const {
  read(rows, i, ws.x);
  descend(ws.x, ws.route);
  ws.work.router_evaluations += ws.route.size() - 1;
  ws.labels.clear();
  ws.scores.clear();
  for (const auto& [label, count] : leaf_labels(ws.route.back())) {
    ws.labels.push_back(label);
    ws.scores.push_back(static_cast<float>(count));
  }
}

std::vector<std::pair<ClassId, double>> MappedLOMTree::leaf_labels(NodeId n) const {
  std::vector<std::pair<ClassId, double>> all;
  if (is_leaf(n))
    for_each_label(n, [&](std::size_t i) { all.emplace_back(labels_[i], values_[2 * i]); });
  const ClassId majority = majority_[n];
  LOMTree::rank_leaf(majority < n_classes() ? majority : kNoClass, all);
  return all;
}

void MappedLOMTree::route(const Rows& rows, std::size_t i, std::vector<NodeId>& route) const {
  Example x;
  read(rows, i, x);
  descend(x, route);
}

std::vector<std::pair<std::string, std::size_t>> MappedLOMTree::memory() const {
  const std::size_t nodes = left_.size_bytes() * 5 + min_count_.size_bytes() +
                            margins_.size_bytes() + offsets_.size_bytes();
  return {{"routers", routers_->bytes()},
          {"nodes", nodes},
          {"label_statistics", labels_.size_bytes() + values_.size_bytes()},
          {"feature_scale", scale_.size_bytes()}};
}

}  // namespace recalltree
