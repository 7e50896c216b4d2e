// CellTree: where classes stand, and what is saved.
#include "recalltree/cells/cell_tree.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace recalltree {
CellTree::CellTree(std::size_t sketch_width, CellsToRead to_read)
    : width_(sketch_width), to_read_(to_read), arena_(64) {
  root_ = add_node(0);
}

void CellTree::clear() {
  drop_nodes();
  root_ = add_node(0);
}

void CellTree::drop_nodes() {
  const std::size_t piece = kCellSize * (width_ + 2 * sizeof(float) + sizeof(std::uint32_t));
  for (const Node& node : nodes_) arena_.release(node.sketches, piece);
  nodes_.clear();
  std::fill(at_.begin(), at_.end(), kNowhere);
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

// --- model files --------------------------------------------------------------------------------

void CellTree::save(State& state) const {
  CellTreeArrays<Owned> saved{width_};
  for (const Node& node : nodes_) {
    saved.levels.push_back(node.level);
    saved.sizes.push_back(node.size);
    saved.changes.push_back(node.changes);
    const std::size_t begin = saved.ids.size(), end = begin + in_whole_blocks(node.size);
    // Slots that are free hold what stood there before.
    saved.ids.insert(saved.ids.end(), node.ids, node.ids + node.size);
    saved.scales.insert(saved.scales.end(), node.scales, node.scales + node.size);
    saved.biases.insert(saved.biases.end(), node.biases, node.biases + node.size);
    saved.ids.resize(end);
    saved.scales.resize(end);
    saved.biases.resize(end);
    saved.sketches.resize(end * width_);
    for (std::size_t slot = 0; slot < node.size; ++slot)
      for (std::size_t j = 0; j < width_; j += kInt8Piece) {
        const std::size_t at = int8_position(slot, j, width_);
        std::memcpy(saved.sketches.data() + begin * width_ + at, node.sketches + at, kInt8Piece);
      }
  }
  put_fields(std::move(saved), state);
}

void CellTree::load(const State& state) {
  CellTreeArrays<Viewed> saved{width_};
  view_fields(saved, state);
  drop_nodes();
  std::size_t begin = 0;
  for (std::size_t id = 0; id < saved.levels.size(); ++id) {
    Node& node = nodes_[add_node(saved.levels[id])];
    node.size = saved.sizes[id];
    node.changes = saved.changes[id];
    const std::size_t n = in_whole_blocks(node.size);
    std::copy_n(saved.sketches.begin() + begin * width_, n * width_, node.sketches);
    std::copy_n(saved.scales.begin() + begin, n, node.scales);
    std::copy_n(saved.biases.begin() + begin, n, node.biases);
    std::copy_n(saved.ids.begin() + begin, n, node.ids);
    begin += n;
  }
  root_ = 0;
  for (NodeId id = 0; id < nodes_.size(); ++id) {
    if (nodes_[id].level > nodes_[root_].level) root_ = id;
    for (std::size_t slot = 0; slot < nodes_[id].size; ++slot) {
      if (nodes_[id].level == 0 && at_.size() <= nodes_[id].ids[slot])
        at_.resize(nodes_[id].ids[slot] + 1, kNowhere);
      tell_place(id, slot);
    }
  }
}

}  // namespace recalltree
