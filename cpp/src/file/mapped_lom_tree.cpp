#include "recalltree/file/mapped_lom_tree.hpp"

#include <algorithm>

#include "recalltree/base/hints.hpp"

namespace recalltree {

MappedLOMTree::MappedLOMTree(const LOMTreeConfig& config, State state)
    : LOMTreePrediction(config.learner, std::move(state)),
      lom_config_(config),
      routers_(map_weights("routers", state_, config.learner)) {
  view_fields(arrays_, state_);
  root_ = arrays_.root[0];
  check_offsets(arrays_.offsets, arrays_.labels.size(), "labels.offsets");
  check_class_ids(arrays_.labels, n_classes(), "labels.labels");
  check_tree();
  state_.check_all_read();
}

void MappedLOMTree::check_tree() {
  const auto& [root, left, right, parent, router, majority, min_count, margins, offsets, labels,
               values] = arrays_;
  require(root_ < n_nodes() && parent[root_] == kNoNode, "the root does not exist");
  for (NodeId n = 0; n < n_nodes(); ++n) {
    require(majority[n] == kNoClass || majority[n] < n_classes(), "a label does not exist");
    if (is_leaf(n)) {
      require(right[n] == kNoNode, "a node has one child");
      continue;
    }
    require(left[n] < n_nodes() && right[n] < n_nodes() && left[n] != right[n],
            "a node's children do not exist");
    require(parent[left[n]] == n && parent[right[n]] == n, "a node's children are not its own");
    require(router[n] < routers_->size(), "a router does not exist");
  }
  // Every node has one parent that names it; that there is no cycle shows when the root reaches
  // them all.
  depth_.resize(n_nodes());
  std::vector<NodeId> reached{root_};
  for (std::size_t i = 0; i < reached.size() && reached.size() <= n_nodes(); ++i)
    if (const NodeId n = reached[i]; !is_leaf(n)) {
      depth_[left[n]] = depth_[right[n]] = depth_[n] + 1;
      reached.insert(reached.end(), {left[n], right[n]});
    }
  require(reached.size() == n_nodes(), "the nodes are not one tree");
}

void MappedLOMTree::check() const {
  MappedModel::check();
  routers_->check();
  check_finite_fields(arrays_);
  std::vector<NodeId> listed_at(n_classes(), kNoNode);
  for (NodeId n = 0; n < n_nodes(); ++n)
    for (std::size_t i = arrays_.offsets[n]; i < arrays_.offsets[n + 1]; ++i) {
      require(listed_at[arrays_.labels[i]] != n, "a node repeats a class");
      listed_at[arrays_.labels[i]] = n;
    }
}

LOMTree::Node MappedLOMTree::node(NodeId n) const {
  LOMTree::Node node;
  node.left = arrays_.left[n];
  node.right = arrays_.right[n];
  node.parent = arrays_.parent[n];
  node.router = arrays_.router[n];
  node.majority = arrays_.majority[n];
  node.min_count = arrays_.min_count[n];
  if (!arrays_.margins.empty()) node.margin = {arrays_.margins[2 * n], arrays_.margins[2 * n + 1]};
  for_each_label(n, [&](std::size_t i) {
    LabelSums::Entry& entry = node.labels.find_or_add(arrays_.labels[i]);
    entry.sum = arrays_.values[2 * i];
    entry.weight = arrays_.values[2 * i + 1];
  });
  return node;
}

void MappedLOMTree::prefetch_labels(NodeId n) const {
  const std::size_t begin = std::min<std::size_t>(arrays_.offsets[n], arrays_.labels.size());
  prefetch(arrays_.labels.data() + begin);
  prefetch(arrays_.values.data() + 2 * begin);
}

std::vector<std::pair<std::string, std::size_t>> MappedLOMTree::memory() const {
  const std::size_t labels = arrays_.labels.size_bytes() + arrays_.values.size_bytes();
  return {{"routers", routers_->bytes()},
          {"nodes", bytes_of_fields(arrays_) - labels - arrays_.root.size_bytes()},
          {"label_statistics", labels},
          {"feature_scale", scale_.size_bytes()}};
}

}  // namespace recalltree
