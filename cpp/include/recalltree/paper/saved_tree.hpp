// Nodes and their label histograms on the way into a state, where MappedTree views them: of one
// tree, or of several of which the roots come first.
#pragma once

#include <cstdint>
#include <vector>

#include "recalltree/base/state.hpp"
#include "recalltree/base/types.hpp"

namespace recalltree {

class SavedTree {
 public:
  // The next node. Then follow its labels, ranked, so that the candidates come first whatever reads
  // them, and its sums.
  template <class Node>
  void add_node(const Node& node) {
    left_.push_back(node.left);
    right_.push_back(node.right);
    parent_.push_back(node.parent);
    depth_.push_back(node.depth);
    router_.push_back(node.router);
  }
  void add_label(ClassId label, double count, std::uint32_t arrival) {
    labels_.push_back(label);
    counts_.push_back(count);
    arrivals_.push_back(arrival);
  }
  void add_sums(double total, double sum_xlogx, double candidate_mass) {
    sums_.insert(sums_.end(), {total, sum_xlogx, candidate_mass});
    offsets_.push_back(labels_.size());
  }

  void put_into(State& state) &&;

 private:
  std::vector<std::uint32_t> left_, right_, parent_, depth_, router_;
  std::vector<std::uint64_t> offsets_{0};  // of each node's labels
  std::vector<std::uint32_t> labels_, arrivals_;
  std::vector<double> counts_, sums_;
};

}  // namespace recalltree
