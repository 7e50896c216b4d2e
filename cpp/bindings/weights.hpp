// One row of weights as a dict.
#pragma once

#include "arrays.hpp"
#include "recalltree/linear/weights.hpp"

namespace recalltree::bindings {

nb::dict row_dict(const ModelContents& row, std::size_t n_features);
// All zeros for a row that does not exist.
template <class AnyWeights>
nb::dict row_dict(const AnyWeights& weights, ModelId row, std::size_t n_features) {
  return row_dict(row < weights.size() ? weights.contents(row) : ModelContents{}, n_features);
}
// Adds the weights of path features.
void put_path(nb::dict& out, const ModelContents& path);

}  // namespace recalltree::bindings
