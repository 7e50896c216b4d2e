// A new tree of cells over class vectors that are stored as arrays, as when models were merged.
#pragma once

#include <cstddef>

#include "recalltree/base/state.hpp"
#include "recalltree/cells/cells.hpp"

namespace recalltree {

// The arrays of the tree. Classes are placed in the order of their numbers. Throws
// std::invalid_argument where an array of the vectors is missing or has the wrong length.
State draw_cells(const State& class_vectors, const CellsConfig& config, std::size_t n_classes);

}  // namespace recalltree
