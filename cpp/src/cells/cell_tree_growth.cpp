// CellTree: how it grows.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numeric>

#include "recalltree/base/example.hpp"
#include "recalltree/cells/cell_tree.hpp"
#include "recalltree/kernels/kernels.hpp"

namespace recalltree {
namespace {

// A centre is drawn again when its node has changed by this share.
constexpr std::uint32_t kChangesPerDraw = 8;
constexpr int kRoundsOfMeans = 4;
// Each half of a node that is split has at least this share of its entries: one in this many.
constexpr std::size_t kSmallestHalf = 4;

float squares(const float* v, std::size_t n) { return kernels().dot(v, v, n); }

void make_unit(float* v, std::size_t n) {
  const float length = squares(v, n);
  const float factor = length > 0.0f ? 1.0f / std::sqrt(length) : 0.0f;
  for (std::size_t j = 0; j < n; ++j) v[j] *= factor;
}

}  // namespace

std::size_t CellTree::slot_in_parent(NodeId id) const {
  const Node& parent = nodes_[nodes_[id].parent];
  return static_cast<std::size_t>(std::find(parent.ids, parent.ids + parent.size, id) - parent.ids);
}

// The direction of the sum of all entries.
Sketch CellTree::centre(const Node& node) const {
  alignas(64) float sum[kSketchWidth] = {};
  for (std::size_t i = 0; i < node.size; ++i)
    for (std::size_t j = 0; j < width_; ++j) sum[j] += value(node, i, j);
  make_unit(sum, width_);
  Sketch sketch;
  sketch.draw_vector(sum, width_);
  return sketch;
}

void CellTree::refresh(NodeId id) {
  nodes_[id].changes = 0;
  const NodeId parent = nodes_[id].parent;
  if (parent == kNoNode) return;
  set_entry(nodes_[parent], slot_in_parent(id), centre(nodes_[id]), 0.0f, id);
  note_change(parent);
}

void CellTree::note_change(NodeId id) {
  Node& node = nodes_[id];
  if (++node.changes * kChangesPerDraw >= node.size) refresh(id);
}

void CellTree::insert(NodeId cell, ClassId y, const Sketch& sketch, float bias) {
  if (nodes_[cell].size == kCellSize) {
    const NodeId other = split(cell);
    const auto nearness = [&](NodeId id) {
      const Node& above = nodes_[nodes_[id].parent];
      const std::size_t slot = slot_in_parent(id);
      float sum = 0.0f;
      for (std::size_t j = 0; j < width_; ++j)
        sum += value(above, slot, j) * static_cast<float>(sketch.bytes[j] - kInt8Offset);
      return sum;
    };
    if (nearness(other) > nearness(cell)) cell = other;
  }
  Node& node = nodes_[cell];
  const std::size_t slot = node.size++;
  set_entry(node, slot, sketch, bias, y);
  tell_place(cell, slot);
  note_change(cell);
}

// By 2-means, into halves that are not too unequal. Returns the new node.
NodeId CellTree::split(NodeId id) {
  if (nodes_[id].parent == kNoNode) {
    const NodeId above = add_node(nodes_[id].level + 1);
    nodes_[above].size = 1;
    set_entry(nodes_[above], 0, centre(nodes_[id]), 0.0f, id);
    nodes_[id].parent = above;
    root_ = above;
  } else if (nodes_[nodes_[id].parent].size == kCellSize) {
    split(nodes_[id].parent);
  }
  const NodeId other = add_node(nodes_[id].level);
  Node &node = nodes_[id], &added = nodes_[other];
  const std::size_t n = node.size;

  AlignedFloats entries(n * width_);
  for (std::size_t i = 0; i < n; ++i) {
    float* const entry = entries.data() + i * width_;
    for (std::size_t j = 0; j < width_; ++j) entry[j] = value(node, i, j);
    make_unit(entry, width_);
  }
  // It begins with the entry that is farthest from the first one, and the one farthest from that.
  const auto farthest_from = [&](std::size_t from) {
    std::size_t at = 0;
    float least = 2.0f;
    for (std::size_t i = 0; i < n; ++i) {
      const float dot =
          kernels().dot(entries.data() + from * width_, entries.data() + i * width_, width_);
      if (dot < least) least = dot, at = i;
    }
    return at;
  };
  const std::size_t a = farthest_from(0), b = farthest_from(a);
  // Entries whose product with this is negative go to the new node.
  AlignedFloats difference(width_), sums(2 * width_);
  for (std::size_t j = 0; j < width_; ++j)
    difference.data()[j] = entries.data()[a * width_ + j] - entries.data()[b * width_ + j];
  std::array<float, kCellSize> side;
  for (int round = 0;; ++round) {
    for (std::size_t i = 0; i < n; ++i)
      side[i] = kernels().dot(difference.data(), entries.data() + i * width_, width_);
    if (round == kRoundsOfMeans) break;
    std::fill_n(sums.data(), 2 * width_, 0.0f);
    for (std::size_t i = 0; i < n; ++i)
      kernels().step(sums.data() + (side[i] < 0.0f ? width_ : 0), entries.data() + i * width_, 1.0f,
                     width_);
    make_unit(sums.data(), width_);
    make_unit(sums.data() + width_, width_);
    for (std::size_t j = 0; j < width_; ++j)
      difference.data()[j] = sums.data()[j] - sums.data()[width_ + j];
  }
  std::array<std::uint32_t, kCellSize> order;
  std::iota(order.begin(), order.begin() + n, 0u);
  std::stable_sort(order.begin(), order.begin() + n,
                   [&](std::uint32_t i, std::uint32_t j) { return side[i] > side[j]; });
  const auto not_negative = static_cast<std::size_t>(
      std::count_if(side.begin(), side.begin() + n, [](float s) { return s >= 0.0f; }));
  const std::size_t kept = std::clamp(not_negative, n / kSmallestHalf, n - n / kSmallestHalf);
  std::sort(order.begin(), order.begin() + kept);
  std::sort(order.begin() + kept, order.begin() + n);

  for (std::size_t i = kept; i < n; ++i) move_entry(added, i - kept, node, order[i]);
  for (std::size_t i = 0; i < kept; ++i)
    if (order[i] != i) move_entry(node, i, node, order[i]);  // never to a slot still to be read
  node.size = static_cast<std::uint32_t>(kept);
  added.size = static_cast<std::uint32_t>(n - kept);
  for (std::size_t i = 0; i < node.size; ++i) tell_place(id, i);
  for (std::size_t i = 0; i < added.size; ++i) tell_place(other, i);

  Node& parent = nodes_[node.parent];
  set_entry(parent, parent.size, centre(added), 0.0f, other);
  added.parent = node.parent;
  ++parent.size;
  added.changes = 0;
  refresh(id);
  return other;
}

}  // namespace recalltree
