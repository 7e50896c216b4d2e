// The shape shared by nodes: children, depth, a router each. Nodes are only ever added.
#pragma once

#include <algorithm>
#include <vector>

#include "recalltree/base/stable_vector.hpp"
#include "recalltree/base/state.hpp"
#include "recalltree/base/types.hpp"
#include "recalltree/linear/weights.hpp"
#include "recalltree/paper/label_histogram.hpp"

namespace recalltree {

// One line of the cache each.
struct alignas(64) Node {
  LabelHistogram histogram;
  NodeId left = kNoNode, right = kNoNode;  // made on first use
  ModelId router = kNoModel;               // made on first use
  NodeId parent = kNoNode;
  std::uint32_t depth = 0;
};
static_assert(sizeof(Node) == 64 || sizeof(void*) != 8);

// Nodes that have children, a parent, a depth and a router, whatever they hold beside that.
template <class Node>
class NodeTree {
 public:
  std::size_t size() const { return nodes_.size(); }
  Node& operator[](NodeId n) { return nodes_[n]; }
  const Node& operator[](NodeId n) const { return nodes_[n]; }
  NodeId child(NodeId n, bool right) const { return right ? nodes_[n].right : nodes_[n].left; }
  NodeId parent(NodeId n) const { return nodes_[n].parent; }
  std::uint32_t depth(NodeId n) const { return nodes_[n].depth; }
  ModelId router(NodeId n) const { return nodes_[n].router; }
  std::size_t node_bytes() const { return nodes_.bytes(); }

  // A node below a parent, or a root, prepared by prepare(node).
  template <class Prepare>
  NodeId create(NodeId parent, Prepare prepare) {
    return static_cast<NodeId>(nodes_.add([&](Node& node) {
      node.parent = parent;
      node.depth = parent == kNoNode ? 0 : nodes_[parent].depth + 1;
      prepare(node);
    }));
  }
  // The child, created if it does not exist yet.
  template <class Prepare>
  NodeId child_or_new(NodeId n, bool right, Prepare prepare) {
    NodeId& child = right ? nodes_[n].right : nodes_[n].left;
    if (child == kNoNode) child = create(n, prepare);
    return child;
  }
  // The router, created if it does not exist yet.
  ModelId router_or_new(NodeId n, Weights& routers) {
    ModelId& router = nodes_[n].router;
    if (router == kNoModel) router = routers.add_model();
    return router;
  }

 protected:
  StableVector<Node> nodes_;
};

class Tree : public NodeTree<Node> {
 public:
  // The child, created if it does not exist yet. kNoNode as a parent makes the root.
  NodeId child_or_new(NodeId n, bool right) {
    if (n == kNoNode) return root_or_new();
    return NodeTree::child_or_new(n, right, [](Node&) {});
  }
  NodeId root_or_new() {
    return size() > 0 ? 0 : create(kNoNode, [](Node&) {});
  }

  // For prediction, while nothing learns.
  double total(NodeId n) const { return nodes_[n].histogram.total(); }
  std::size_t n_labels(NodeId n) const { return nodes_[n].histogram.size(); }
  // Share of the examples whose label is a candidate. The node's histogram has this many already.
  double recall(NodeId n, std::uint32_t) const { return nodes_[n].histogram.recall(); }
  void candidates(NodeId n, std::uint32_t, std::vector<LabelHistogram::Candidate>& out) const {
    nodes_[n].histogram.candidates(out);
    std::sort(out.begin(), out.end(), LabelHistogram::better);
  }
  void ranked(NodeId n, std::vector<LabelHistogram::Candidate>& out) const {
    nodes_[n].histogram.ranked(out);
  }

  void save(State& state) const;
  // The state has been checked. Roots that exist already stay.
  void load(const State& state, std::uint32_t max_candidates);

  std::size_t histogram_bytes() const {
    std::size_t sum = 0;
    for (std::size_t n = 0; n < size(); ++n) sum += nodes_[n].histogram.bytes();
    return sum;
  }
};

}  // namespace recalltree
