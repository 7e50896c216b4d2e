// LOMTree's state as arrays.
#include "recalltree/lom_tree.hpp"

namespace recalltree {

State LOMTree::save() {
  State state;
  save_common(state);
  std::vector<RowId> rows;  // in the order of their nodes, whatever swaps did to their numbers
  std::vector<std::uint32_t> left, right, parent, router, majority, labels;
  std::vector<double> min_count, margins, values;
  std::vector<std::uint64_t> offsets{0};
  for (const Node& node : nodes_) {
    left.push_back(node.left);
    right.push_back(node.right);
    parent.push_back(node.parent);
    router.push_back(node.is_leaf() ? kNoRow : static_cast<RowId>(rows.size()));
    if (!node.is_leaf()) rows.push_back(node.router);
    majority.push_back(node.majority);
    min_count.push_back(node.min_count);
    margins.insert(margins.end(), {node.margin.sum, node.margin.weight});
    labels.insert(labels.end(), node.labels.labels().begin(), node.labels.labels().end());
    // A leaf's counts, or a router's sums: two columns for both.
    for (const double count : node.counts) values.insert(values.end(), {count, 0.0});
    for (const Margin& margin : node.class_margins)
      values.insert(values.end(), {margin.sum, margin.weight});
    offsets.push_back(labels.size());
  }
  routers_->save("routers", state, rows);
  state.put("tree.left", left);
  state.put("tree.right", right);
  state.put("tree.parent", parent);
  state.put("tree.router", router);
  state.put("tree.majority", majority);
  state.put("tree.min_count", min_count);
  state.put("tree.margins", margins, {nodes_.size(), 2});
  state.put("tree.root", std::vector<std::uint32_t>{root_});
  state.put("labels.offsets", offsets);
  state.put("labels.labels", labels);
  state.put("labels.values", values, {labels.size(), 2});
  return state;
}

void LOMTree::load(const State& state) {
  load_common(state);
  routers_->load("routers", state);
  const auto left = state.get<std::uint32_t>("tree.left");
  const std::size_t n_nodes = left.size();
  const auto right = state.get<std::uint32_t>("tree.right", n_nodes);
  const auto parent = state.get<std::uint32_t>("tree.parent", n_nodes);
  const auto router = state.get<std::uint32_t>("tree.router", n_nodes);
  const auto majority = state.get<std::uint32_t>("tree.majority", n_nodes);
  const auto min_count = state.get<double>("tree.min_count", n_nodes);
  const auto margins = state.get<double>("tree.margins", 2 * n_nodes);
  const auto offsets = state.get<std::uint64_t>("labels.offsets", n_nodes + 1);
  const auto labels = state.get<std::uint32_t>("labels.labels", offsets.back());
  const auto values = state.get<double>("labels.values", 2 * labels.size());
  root_ = state.get<std::uint32_t>("tree.root", 1)[0];
  const auto check = [](bool fine, const char* what) {
    if (!fine) throw std::invalid_argument(std::string("state: ") + what);
  };
  check(root_ < n_nodes && parent[root_] == kNoNode, "the root does not exist");
  nodes_.assign(n_nodes, Node{});
  n_routers_ = 0;
  for (NodeId n = 0; n < n_nodes; ++n) {
    Node& node = nodes_[n];
    node.left = left[n];
    node.right = right[n];
    node.parent = parent[n];
    node.router = router[n];
    node.majority = majority[n];
    node.min_count = min_count[n];
    node.margin = {margins[2 * n], margins[2 * n + 1]};
    const bool leaf = node.is_leaf();
    check(
        leaf ? right[n] == kNoNode : left[n] < n_nodes && right[n] < n_nodes && left[n] != right[n],
        "a node's children do not exist");
    check(leaf || (parent[left[n]] == n && parent[right[n]] == n),
          "a node's children are not its own");
    check(leaf || router[n] < routers_->size(), "a router does not exist");
    check(majority[n] == kNoClass || majority[n] < n_classes(), "a label does not exist");
    check(offsets[n] <= offsets[n + 1] && offsets[n + 1] <= labels.size(),
          "label offsets are not increasing");
    for (std::size_t i = offsets[n]; i < offsets[n + 1]; ++i) {
      check(labels[i] < n_classes(), "a label does not exist");
      node.labels.append(labels[i]);
      if (leaf)
        LabelIndex::push(node.counts, values[2 * i]);
      else
        LabelIndex::push(node.class_margins, Margin{values[2 * i], values[2 * i + 1]});
    }
    n_routers_ += !leaf;
  }
  // Every node has one parent that names it; that there is no cycle shows when the root reaches
  // them all.
  std::vector<NodeId> reached{root_};
  for (std::size_t i = 0; i < reached.size() && reached.size() <= n_nodes; ++i)
    if (const Node& node = nodes_[reached[i]]; !node.is_leaf())
      reached.insert(reached.end(), {node.left, node.right});
  check(reached.size() == n_nodes, "the nodes are not one tree");
}

std::vector<std::pair<std::string, std::size_t>> LOMTree::memory() const {
  std::size_t labels = 0;
  for (const Node& node : nodes_)
    labels += node.labels.bytes() + node.counts.capacity() * sizeof(double) +
              node.class_margins.capacity() * sizeof(Margin);
  return {{"routers", routers_->bytes()},
          {"nodes", nodes_.capacity() * sizeof(Node)},
          {"label_statistics", labels},
          {"feature_scale", learner_.scale.bytes()}};
}

}  // namespace recalltree
