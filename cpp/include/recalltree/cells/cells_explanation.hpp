// Why cells answer as they do for one row.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "recalltree/base/types.hpp"
#include "recalltree/cells/cells_prediction.hpp"

namespace recalltree {

struct CellsExplanation {
  std::vector<NodeId> cells;   // that were read, the nearest first
  std::vector<ClassId> found;  // the classes that look best by their sketches
  std::size_t n_compared;      // sketches of classes and of nodes above them
  // Terms of the score of each class asked for, and its cell.
  std::vector<float> mean, weights, bias;
  std::vector<NodeId> cell_of;
};

// Explains the whitened row x, for which n classes are found.
template <class Cells>
CellsExplanation explain_cells(const Cells& cells, const float* x, std::size_t n,
                               std::span<const ClassId> classes) {
  CellsScratch scratch;
  CellsExplanation out;
  const auto found = cells.find(x, n, scratch);
  out.found.assign(found.begin(), found.end());
  out.cells = scratch.search.nodes;
  out.n_compared = scratch.search.vectors;
  const std::vector<NodeId> cell_of = cells.tree().cells_of_classes(cells.n_classes());
  for (const ClassId y : classes) {
    const auto parts = cells.vectors().parts_of_score(x, y, scratch.vectors);
    out.mean.push_back(parts.mean);
    out.weights.push_back(parts.weights);
    out.bias.push_back(parts.bias);
    out.cell_of.push_back(cell_of[y]);
  }
  return out;
}

}  // namespace recalltree
