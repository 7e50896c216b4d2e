// One row of weights as a dict.
#pragma once

#include "arrays.hpp"
#include "recalltree/weights.hpp"

namespace recalltree::bindings {

// All zeros for a row that does not exist.
nb::dict row_dict(const Weights& weights, RowId row, std::size_t n_features);
// Adds the weights of path features.
void put_path(nb::dict& out, const RowContents& path);

}  // namespace recalltree::bindings
