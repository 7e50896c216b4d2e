// Where sparse weights are that an example asks for: looked up once, for the scores and for the
// step that follows.
#pragma once

#include <cstddef>
#include <vector>

#include "recalltree/base/example.hpp"
#include "recalltree/linear/sparse_column.hpp"

namespace recalltree {

// Of one example, for models in the order in which they were asked. Dense models leave it empty.
struct LookupCache {
  std::size_t n_models = 0;            // also those that did not exist yet
  std::vector<SparseColumn*> columns;  // by feature
  std::vector<const void*> buckets;    // of the columns when the example was new: weights are where
                                       // they were found as long as the column has these
  std::vector<float*> weights;         // by model, then by feature; null: not found

  void clear() {
    n_models = 0;
    columns.clear();
    buckets.clear();
    weights.clear();
  }
  float** weights_of(std::size_t i) { return weights.data() + i * columns.size(); }
  float* const* weights_of(std::size_t i) const { return weights.data() + i * columns.size(); }

  // Adds n models, of which nothing is found yet, and returns the first.
  std::size_t add_models(std::size_t n) {
    n_models += n;
    weights.resize(n_models * columns.size());
    return n_models - n;
  }
};

}  // namespace recalltree
