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

// The router of a node, made on first use.
template <class Node>
ModelId router_or_new(Node& node, Weights& routers, Threads threads) {
  ModelId router = node.router.load(std::memory_order_acquire);
  if (router != kNoModel) return router;
  SpinLock::Guard guard(node.lock, threads);
  router = node.router.load(std::memory_order_relaxed);
  if (router != kNoModel) return router;  // another thread was quicker
  router = routers.add_model();
  node.router.store(router, std::memory_order_release);
  return router;
}

class Tree {
 public:
  std::size_t size() const { return nodes_.size(); }
  Node& operator[](NodeId n) { return nodes_[n]; }
  const Node& operator[](NodeId n) const { return nodes_[n]; }

  NodeId child(NodeId n, bool right) const {
    const Node& node = nodes_[n];
    return (right ? node.right : node.left).load(std::memory_order_acquire);
  }

  // The child, created if it does not exist yet. kNoNode as a parent makes the root.
  NodeId child_or_new(NodeId n, bool right, Threads threads) {
    if (n == kNoNode) return root_or_new();
    if (const NodeId known = child(n, right); known != kNoNode) return known;
    Node& node = nodes_[n];
    SpinLock::Guard guard(node.lock, threads);
    if (const NodeId known = child(n, right); known != kNoNode)
      return known;  // another thread was quicker
    const NodeId made = create(n, node.depth + 1);
    (right ? node.right : node.left).store(made, std::memory_order_release);
    return made;
  }

  // Threads that learn the first examples of all at the same time make one root.
  NodeId root_or_new() {
    if (size() > 0) return 0;
    std::lock_guard lock(root_mutex_);
    return size() > 0 ? 0 : create(kNoNode, 0);
  }

  NodeId create(NodeId parent, std::uint32_t depth) {
    return static_cast<NodeId>(nodes_.add([&](Node& node) {
      node.parent = parent;
      node.depth = depth;
    }));
  }

  // For prediction, while nobody learns.
  NodeId parent(NodeId n) const { return nodes_[n].parent; }
  std::uint32_t depth(NodeId n) const { return nodes_[n].depth; }
  ModelId router(NodeId n) const { return nodes_[n].router.load(std::memory_order_acquire); }
  double total(NodeId n) const { return nodes_[n].histogram.total(); }
  std::size_t n_labels(NodeId n) const { return nodes_[n].histogram.size(); }
  // Share of the examples whose label is a candidate. The node's histogram has so many already.
  double recall(NodeId n, std::uint32_t) const { return nodes_[n].histogram.recall(); }
  void candidates(NodeId n, std::uint32_t, std::vector<LabelHistogram::Candidate>& out) const {
    nodes_[n].histogram.candidates(out);
    std::sort(out.begin(), out.end(), LabelHistogram::better);
  }
  void ranked(NodeId n, std::vector<LabelHistogram::Candidate>& out) const {
    nodes_[n].histogram.ranked(out);
  }

  void save(State& state) const;
  // Of a state that has been checked. Roots that exist already stay.
  void load(const State& state, std::uint32_t max_candidates);

  std::size_t node_bytes() const { return nodes_.bytes(); }
  std::size_t histogram_bytes() const {
    std::size_t sum = 0;
    for (std::size_t n = 0; n < size(); ++n) sum += nodes_[n].histogram.bytes();
    return sum;
  }

 private:
  StableVector<Node> nodes_;
  std::mutex root_mutex_;
};

}  // namespace recalltree
