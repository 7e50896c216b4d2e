// CellTree: a tree with many children per node over class vectors, the "multiway splits" that the
// paper leaves for later.
//
// A cell holds the sketches of at most kCellSize classes side by side, a node above it the sketches
// of the centres of its children in the same way: a B-tree of directions. A row is compared with
// everything in the cells nearest to it, which a beam search from the root finds; a
// small tree is read whole. A cell that is full is split by 2-means.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "recalltree/base/arena.hpp"
#include "recalltree/base/fields.hpp"
#include "recalltree/base/types.hpp"
#include "recalltree/cells/cell_search.hpp"
#include "recalltree/cells/sketch.hpp"

namespace recalltree {

// Nodes in the order of their numbers. The entries of each fill whole blocks, the last of them with
// zeros. Parents, and where classes stand, follow from the ids.
template <template <class> class List>
struct CellTreeArrays {
  std::size_t sketch_width;
  List<std::uint32_t> levels = {}, sizes = {}, changes = {};
  List<std::uint8_t> sketches = {};
  List<float> scales = {}, biases = {};
  List<std::uint32_t> ids = {};

  template <class Self, class Visit>
  static void fields(Self& self, Visit visit) {
    visit("cells.levels", self.levels);
    const std::size_t n = self.levels.size();
    visit("cells.sizes", self.sizes, {.length = n});
    visit("cells.changes", self.changes, {.length = n, .for_learning = true});
    visit("cells.ids", self.ids, {.width = kInt8Block});
    const std::size_t n_ids = self.ids.size();
    visit("cells.scales", self.scales, {.length = n_ids, .width = kInt8Block});
    visit("cells.biases", self.biases, {.length = n_ids, .width = kInt8Block});
    visit("cells.sketches", self.sketches,
          {.length = n_ids * self.sketch_width, .width = kInt8Block * self.sketch_width});
  }
};

class CellTree : public CellTreePrediction<CellTree> {
 public:
  using Search = CellSearch;

  CellTree(std::size_t sketch_width, CellsToRead to_read);

  // For prediction.
  std::size_t sketch_width() const { return width_; }
  CellsToRead to_read() const { return to_read_; }
  NodeId root() const { return root_; }
  std::uint32_t root_level() const { return nodes_[root_].level; }
  std::uint32_t level(NodeId id) const { return nodes_[id].level; }
  std::size_t n_nodes() const { return nodes_.size(); }
  CellNode node(NodeId id) const {
    const Node& node = nodes_[id];
    return {node.size, node.sketches, node.scales, node.biases, node.ids};
  }

  // Puts a class into the cell nearest to it, out of the one where it was. Its vector is drawn
  // twice, as a vector and as a row.
  void place(ClassId y, const Sketch& sketch, const Sketch& row, float bias, Search& search);
  // Shows a class where it stands as it is now.
  void redraw(ClassId y, const Sketch& sketch, float bias);
  bool holds(ClassId y) const { return y < at_.size() && at_[y] != kNowhere; }
  void clear();

  std::size_t n_levels() const { return nodes_[root_].level + 1; }
  NodeId cell_of(ClassId y) const { return at_[y] / kCellSize; }
  std::size_t size(NodeId id) const { return nodes_[id].size; }

  void save(State& state) const;
  // The state has been checked; the tree has the same widths.
  void load(const State& state);
  std::size_t bytes() const {
    return arena_.used() + nodes_.capacity() * sizeof(Node) + at_.capacity() * sizeof(at_[0]);
  }

 private:
  static constexpr std::uint32_t kNowhere = 0xffffffffu;
  // Nodes that are followed down to the nearest cell when a class is placed.
  static constexpr std::size_t kPlaceBeam = 4;

  struct Node {
    std::uint32_t level = 0, size = 0, changes = 0;
    NodeId parent = kNoNode;
    // Arrays in one piece of memory, kCellSize entries of each.
    std::uint8_t* sketches = nullptr;  // in blocks, as kernels want them
    float *scales = nullptr, *biases = nullptr;
    std::uint32_t* ids = nullptr;  // classes of a cell, otherwise nodes
  };

  NodeId add_node(std::uint32_t level);
  void drop_nodes();
  float value(const Node& node, std::size_t slot, std::size_t j) const {
    return node.scales[slot] *
           static_cast<float>(node.sketches[int8_position(slot, j, width_)] - kInt8Offset);
  }
  void set_entry(Node& node, std::size_t slot, const Sketch& sketch, float bias, std::uint32_t id);
  void move_entry(Node& to, std::size_t to_slot, const Node& from, std::size_t from_slot);
  // Tells entries that came to a node where they are.
  void tell_place(NodeId id, std::size_t slot);
  std::size_t slot_in_parent(NodeId id) const;
  void erase(ClassId y);
  void insert(NodeId cell, ClassId y, const Sketch& sketch, float bias);
  NodeId split(NodeId id);
  Sketch centre(const Node& node) const;
  void refresh(NodeId id);
  void note_change(NodeId id);

  std::size_t width_;
  CellsToRead to_read_;
  Arena arena_;
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> at_;  // of each class: cell * kCellSize + slot
  NodeId root_ = 0;
};

}  // namespace recalltree
