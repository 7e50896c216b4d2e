#include "recalltree/file/mapped_tree.hpp"

#include <vector>

#include "recalltree/file/state_checks.hpp"

namespace recalltree {

MappedTree::MappedTree(const State& state, std::size_t n_roots, std::size_t n_classes)
    : n_classes_(n_classes) {
  left_ = state.get<std::uint32_t>("tree.left");
  right_ = state.get<std::uint32_t>("tree.right", size());
  parent_ = state.get<std::uint32_t>("tree.parent", size());
  depth_ = state.get<std::uint32_t>("tree.depth", size());
  router_ = state.get<std::uint32_t>("tree.router", size());
  check_links(n_roots);

  labels_ = state.get<std::uint32_t>("histograms.labels");
  counts_ = state.get<double>("histograms.counts", labels_.size());
  offsets_ = state.get<std::uint64_t>("histograms.offsets", size() + 1);
  sums_ = state.get<double>("histograms.sums", 3 * size());
  has_arrivals_ = state.has("histograms.arrivals");
  if (has_arrivals_) arrivals_ = state.get<std::uint32_t>("histograms.arrivals", labels_.size());
  check_offsets(offsets_, labels_.size(), "histograms.offsets");
  check_class_ids(labels_, n_classes, "histograms.labels");
}

// Children come after their parents and name them, so there are no cycles and every node is reached
// once.
void MappedTree::check_links(std::size_t n_roots) const {
  const auto is_child = [&](NodeId child, NodeId n) {
    return child == kNoNode ||
           (child > n && child < size() && parent_[child] == n && depth_[child] == depth_[n] + 1);
  };
  for (NodeId n = 0; n < size(); ++n) {
    require(n < n_roots ? parent_[n] == kNoNode && depth_[n] == 0 : parent_[n] < n,
            "a node has no parent");
    require(is_child(left_[n], n) && is_child(right_[n], n) &&
                (left_[n] != right_[n] || left_[n] == kNoNode),
            "a node's children are not its own");
    require(n < n_roots || left_[parent_[n]] == n || right_[parent_[n]] == n,
            "a node is not a child of its parent");
  }
}

void MappedTree::check_routers(std::size_t n_routers) const {
  for (const RowId router : router_)
    require(router == kNoRow || router < n_routers, "a router does not exist");
}

void MappedTree::check() const {
  check_finite(counts_, "histograms.counts");
  check_finite(sums_, "histograms.sums");
  std::vector<NodeId> counted_at(n_classes_, kNoNode);
  std::vector<bool> arrived;
  for (NodeId n = 0; n < size(); ++n) {
    const std::size_t begin = this->begin(n), size = n_labels(n);
    arrived.assign(size, false);
    for (std::size_t i = 0; i < size; ++i) {
      const ClassId label = labels_[begin + i];
      require(counted_at[label] != n, "a histogram repeats a class");
      counted_at[label] = n;
      require(i == 0 || counts_[begin + i] <= counts_[begin + i - 1],
              "a histogram is not ranked by count");
      if (!has_arrivals_) continue;
      const std::uint32_t arrival = arrivals_[begin + i];
      require(arrival < size && !arrived[arrival], "'histograms.arrivals' is not an order");
      require(i == 0 || counts_[begin + i] < counts_[begin + i - 1] ||
                  arrival > arrivals_[begin + i - 1],
              "a histogram is not ranked by arrival where counts are equal");
      arrived[arrival] = true;
    }
  }
}

std::size_t MappedTree::node_bytes() const {
  return left_.size_bytes() * 5 + offsets_.size_bytes() + sums_.size_bytes();
}

}  // namespace recalltree
