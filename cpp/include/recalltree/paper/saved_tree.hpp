// Nodes and their label histograms as arrays: of one tree, or of several of which the roots come
// first. Histograms are ranked, so that the candidates of a node are the first of its labels.
#pragma once

#include <cstdint>
#include <utility>

#include "recalltree/base/fields.hpp"
#include "recalltree/base/types.hpp"

namespace recalltree {

template <template <class> class List>
struct TreeArrays {
  List<std::uint32_t> left, right, parent, depth, router;
  List<std::uint64_t> offsets;  // of each node's labels
  List<std::uint32_t> labels, arrivals;
  List<double> counts, sums;  // sums: total, of x log x, of the candidates

  template <class Self, class Visit>
  static void fields(Self& self, Visit visit) {
    visit("tree.left", self.left);
    const std::size_t n = self.left.size();
    visit("tree.right", self.right, {.length = n});
    visit("tree.parent", self.parent, {.length = n});
    visit("tree.depth", self.depth, {.length = n});
    visit("tree.router", self.router, {.length = n});
    visit("histograms.labels", self.labels);
    const std::size_t n_labels = self.labels.size();
    visit("histograms.counts", self.counts, {.length = n_labels});
    visit("histograms.arrivals", self.arrivals, {.length = n_labels, .for_learning = true});
    visit("histograms.offsets", self.offsets, {.length = n + 1});
    visit("histograms.sums", self.sums, {.length = 3 * n, .width = 3});
  }
};

class SavedTree {
 public:
  SavedTree() { arrays_.offsets.push_back(0); }

  // The next node. Then follow its labels, ranked, and its sums.
  template <class Node>
  void add_node(const Node& node) {
    arrays_.left.push_back(node.left);
    arrays_.right.push_back(node.right);
    arrays_.parent.push_back(node.parent);
    arrays_.depth.push_back(node.depth);
    arrays_.router.push_back(node.router);
  }
  void add_label(ClassId label, double count, std::uint32_t arrival) {
    arrays_.labels.push_back(label);
    arrays_.counts.push_back(count);
    arrays_.arrivals.push_back(arrival);
  }
  void add_sums(double total, double sum_xlogx, double candidate_mass) {
    arrays_.sums.insert(arrays_.sums.end(), {total, sum_xlogx, candidate_mass});
    arrays_.offsets.push_back(arrays_.labels.size());
  }

  void put_into(State& state) && { put_fields(std::move(arrays_), state); }

 private:
  TreeArrays<Owned> arrays_;
};

}  // namespace recalltree
