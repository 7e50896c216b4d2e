// The search of a tree of cells, whatever holds its nodes. Tree is CellTree or one in a mapped
// file. It has
//   sketch_width(), to_read()
//   root(), root_level(), n_nodes()
//   node(id)     what a node holds, as a CellNode
//   level(id)    0 for a cell
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
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

// How many cells are read at most, and after how many in a row that bring nothing reading ends.
struct CellsToRead {
  static constexpr std::size_t kFewest = 4;

  std::size_t cells = 64;
  std::size_t idle = 0;  // 0: half of all

  // Nodes above the cells that are followed.
  std::size_t beam() const { return std::max(kFewest, cells / 4); }
  std::size_t patience() const { return idle > 0 ? idle : std::max(kFewest, cells / 2); }
};

// Work space and results of a search. One per thread.
struct CellSearch {
  BestOf best;
  std::vector<NodeId> nodes;           // of the level that is read, the nearest first
  std::size_t vectors = 0, cells = 0;  // compared and read, in all
};

// Work space of a search for many rows, which read a node together.
struct RowsSearch {
  struct Row {
    Sketch sketch;
    BestOf best;
    std::vector<NodeId> nodes;         // of the level that is read, the nearest first
    std::size_t n_read = 0, idle = 0;  // of these nodes; in a row that brought nothing
  };
  // What a node has for a row: classes, or nodes, that exceeded the bound when a round began.
  struct Part {
    std::size_t begin, size;
  };

  std::vector<Row> rows;
  std::vector<std::uint32_t> reading;  // rows that have not come to their end
  // Of a round: its nodes, by node the places of its rows, and what came out of it.
  std::vector<NodeId> nodes;
  std::vector<std::uint32_t> n_rows, begin;  // by node
  std::vector<std::uint32_t> places;         // of rows and their nodes, sorted by node
  std::vector<Part> parts;
  std::vector<BestOf::Found> found;
  std::size_t n_found = 0;
};

template <class Tree>
class CellTreePrediction {
 public:
  // The n classes with the largest scores by their sketches, as they are met. x is drawn as a row.
  // Cells are read from the nearest on, until this many in a row have no class that is better than
  // the n best so far. Above them a beam of a quarter is followed. The cells that were read are in
  // search.nodes.
  std::span<const BestOf::Found> find(const Sketch& x, std::size_t n, CellSearch& search) const {
    const CellsToRead to_read = self().to_read();
    descend(x, to_read.beam(), to_read.cells, search);
    read(x, n, to_read.patience(), search);
    return search.best.finish();
  }

