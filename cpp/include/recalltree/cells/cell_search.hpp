// The search of a tree of cells, whatever holds its nodes. Tree is CellTree or one in a mapped
// file. It has
//   sketch_width(), cells_read()
//   root(), root_level(), n_nodes()
//   node(id)     what a node holds, as a CellNode
//   level(id)    0 for a cell
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "recalltree/base/hints.hpp"
#include "recalltree/base/types.hpp"
#include "recalltree/cells/best_of.hpp"
#include "recalltree/cells/sketch.hpp"

namespace recalltree {

// Entries that a node holds, at most.
inline constexpr std::size_t kCellSize = 128;

constexpr std::size_t in_whole_blocks(std::size_t entries) {
  return (entries + kInt8Block - 1) / kInt8Block * kInt8Block;
}

// A cell or a node above it: entries side by side, each array aligned to 64 bytes and filled up to
// a whole block.
struct CellNode {
  std::size_t size;
  const std::uint8_t* sketches;  // in blocks, as kernels want them
  const float *scales, *biases;
  const std::uint32_t* ids;  // classes of a cell, otherwise nodes
};

// Work space and results of a search. One per thread.
struct CellSearch {
  BestOf best;
  std::vector<NodeId> nodes;           // of the level that is read, the nearest first
  std::size_t vectors = 0, cells = 0;  // compared and read, in all
};

template <class Tree>
class CellTreePrediction {
 public:
  // The n classes with the largest scores by their sketches, as they are met. x is drawn as a row.
  // Cells are read from the nearest on, until half of cells_read in a row have no class that is
  // better than the n best so far. Above them a beam of a quarter is followed. The cells that were
  // read are in search.nodes.
  std::span<const BestOf::Found> find(const Sketch& x, std::size_t n, CellSearch& search) const {
    const std::size_t cells = self().cells_read();
    descend(x, std::max(kNarrowestBeam, cells / 4), cells, search);
    read(x, n, std::max(kNarrowestBeam, cells / 2), search);
    return search.best.finish();
  }

  // Cell of each class, or kNoNode.
  std::vector<NodeId> cells_of_classes(std::size_t n_classes) const {
    std::vector<NodeId> cells(n_classes, kNoNode);
    for (NodeId id = 0; id < self().n_nodes(); ++id) {
      if (self().level(id) > 0) continue;
      const CellNode node = self().node(id);
      for (std::size_t slot = 0; slot < node.size; ++slot)
        if (node.ids[slot] < n_classes) cells[node.ids[slot]] = id;
    }
    return cells;
  }

 protected:
  // Down to the cells, of which the nearest are in `nodes`; above them a beam of nodes is followed.
  void descend(const Sketch& x, std::size_t beam, std::size_t cells, CellSearch& search) const {
    search.nodes.assign(1, self().root());
    for (std::uint32_t level = self().root_level(); level > 0; --level) {
      read(x, level > 1 ? beam : cells, search.nodes.size(), search);
      search.nodes.clear();
      // A damaged file may name nodes that do not exist.
      for (const BestOf::Found& found : search.best.finish_in_order())
        if (found.id < self().n_nodes()) search.nodes.push_back(found.id);
    }
  }

 private:
  static constexpr std::size_t kNarrowestBeam = 4;
  // Bytes of the next node that are fetched ahead; the processor foresees the rest.
  static constexpr std::size_t kPrefetched = 1024;

  const Tree& self() const { return static_cast<const Tree&>(*this); }

  // Compares a row with everything in the nodes, until this many in a row bring nothing; the n best
  // are in `best`.
  void read(const Sketch& x, std::size_t n, std::size_t patience, CellSearch& search) const {
    const std::size_t width = self().sketch_width();
    const Int8Kernels& kernels = int8_kernels();
    alignas(64) float scores[kCellSize];
    Int8Above above[kCellSize / kInt8Block];
    search.best.begin(n);
    std::size_t idle = 0;
    for (std::size_t i = 0; i < search.nodes.size(); ++i) {
      const CellNode node = self().node(search.nodes[i]);
      if (i + 1 < search.nodes.size()) {
        const CellNode next = self().node(search.nodes[i + 1]);
        prefetch(next.sketches, kPrefetched);
        prefetch(next.scales, next.size);
        prefetch(next.biases, next.size);
      }
      const std::size_t blocks = in_whole_blocks(node.size) / kInt8Block;
      kernels.scores(x.row(), x.scale, node.sketches, node.scales, node.biases, blocks, width,
                     search.best.bound(), scores, above);
      const bool is_better = search.best.offer(node.ids, scores, above, node.size);
      search.vectors += node.size;
      ++search.cells;
      if (patience >= search.nodes.size()) continue;
      if (is_better) search.best.settle();
      idle = is_better ? 0 : idle + 1;
      if (idle == patience) search.nodes.resize(i + 1);
    }
  }
};

}  // namespace recalltree
