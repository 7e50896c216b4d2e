// LOMTree's state as arrays.
#include "recalltree/paper/lom_tree.hpp"

#include "recalltree/file/mapped_lom_tree.hpp"

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
    for (const LabelSums::Entry& entry : node.labels.in_order_of_arrival()) {
      labels.push_back(entry.label);
      values.insert(values.end(), {entry.sum, entry.weight});
    }
    offsets.push_back(labels.size());
  }
  routers_->save("routers", state, rows);
  state.put("tree.left", std::move(left));
  state.put("tree.right", std::move(right));
  state.put("tree.parent", std::move(parent));
  state.put("tree.router", std::move(router));
  state.put("tree.majority", std::move(majority));
  state.put("tree.min_count", std::move(min_count));
  state.put("tree.margins", std::move(margins), {nodes_.size(), 2});
  state.put("tree.root", std::vector<std::uint32_t>{root_});
  state.put("labels.offsets", std::move(offsets));
  state.put("labels.values", std::move(values), {labels.size(), 2});
  state.put("labels.labels", std::move(labels));
  return state;
}

void LOMTree::load(const State& state) {
  // A view of the state checks it all, before anything is taken from it.
  const MappedLOMTree view(lom_config_, state);
  view.check();
  state.array("tree.margins");  // a model that only predicts has none
  load_common(state);
  routers_->load("routers", state);
  root_ = view.root();
  nodes_.clear();
  n_routers_ = 0;
  for (NodeId n = 0; n < view.n_nodes(); ++n) {
    nodes_.push_back(view.node(n));
    n_routers_ += !nodes_.back().is_leaf();
  }
}

std::vector<std::pair<std::string, std::size_t>> LOMTree::memory() const {
  std::size_t labels = 0;
  for (const Node& node : nodes_) labels += node.labels.bytes();
  return {{"routers", routers_->bytes()},
          {"nodes", nodes_.capacity() * sizeof(Node)},
          {"label_statistics", labels},
          {"feature_scale", learner_.scale.bytes()}};
}

}  // namespace recalltree
