// Shallow recall trees side by side, and the nodes that an example belongs to as its keys.
//
// Routers learn by the paper's entropy rule, as in the Recall Tree. What makes the trees differ is
// where a router begins: at a random hyperplane of its own. A tree whose leaves vote has a second
// key for every example: where it would have ended had the router that was least sure sent it the
// other way.
//
// Nodes that may be keys have label histograms: all of them if routes may end anywhere, as on the
// paper's path, otherwise the last ones. How many examples of a class passed a node follows from
// where they ended.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "recalltree/base/config.hpp"
#include "recalltree/base/fields.hpp"
#include "recalltree/base/types.hpp"
#include "recalltree/linear/linear_learner.hpp"
#include "recalltree/paper/tree.hpp"
#include "recalltree/voting/class_nodes.hpp"
#include "recalltree/voting/key_forest_prediction.hpp"

namespace recalltree {

// The labels of a node that votes: those with the largest counts, ranked.
class NodeHistogram {
 public:
  struct Entry {
    ClassId label;
    float root;  // square root of the label's count
    double count() const { return double(root) * double(root); }
  };

  const std::vector<Entry>& entries() const { return entries_; }
  std::size_t size() const { return entries_.size(); }
  double total() const { return total_; }  // of all labels, listed or not
  // The sum of the counts that are listed.
  double mass() const {
    double mass = 0.0;
    for (const Entry& entry : entries_) mass += entry.count();
    return mass;
  }
  template <class Visit>
  RECALLTREE_INLINE std::size_t visit(Visit visit) const {
    for (const Entry& entry : entries_) visit(entry.label, entry.root);
    return entries_.size();
  }

  void add_to_total(double weight) { total_ += weight; }
  // The count of a label has grown, and its root with it. Lists at most `limit` labels, and returns
  // how many entries were touched.
  std::size_t raise(ClassId label, float before, float after, std::size_t limit);
  // All counts times a factor whose root this is.
  void rescale(double root);
  std::size_t bytes() const { return entries_.capacity() * sizeof(Entry); }

 private:
  std::vector<Entry> entries_;
  double total_ = 0.0;
};

struct KeyNode {
  // As when nodes had a lock: models with a memory budget forget when they did then.
  static constexpr std::size_t kCountedBytes = 80;

  NodeId left = kNoNode, right = kNoNode;  // made on first use
  ModelId router = kNoModel;               // made on first use
  NodeId parent = kNoNode;
  std::uint32_t tree = 0, depth = 0;
  std::uint64_t place = 1;  // in its tree: 1 at the root, 2 p and 2 p + 1 below p
  double passed = 0.0;      // weight of the examples, in growing units
  NodeHistogram histogram;  // of those for which it is a key
};

// State of learning beside nodes and histograms (TreeArrays): the examples that passed each node,
// and the nodes that counted each class.
template <template <class> class List>
struct ForestArrays {
  std::size_t n_nodes = 0, n_classes = 0;
  List<double> passed;
  List<std::uint64_t> offsets;
  List<std::uint32_t> nodes;
  List<float> counts;

  template <class Self, class Visit>
  static void fields(Self& self, Visit visit) {
    visit("tree.passed", self.passed, {.length = self.n_nodes, .for_learning = true});
    visit("class_nodes.offsets", self.offsets,
          {.length = self.n_classes + 1, .for_learning = true});
    visit("class_nodes.nodes", self.nodes, {.for_learning = true});
    visit("class_nodes.counts", self.counts, {.length = self.nodes.size(), .for_learning = true});
  }
};

class KeyForest : public KeyForestPrediction<KeyForest> {
 public:
  explicit KeyForest(const OneAgainstSomeConfig& config);

  const NodeTree<KeyNode>& tree() const { return tree_; }
  const Weights& routers() const { return *routers_; }
  template <class Use>
  RECALLTREE_INLINE auto with_histogram(NodeId n, Use use) const {
    return use(tree_[n].histogram);
  }

  std::size_t histogram_bytes() const { return class_nodes_.bytes() + label_bytes_; }
  // All bytes for this many classes, of which the new ones have no counts.
  std::size_t bytes(std::size_t n_classes) const {
    const std::size_t nodes = tree_.node_bytes() + routers_->bytes();
    return n_trees() == 0 ? nodes : nodes + class_nodes_.bytes(n_classes) + label_bytes_;
  }

  void grow_to(std::size_t n_classes) {
    if (n_trees() > 0) class_nodes_.grow_to(n_classes);
  }

  // Notes what the routers on the way learn: which side lowers the entropy.
  void find_router_lessons(Labels labels, double weight, double decay_unit,
                           VotingWorkspace& ws) const;
  // Makes the routers that learn, and the children that come next; notes where the example arrives:
  // on the way and at these children.
  void arrive(RowNotes& notes);
  // Applies a lesson of an example to its router, which sees the example as x.
  void teach(const RouterLesson& lesson, const Example& x, const LinearLearner& learner,
             LinearLearner::Workspace& ws);
  // Counts the example at a node that is a key: first for the label, then for the node.
  void count_label(Arrival& arrival, ClassId y, double counted);
  // Returns how many entries were touched.
  std::size_t count_node(const Arrival& arrival, ClassId y, double counted);
  void rescale(double factor);

  void save(State& state) const;
  // The state has been checked.
  void load(const State& state);

 private:
  // The count of a label at a node that may be a key has grown. Returns how many entries were
  // touched.
  std::size_t raise(KeyNode& node, ClassId y, float before, float after);
  NodeId child_or_new(NodeId n, bool is_right);
  void find_passed(Labels labels, VotingWorkspace& ws) const;
  void find_passed(ClassId y, std::vector<std::vector<Passed>>& passed_of_y,
                   VotingWorkspace& ws) const;
  void find_router_lesson(std::size_t tree, std::size_t depth, std::size_t n_labels, double weight,
                          double decay_unit, VotingWorkspace& ws) const;

  NodeTree<KeyNode> tree_;  // all trees; the roots come first
  ClassNodes class_nodes_;
  std::unique_ptr<Weights> routers_;
  std::atomic<std::size_t> label_bytes_{0};  // of the nodes' histograms
};

}  // namespace recalltree
