// LOMTree: a tree of routers with one class per leaf, grown and recycled online. The paper's
// computational baseline. The conventions are those of recalltree.reference's LOMTree.
#pragma once

#include <memory>
#include <vector>

#include "recalltree/base/config.hpp"
#include "recalltree/base/fields.hpp"
#include "recalltree/model/learner.hpp"
#include "recalltree/paper/label_sums.hpp"
#include "recalltree/paper/lom_tree_prediction.hpp"

namespace recalltree {

template <template <class> class List>
struct LOMTreeArrays {
  List<std::uint32_t> root, left, right, parent, router, majority;
  List<double> min_count, margins;  // margins: sum and weight
  List<std::uint64_t> offsets;      // of each node's labels
  List<std::uint32_t> labels;
  List<double> values;  // of a label: a count and 0, or a margin's sum and weight

  template <class Self, class Visit>
  static void fields(Self& self, Visit visit) {
    visit("tree.root", self.root, {.length = 1});
    visit("tree.left", self.left);
    const std::size_t n = self.left.size();
    visit("tree.right", self.right, {.length = n});
    visit("tree.parent", self.parent, {.length = n});
    visit("tree.router", self.router, {.length = n});
    visit("tree.majority", self.majority, {.length = n});
    visit("tree.min_count", self.min_count, {.length = n});
    visit("tree.margins", self.margins, {.length = 2 * n, .width = 2, .for_learning = true});
    visit("labels.offsets", self.offsets, {.length = n + 1});
    visit("labels.labels", self.labels);
    visit("labels.values", self.values, {.length = 2 * self.labels.size(), .width = 2});
  }
};

class LOMTree final : public LOMTreePrediction<LOMTree, Learner> {
 public:
  explicit LOMTree(const LOMTreeConfig& config);

  // One cache line.
  struct alignas(64) Node {
    NodeId left = kNoNode, right = kNoNode, parent = kNoNode;
    ModelId router = 0;  // of a node with children
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
  ModelId router(NodeId n) const { return nodes_[n].is_leaf() ? kNoModel : nodes_[n].router; }
  NodeId root() const { return root_; }
  bool is_leaf(NodeId n) const { return nodes_[n].is_leaf(); }
  NodeId child(NodeId n, bool right) const { return right ? nodes_[n].right : nodes_[n].left; }
  ClassId majority(NodeId n) const { return nodes_[n].majority; }
  void leaf_counts(NodeId n, RankedLabels& out) const {
    out.resize(nodes_[n].labels.size());
    nodes_[n].labels.visit(
        [&](const LabelSums::Entry& entry) { out[entry.arrival] = {entry.label, entry.sum}; });
  }
  void prefetch_labels(NodeId n) const { nodes_[n].labels.prefetch(nodes_[n].majority); }

  State save() const override;
  void load(const State& state) override;
  std::vector<std::pair<std::string, std::size_t>> memory() const override;

 protected:
  // Swaps change the shape of the tree: there are no mini-batches, and one thread learns all rows.
  void learn_one(const Rows& rows, std::size_t i, Labels labels, double weight,
                 Workspace& ws) override;

 private:
  // The router is the found-th of ws.routers_found.
  float update_router(NodeId n, float margin, std::size_t found, ClassId y, double weight,
                      LOMTreeWorkspace& ws);
  bool split(NodeId n);
  bool swap(NodeId n);
  void become_router(NodeId n, NodeId left, NodeId right, ModelId router);
  // Routes that ask for a node's router have just asked for this one.
  ModelId router_above(NodeId n) const {
    return nodes_[n].parent == kNoNode ? kNoModel : nodes_[nodes_[n].parent].router;
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
