#include "recalltree/paper/tree.hpp"

#include <utility>
#include <vector>

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

void Tree::load(const State& state, std::uint32_t max_candidates) {
  TreeArrays<Viewed> saved;
  view_fields(saved, state);
  std::vector<ClassId> labels;
  std::vector<double> counts;
  for (NodeId n = 0; n < saved.left.size(); ++n) {
    // Roots may be there already.
    Node& node = nodes_[n < size() ? n : create(saved.parent[n], [](Node&) {})];
    node.left = saved.left[n];
    node.right = saved.right[n];
    node.router = saved.router[n];
    const std::size_t begin = saved.offsets[n], n_labels = saved.offsets[n + 1] - begin;
    labels.resize(n_labels);
    counts.resize(n_labels);
    for (std::size_t i = begin; i < begin + n_labels; ++i) {
      labels[saved.arrivals[i]] = saved.labels[i];
      counts[saved.arrivals[i]] = saved.counts[i];
    }
    node.histogram.restore(labels.data(), counts.data(), n_labels,
                           {saved.sums[3 * n], saved.sums[3 * n + 1], saved.sums[3 * n + 2]},
                           max_candidates);
  }
}

}  // namespace recalltree