  // The same for the first n_rows of search.rows, to the bit: the classes are in `best` of each.
  // Returns how many vectors were compared.
  std::size_t find_rows(std::size_t n_rows, std::size_t n, RowsSearch& search) const {
    const CellsToRead to_read = self().to_read();
    const std::span rows(search.rows.data(), n_rows);
    search.n_rows.resize(self().n_nodes());
    search.begin.resize(self().n_nodes());
    for (RowsSearch::Row& row : rows) row.nodes.assign(1, self().root());
    std::size_t n_compared = 0;
    for (std::uint32_t level = self().root_level(); level > 0; --level) {
      const std::size_t n_nodes = level > 1 ? to_read.beam() : to_read.cells;
      n_compared += read_rows(rows, n_nodes, kNoEnd, search);
      for (RowsSearch::Row& row : rows) take_nodes(row.best, row.nodes);
    }
    return n_compared + read_rows(rows, n, to_read.patience(), search);
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
      read(x, level > 1 ? beam : cells, kNoEnd, search);
      take_nodes(search.best, search.nodes);
    }
  }

 private:
  static constexpr std::size_t kNoEnd = std::numeric_limits<std::size_t>::max();
  // Bytes of the next node that are fetched ahead; the processor foresees the rest.
  static constexpr std::size_t kPrefetched = 1024;
  // Rows that are compared with a node in one call of a kernel, and nodes that a row reads before
  // its bound is looked at again: few at first, when everything exceeds it.
  static constexpr std::size_t kTogether = 8, kFirstRound = 1, kRound = 8;

  const Tree& self() const { return static_cast<const Tree&>(*this); }

  void prefetch_node(const CellNode& node) const {
    prefetch(node.sketches, kPrefetched);
    prefetch(node.scales, node.size);
    prefetch(node.biases, node.size);
  }
  void take_nodes(BestOf& best, std::vector<NodeId>& nodes) const {
    nodes.clear();
    // A damaged file may name nodes that do not exist.
    for (const BestOf::Found& found : best.finish_in_order())
      if (found.id < self().n_nodes()) nodes.push_back(found.id);
  }

  // Compares a row with everything in the nodes, until this many in a row bring nothing; the n best
  // are in `best`.
  void read(const Sketch& x, std::size_t n, std::size_t patience, CellSearch& search) const {
    alignas(64) float scores[kCellSize];
    Int8Above above[kCellSize / kInt8Block];
    search.best.begin(n);
    std::size_t idle = 0;
    for (std::size_t i = 0; i < search.nodes.size(); ++i) {
      const CellNode node = self().node(search.nodes[i]);
      if (i + 1 < search.nodes.size()) prefetch_node(self().node(search.nodes[i + 1]));
      const Int8Query query{x.row(), x.scale, search.best.bound(), scores, above};
      compare(&query, 1, node);
      search.vectors += node.size;
      ++search.cells;
      idle = search.best.offer(node.ids, scores, above, node.size) ? 0 : idle + 1;
      if (idle == patience) search.nodes.resize(i + 1);
    }
  }

  void compare(const Int8Query* queries, std::size_t n, const CellNode& node) const {
    int8_kernels().scores(queries, n, node.sketches, node.scales, node.biases,
                          in_whole_blocks(node.size) / kInt8Block, self().sketch_width());
  }

  // The same for many rows, in rounds: each row reads its next few nodes, a node is compared with
  // all rows that read it, and then every row takes what its nodes have, in its own order.
  std::size_t read_rows(std::span<RowsSearch::Row> rows, std::size_t n, std::size_t patience,
                        RowsSearch& search) const {
    std::size_t n_compared = 0;
    search.reading.clear();
    for (RowsSearch::Row& row : rows) {
      row.best.begin(n);
      row.n_read = row.idle = 0;
      if (!row.nodes.empty())
        search.reading.push_back(static_cast<std::uint32_t>(&row - rows.data()));
    }
    for (std::size_t round = kFirstRound; !search.reading.empty(); round = kRound) {
      gather(rows, round, search);
      for (std::size_t i = 0; i < search.nodes.size(); ++i) {
        if (i + 1 < search.nodes.size()) prefetch_node(self().node(search.nodes[i + 1]));
        compare_rows(rows, round, search.nodes[i], search);
      }
      std::size_t n_left = 0;
      for (std::size_t r = 0; r < search.reading.size(); ++r) {
        RowsSearch::Row& row = rows[search.reading[r]];
        const std::size_t end = std::min(row.n_read + round, row.nodes.size());
        for (const RowsSearch::Part* part = search.parts.data() + r * round; row.n_read < end;
             ++part) {
          const std::span some(search.found.data() + part->begin, part->size);
          n_compared += self().node(row.nodes[row.n_read++]).size;
          row.idle = row.best.offer(some) ? 0 : row.idle + 1;
          if (row.idle == patience) row.nodes.resize(row.n_read);
          if (row.idle == patience) break;
        }
        if (row.n_read < row.nodes.size()) search.reading[n_left++] = search.reading[r];
      }
      search.reading.resize(n_left);
    }
    return n_compared;
  }

  // Sorts the next nodes of the rows that are reading by node.
  void gather(std::span<const RowsSearch::Row> rows, std::size_t round, RowsSearch& search) const {
    search.nodes.clear();
    const auto visit = [&](auto use) {
      for (std::size_t r = 0; r < search.reading.size(); ++r) {
        const RowsSearch::Row& row = rows[search.reading[r]];
        const std::size_t n = std::min(round, row.nodes.size() - row.n_read);
        for (std::size_t k = 0; k < n; ++k)
          use(row.nodes[row.n_read + k], static_cast<std::uint32_t>(r * round + k));
      }
    };
    visit([&](NodeId node, std::uint32_t) {
      if (search.n_rows[node]++ == 0) search.nodes.push_back(node);
    });
    std::uint32_t begin = 0;
    for (const NodeId node : search.nodes) {
      search.begin[node] = begin;
      begin += search.n_rows[node];
      search.n_rows[node] = 0;
    }
    search.places.resize(begin);
    visit([&](NodeId node, std::uint32_t place) {
      search.places[search.begin[node] + search.n_rows[node]++] = place;
    });
    search.parts.resize(search.reading.size() * round);
    search.n_found = 0;
  }

  // Compares the rows that read a node with it, and keeps what exceeds their bounds.
  void compare_rows(std::span<const RowsSearch::Row> rows, std::size_t round, NodeId id,
                    RowsSearch& search) const {
    alignas(64) float scores[kTogether][kCellSize];
    Int8Above above[kTogether][kCellSize / kInt8Block];
    Int8Query queries[kTogether];
    const CellNode node = self().node(id);
    const std::size_t n_rows = std::exchange(search.n_rows[id], 0u);
    const std::uint32_t* const places = search.places.data() + search.begin[id];
    for (std::size_t first = 0; first < n_rows; first += kTogether) {
      const std::size_t n = std::min(kTogether, n_rows - first);
      for (std::size_t k = 0; k < n; ++k) {
        const RowsSearch::Row& row = rows[search.reading[places[first + k] / round]];
        queries[k] = {row.sketch.row(), row.sketch.scale, row.best.bound(), scores[k], above[k]};
      }
      compare(queries, n, node);
      if (search.found.size() < search.n_found + n * kCellSize)
        search.found.resize(2 * search.n_found + n * kCellSize);
      for (std::size_t k = 0; k < n; ++k) {
        BestOf::Found* const begin = search.found.data() + search.n_found;
        BestOf::Found* next = begin;
        BestOf::visit_above(above[k], node.size,
                            [&](std::size_t i) { *next++ = {scores[k][i], node.ids[i]}; });
        search.parts[places[first + k]] = {search.n_found, static_cast<std::size_t>(next - begin)};
        search.n_found += static_cast<std::size_t>(next - begin);
      }
    }
  }
};

}  // namespace recalltree
