// Nodes and their label histograms, viewed where SavedTree put them: of one tree, or of several of
// which the roots come first.
//
// Histograms are ranked in the saved arrays, so that the candidates of a node are the first of its
// labels.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "recalltree/base/state.hpp"
#include "recalltree/base/types.hpp"
#include "recalltree/paper/label_histogram.hpp"
#include "recalltree/paper/saved_tree.hpp"

namespace recalltree {

class MappedTree {
 public:
  // Checks links, offsets and labels; how many routers there are is checked by check_routers.
  MappedTree(const State& state, std::size_t n_roots, std::size_t n_classes);

  std::size_t size() const { return arrays_.left.size(); }
  NodeId left(NodeId n) const { return arrays_.left[n]; }
  NodeId right(NodeId n) const { return arrays_.right[n]; }
  NodeId parent(NodeId n) const { return arrays_.parent[n]; }
  std::uint32_t depth(NodeId n) const { return arrays_.depth[n]; }
  ModelId router(NodeId n) const { return arrays_.router[n]; }
  // The child that the file names, or kNoNode if that is outside of the tree or further up.
  NodeId child(NodeId n, bool right) const {
    const NodeId child = (right ? arrays_.right : arrays_.left)[n];
    return child > n && child < size() ? child : kNoNode;
  }

  std::size_t n_labels(NodeId n) const { return end(n) - begin(n); }
  double total(NodeId n) const { return arrays_.sums[3 * n]; }
  double sum_xlogx(NodeId n) const { return arrays_.sums[3 * n + 1]; }
  double candidate_mass(NodeId n) const { return arrays_.sums[3 * n + 2]; }
  // Share of the examples whose label is among the max_candidates first.
  double recall(NodeId n, std::uint32_t max_candidates) const {
    return n_labels(n) <= max_candidates ? 1.0 : std::min(1.0, candidate_mass(n) / total(n));
  }
  // Calls visit(label, count, position in order of arrival) for the first `limit` labels and
  // returns how many they were. Without arrivals, as in a model that only predicts, positions are
  // ranks.
  template <class Visit>
  std::size_t visit_labels(NodeId n, std::size_t limit, Visit visit) const {
    const std::size_t first = begin(n), last = std::min(end(n), first + limit);
    for (std::size_t i = first; i < last; ++i)
      if (arrays_.labels[i] < n_classes_)
        visit(arrays_.labels[i], arrays_.counts[i],
              has_arrivals_ ? arrays_.arrivals[i] : static_cast<std::uint32_t>(i - first));
    return last - first;
  }

  // The first max_candidates labels, and all.
  void candidates(NodeId n, std::uint32_t max_candidates,
                  std::vector<LabelHistogram::Candidate>& out) const {
    out.clear();
    visit_labels(n, max_candidates, [&](ClassId label, double count, std::uint32_t arrival) {
      out.push_back({label, arrival, count});
    });
  }
  void ranked(NodeId n, std::vector<LabelHistogram::Candidate>& out) const {
    candidates(n, static_cast<std::uint32_t>(n_labels(n)), out);
  }

  // True if learning can continue from here.
  bool is_complete() const { return has_arrivals_; }
  void check_routers(std::size_t n_routers) const;
  // Throws std::invalid_argument where a number is not finite, or out of order. Reads everything.
  void check() const;

  std::size_t node_bytes() const { return bytes_of_fields(arrays_) - histogram_bytes(); }
  std::size_t histogram_bytes() const {
    return arrays_.labels.size_bytes() + arrays_.counts.size_bytes() +
           arrays_.arrivals.size_bytes();
  }

 private:
  void check_links(std::size_t n_roots) const;
  std::size_t begin(NodeId n) const { return std::min<std::size_t>(arrays_.offsets[n], end(n)); }
  std::size_t end(NodeId n) const {
    return std::min<std::size_t>(arrays_.offsets[n + 1], arrays_.labels.size());
  }

  std::size_t n_classes_;
  bool has_arrivals_;  // not in a model that only predicts
  TreeArrays<Viewed> arrays_;
};

}  // namespace recalltree
