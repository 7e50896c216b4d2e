// CellTree: search, and what stands where.
#include "recalltree/cells/cell_tree.hpp"

#include <algorithm>
#include <cstring>

#include "recalltree/base/hints.hpp"

namespace recalltree {
CellTree::CellTree(std::size_t sketch_width, std::size_t cells_read)
    : width_(sketch_width), cells_read_(cells_read), arena_(64) {
  root_ = add_node(0);
}

void CellTree::clear() {
  const std::size_t piece = kCellSize * (width_ + 2 * sizeof(float) + sizeof(std::uint32_t));
  for (const Node& node : nodes_) arena_.release(node.sketches, piece);
  nodes_.clear();
  std::fill(at_.begin(), at_.end(), kNowhere);
  root_ = add_node(0);
}

NodeId CellTree::add_node(std::uint32_t level) {
  Node node;
  node.level = level;
  node.sketches = static_cast<std::uint8_t*>(
      arena_.allocate(kCellSize * (width_ + 2 * sizeof(float) + sizeof(std::uint32_t))));
  node.scales = reinterpret_cast<float*>(node.sketches + kCellSize * width_);
  node.biases = node.scales + kCellSize;
  node.ids = reinterpret_cast<std::uint32_t*>(node.biases + kCellSize);
  nodes_.push_back(node);
  return static_cast<NodeId>(nodes_.size() - 1);
}

void CellTree::set_entry(Node& node, std::size_t slot, const Sketch& sketch, float bias,
                         std::uint32_t id) {
  for (std::size_t j = 0; j < width_; j += kInt8Piece)
    std::memcpy(node.sketches + int8_position(slot, j, width_), sketch.bytes + j, kInt8Piece);
  node.scales[slot] = sketch.scale;
  node.biases[slot] = bias;
  node.ids[slot] = id;
}

void CellTree::move_entry(Node& to, std::size_t to_slot, const Node& from, std::size_t from_slot) {
  for (std::size_t j = 0; j < width_; j += kInt8Piece)
    std::memcpy(to.sketches + int8_position(to_slot, j, width_),
                from.sketches + int8_position(from_slot, j, width_), kInt8Piece);
  to.scales[to_slot] = from.scales[from_slot];
  to.biases[to_slot] = from.biases[from_slot];
  to.ids[to_slot] = from.ids[from_slot];
}

void CellTree::tell_place(NodeId id, std::size_t slot) {
  const Node& node = nodes_[id];
  if (node.level > 0)
    nodes_[node.ids[slot]].parent = id;
  else
    at_[node.ids[slot]] = static_cast<std::uint32_t>(id * kCellSize + slot);
}

// --- search -------------------------------------------------------------------------------------

// Compares a row with everything in the nodes; the n best are in `best`.
void CellTree::read(const Sketch& x, std::size_t n, Search& search) const {
  search.best.begin(n);
  for (std::size_t i = 0; i < search.nodes.size(); ++i) {
    const Node& node = nodes_[search.nodes[i]];
    if (i + 1 < search.nodes.size()) {
      const Node& next = nodes_[search.nodes[i + 1]];
      prefetch(next.sketches, next.size * width_);
      prefetch(next.scales, 2 * kCellSize);
    }
    const std::size_t blocks = (node.size + kInt8Block - 1) / kInt8Block;
    int8_kernels().scores(x.row(), x.scale, node.sketches, node.scales, node.biases, blocks, width_,
                          search.best.room(node.size));
    search.best.offer(node.ids, node.size);
    search.vectors += node.size;
  }
  search.cells += search.nodes.size();
}

// Down to the cells, of which the nearest are in `nodes`; above them a beam of nodes is followed.
void CellTree::descend(const Sketch& x, std::size_t beam, std::size_t cells, Search& search) const {
  search.nodes.assign(1, root_);
  for (std::uint32_t level = nodes_[root_].level; level > 0; --level) {
    read(x, level > 1 ? beam : cells, search);
    search.nodes.clear();
    for (const BestOf::Found& found : search.best.finish()) search.nodes.push_back(found.id);
  }
}

const std::vector<BestOf::Found>& CellTree::find(const Sketch& x, std::size_t n,
                                                 Search& search) const {
  descend(x, cells_read_, cells_read_, search);
  read(x, n, search);
  return search.best.finish();
}

// --- where classes stand ------------------------------------------------------------------------

void CellTree::place(ClassId y, const Sketch& sketch, const Sketch& row, float bias,
                     Search& search) {
  if (at_.size() <= y) at_.resize(y + 1, kNowhere);
  descend(row, kPlaceBeam, 1, search);
  const NodeId cell = search.nodes.front();
  if (holds(y) && cell_of(y) == cell) {
    redraw(y, sketch, bias);
    return note_change(cell);
  }
  if (holds(y)) erase(y);
  insert(cell, y, sketch, bias);
}

void CellTree::redraw(ClassId y, const Sketch& sketch, float bias) {
  set_entry(nodes_[cell_of(y)], at_[y] % kCellSize, sketch, bias, y);
}

void CellTree::erase(ClassId y) {
  const NodeId cell = cell_of(y);
  Node& node = nodes_[cell];
  const std::size_t slot = at_[y] % kCellSize, last = node.size - 1;
  at_[y] = kNowhere;
  if (slot != last) {
    move_entry(node, slot, node, last);
    tell_place(cell, slot);
  }
  --node.size;
  note_change(cell);
}

}  // namespace recalltree
