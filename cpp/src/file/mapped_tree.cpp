#include "recalltree/file/mapped_tree.hpp"

#include <vector>

#include "recalltree/file/state_checks.hpp"

namespace recalltree {

MappedTree::MappedTree(const State& state, std::size_t n_roots, std::size_t n_classes)
    : n_classes_(n_classes) {
  view_fields(arrays_, state);
  has_arrivals_ = has_learning_fields(arrays_, state);
  check_links(n_roots);
  check_offsets(arrays_.offsets, arrays_.labels.size(), "histograms.offsets");
  check_class_ids(arrays_.labels, n_classes, "histograms.labels");
}

// Children come after their parents and name them, so there are no cycles and every node is reached
// once.
void MappedTree::check_links(std::size_t n_roots) const {
  const auto is_child = [&](NodeId child, NodeId n) {
    return child == kNoNode || (child > n && child < size() && arrays_.parent[child] == n &&
                                arrays_.depth[child] == arrays_.depth[n] + 1);
  };
  for (NodeId n = 0; n < size(); ++n) {
    require(
        n < n_roots ? arrays_.parent[n] == kNoNode && arrays_.depth[n] == 0 : arrays_.parent[n] < n,
        "a node has no parent");
    require(is_child(arrays_.left[n], n) && is_child(arrays_.right[n], n) &&
                (arrays_.left[n] != arrays_.right[n] || arrays_.left[n] == kNoNode),
            "a node's children are not its own");
    require(n < n_roots || arrays_.left[arrays_.parent[n]] == n ||
                arrays_.right[arrays_.parent[n]] == n,
            "a node is not a child of its parent");
  }
}

void MappedTree::check_routers(std::size_t n_routers) const {
  for (const ModelId router : arrays_.router)
    require(router == kNoModel || router < n_routers, "a router does not exist");
}

void MappedTree::check() const {
  check_finite_fields(arrays_);
  std::vector<NodeId> counted_at(n_classes_, kNoNode);
  std::vector<bool> arrived;
  for (NodeId n = 0; n < size(); ++n) {
    const std::size_t begin = this->begin(n), size = n_labels(n);
    arrived.assign(size, false);
    for (std::size_t i = 0; i < size; ++i) {
      const ClassId label = arrays_.labels[begin + i];
      require(counted_at[label] != n, "a histogram repeats a class");
      counted_at[label] = n;
      require(i == 0 || arrays_.counts[begin + i] <= arrays_.counts[begin + i - 1],
              "a histogram is not ranked by count");
      if (!has_arrivals_) continue;
      const std::uint32_t arrival = arrays_.arrivals[begin + i];
      require(arrival < size && !arrived[arrival], "'histograms.arrivals' is not an order");
      require(i == 0 || arrays_.counts[begin + i] < arrays_.counts[begin + i - 1] ||
                  arrival > arrays_.arrivals[begin + i - 1],
              "a histogram is not ranked by arrival where counts are equal");
      arrived[arrival] = true;
    }
  }
}

}  // namespace recalltree
