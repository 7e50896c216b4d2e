// The shape shared by nodes: children, depth, a router each. Nodes are only ever added.
#pragma once

#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

#include "recalltree/base/spin_lock.hpp"
#include "recalltree/base/stable_vector.hpp"
#include "recalltree/base/state.hpp"
#include "recalltree/base/types.hpp"
#include "recalltree/linear/weights.hpp"
#include "recalltree/paper/label_histogram.hpp"

namespace recalltree {

// One line of the cache each.
struct alignas(64) Node {
  LabelHistogram histogram;                           // guarded by lock while several threads learn
  std::atomic<NodeId> left{kNoNode}, right{kNoNode};  // made on first use
  std::atomic<ModelId> router{kNoModel};              // made on first use
  NodeId parent = kNoNode;
  std::uint32_t depth = 0;
  mutable SpinLock lock;
};
static_assert(sizeof(Node) == 64 || sizeof(void*) != 8);

// Nodes that have children, a parent, a depth, a router and a lock, whatever they hold beside that.
template <class Node>
class NodeTree {
 public:
  std::size_t size() const { return nodes_.size(); }
  Node& operator[](NodeId n) { return nodes_[n]; }
  const Node& operator[](NodeId n) const { return nodes_[n]; }
  NodeId child(NodeId n, bool right) const {
    const Node& node = nodes_[n];
    return (right ? node.right : node.left).load(std::memory_order_acquire);
  }
  NodeId parent(NodeId n) const { return nodes_[n].parent; }
  std::uint32_t depth(NodeId n) const { return nodes_[n].depth; }
  ModelId router(NodeId n) const { return nodes_[n].router.load(std::memory_order_acquire); }
  std::size_t node_bytes() const { return nodes_.bytes(); }

  // A node below a parent, or a root. prepare(node) runs before others can see it.
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
  NodeId child_or_new(NodeId n, bool right, Threads threads, Prepare prepare) {
    if (const NodeId known = child(n, right); known != kNoNode) return known;
    Node& node = nodes_[n];
    SpinLock::Guard guard(node.lock, threads);
    if (const NodeId known = child(n, right); known != kNoNode)
      return known;  // another thread was quicker
    const NodeId made = create(n, prepare);
    (right ? node.right : node.left).store(made, std::memory_order_release);
    return made;
  }
  // The router, created if it does not exist yet.
  ModelId router_or_new(NodeId n, Weights& routers, Threads threads) {
    if (const ModelId known = router(n); known != kNoModel) return known;
    SpinLock::Guard guard(nodes_[n].lock, threads);
    if (const ModelId known = router(n); known != kNoModel) return known;
    const ModelId made = routers.add_model();
    nodes_[n].router.store(made, std::memory_order_release);
    return made;
  }

 protected:
  StableVector<Node> nodes_;
};

class Tree : public NodeTree<Node> {
 public:
  // The child, created if it does not exist yet. kNoNode as a parent makes the root.
  NodeId child_or_new(NodeId n, bool right, Threads threads) {
    if (n == kNoNode) return root_or_new();
    return NodeTree::child_or_new(n, right, threads, [](Node&) {});
  }
  // Threads that learn the first examples of all at the same time make one root.
  NodeId root_or_new() {
    if (size() > 0) return 0;
    std::lock_guard lock(root_mutex_);
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

 private:
  std::mutex root_mutex_;
};

}  // namespace recalltree
