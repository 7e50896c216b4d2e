#include "recalltree/paper/saved_tree.hpp"

#include <utility>

namespace recalltree {

void SavedTree::put_into(State& state) && {
  const std::size_t n_nodes = left_.size();
  state.put("tree.left", std::move(left_));
  state.put("tree.right", std::move(right_));
  state.put("tree.parent", std::move(parent_));
  state.put("tree.depth", std::move(depth_));
  state.put("tree.router", std::move(router_));
  state.put("histograms.offsets", std::move(offsets_));
  state.put("histograms.labels", std::move(labels_));
  state.put("histograms.arrivals", std::move(arrivals_));
  state.put("histograms.counts", std::move(counts_));
  state.put("histograms.sums", std::move(sums_), {n_nodes, 3});
}

}  // namespace recalltree
