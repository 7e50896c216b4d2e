// LOMTree: a tree of routers with one class per leaf, grown and recycled online. The paper's
// computational baseline. The conventions are those of recalltree.reference's LOMTree.
#pragma once

#include <memory>
#include <vector>

#include "recalltree/base/config.hpp"
#include "recalltree/model/learner.hpp"
#include "recalltree/paper/label_sums.hpp"
#include "recalltree/paper/tree.hpp"

namespace recalltree {

class LOMTree final : public Learner {
 public:
  explicit LOMTree(const LOMTreeConfig& config);

  // One cache line.
  struct alignas(64) Node {
    NodeId left = kNoNode, right = kNoNode, parent = kNoNode;
    RowId router = 0;  // of a node with children
    double min_count = 0.0;
    ClassId majority = kNoClass;
    Margin margin;     // router: over all examples
    LabelSums labels;  // leaf: counts, of no weight; router: margins
    bool is_leaf() const { return left == kNoNode; }
  };
  static_assert(sizeof(Node) == 64);

  const LOMTreeConfig& config() const { return lom_config_; }
  const Weights& routers() const { return *routers_; }
  std::size_t n_nodes() const { return nodes_.size(); }
  const Node& node(NodeId n) const { return nodes_[n]; }
  RowId router(NodeId n) const { return nodes_[n].is_leaf() ? kNoRow : nodes_[n].router; }
  NodeId root() const { return root_; }
  void route(const Rows& rows, std::size_t i, std::vector<NodeId>& route) const;
  // A leaf's classes, the majority first, then by count, ties in order of arrival.
  std::vector<std::pair<ClassId, double>> leaf_labels(NodeId leaf) const;
  // The same of counts in order of arrival.
  static void rank_leaf(ClassId majority, std::vector<std::pair<ClassId, double>>& counts);

  State save() override;
  void load(const State& state) override;
  std::vector<std::pair<std::string, std::size_t>> memory() const override;

 protected:
  void learn_one(const Rows& rows, std::size_t i, ClassId y, double weight, Workspace& ws,
                 bool shared) override;
  void score(const Rows& rows, std::size_t i, Workspace& ws) const override;
  void score_rows(const Rows& rows, std::size_t begin, std::size_t end, Workspace& ws,
                  const Emit& emit) const override;
  std::size_t rows_at_once() const override { return std::size_t{1} << 12; }
  // Swaps change the shape of the tree, so that one thread learns, whatever the size of the team.
  void learn_batch(const Batch& batch, std::vector<Workspace>& team, bool first_pass) override;

 private:
  void rank_labels(NodeId leaf, std::vector<std::pair<ClassId, double>>& ranked) const;
  // A leaf's classes into ws.labels and ws.scores.
  void score_leaf(NodeId leaf, Workspace& ws) const;
  // Down to a leaf; margin_of(node) is asked on the way. The route ends at the leaf.
  template <class MarginOf>
  void descend(std::vector<NodeId>& route, MarginOf margin_of) const {
    NodeId n = root_;
    route.assign(1, n);
    while (!nodes_[n].is_leaf()) {
      n = margin_of(n) > 0.0f ? nodes_[n].right : nodes_[n].left;
      route.push_back(n);
    }
  }
  void descend(const Example& x, std::vector<NodeId>& route, std::vector<float>& margins) const;
  // The router is the found-th of ws.routers_found.
  float update_router(NodeId n, float margin, std::size_t found, ClassId y, double weight,
                      Workspace& ws);
  bool split(NodeId n);
  bool swap(NodeId n);
  void become_router(NodeId n, NodeId left, NodeId right, RowId router);
  // Routes that ask for a node's router have just asked for this one.
  RowId router_above(NodeId n) const {
    return nodes_[n].parent == kNoNode ? kNoRow : nodes_[nodes_[n].parent].router;
  }
  void clear(NodeId n, NodeId parent, ClassId majority, double min_count);
  void recompute_min_counts(NodeId n);
  std::size_t budget() const;

  LOMTreeConfig lom_config_;
  std::unique_ptr<Weights> routers_;
  std::vector<Node> nodes_;
  NodeId root_ = 0;
  std::size_t n_routers_ = 0;
};

}  // namespace recalltree
