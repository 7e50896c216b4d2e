#include "recalltree/tree.hpp"

#include <utility>
#include <vector>

#include "recalltree/mapped_tree.hpp"

namespace recalltree {

void Tree::save(State& state) const {
  std::vector<std::uint32_t> left, right, parent, depth, router, labels, arrivals;
  std::vector<double> counts, sums;
  std::vector<std::uint64_t> offsets{0};
  std::vector<LabelHistogram::Candidate> ranked;
  for (NodeId n = 0; n < size(); ++n) {
    const Node& node = nodes_[n];
    left.push_back(node.left);
    right.push_back(node.right);
    parent.push_back(node.parent);
    depth.push_back(node.depth);
    router.push_back(node.router);
    const auto s = node.histogram.sums();
    sums.insert(sums.end(), {s.total, s.sum_xlogx, s.candidate_mass});
    // Ranked, so that the candidates come first whatever reads them.
    node.histogram.ranked(ranked);
    for (const auto& c : ranked) {
      labels.push_back(c.label);
      arrivals.push_back(c.arrival);
      counts.push_back(c.count);
    }
    offsets.push_back(labels.size());
  }
  state.put("tree.left", std::move(left));
  state.put("tree.right", std::move(right));
  state.put("tree.parent", std::move(parent));
  state.put("tree.depth", std::move(depth));
  state.put("tree.router", std::move(router));
  state.put("histograms.offsets", std::move(offsets));
  state.put("histograms.labels", std::move(labels));
  state.put("histograms.arrivals", std::move(arrivals));
  state.put("histograms.counts", std::move(counts));
  state.put("histograms.sums", std::move(sums), {size(), 3});
}

void Tree::load(const MappedTree& view, std::uint32_t max_candidates) {
  std::vector<ClassId> labels;
  std::vector<double> counts;
  for (NodeId n = 0; n < view.size(); ++n) {
    // Roots may be there already.
    Node& node = nodes_[n < size() ? n : create(view.parent(n), view.depth(n))];
    node.left = view.left(n);
    node.right = view.right(n);
    node.router = view.router(n);
    labels.resize(view.n_labels(n));
    counts.resize(view.n_labels(n));
    view.visit_labels(n, labels.size(), [&](ClassId label, double count, std::uint32_t arrival) {
      labels[arrival] = label;
      counts[arrival] = count;
    });
    node.histogram.restore(labels.data(), counts.data(), labels.size(),
                           {view.total(n), view.sum_xlogx(n), view.candidate_mass(n)},
                           max_candidates);
  }
}

}  // namespace recalltree
