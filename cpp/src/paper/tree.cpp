#include "recalltree/paper/tree.hpp"

#include <utility>
#include <vector>

#include "recalltree/file/mapped_tree.hpp"
#include "recalltree/paper/saved_tree.hpp"

namespace recalltree {

void Tree::save(State& state) const {
  SavedTree saved;
  std::vector<LabelHistogram::Candidate> ranked;
  for (NodeId n = 0; n < size(); ++n) {
    const Node& node = nodes_[n];
    saved.add_node(node);
    node.histogram.ranked(ranked);
    for (const auto& c : ranked) saved.add_label(c.label, c.count, c.arrival);
    const auto sums = node.histogram.sums();
    saved.add_sums(sums.total, sums.sum_xlogx, sums.candidate_mass);
  }
  std::move(saved).put_into(state);
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
