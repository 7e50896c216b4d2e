// Places of the sparse weights of an example: looked up once, for the scores and for the
// step that follows.
#pragma once

#include <cstddef>
#include <vector>

#include "recalltree/base/example.hpp"
#include "recalltree/linear/new_weights.hpp"
#include "recalltree/linear/sparse_column.hpp"

namespace recalltree {

// The columns of an example's features, as long as they keep their shape: side by side, so that
// several owners of models find their weights without asking for the columns again. Dense models
// leave it empty.
struct ExampleColumns {
  std::vector<SparseColumn> columns;
};

// Lookups of one example, for models in the order of their scores. Dense models leave it empty.
struct LookupCache {
  std::size_t n_models = 0;            // also those that did not exist yet
  std::vector<SparseColumn*> columns;  // by feature
  std::vector<const void*> buckets;    // of the columns when the example was new: weights are where
                                       // they were found as long as the column has these
  std::vector<float*> weights;         // by model, then by feature; null: not found
  NewWeights* made = nullptr;          // where new weights go; null: into the columns

  // Begins an example whose columns are known.
  void begin(ExampleColumns& known) {
    clear();
    for (SparseColumn& column : known.columns) {
      columns.push_back(&column);
      buckets.push_back(column.buckets);
    }
  }
  void clear() {
    n_models = 0;
    columns.clear();
    buckets.clear();
    weights.clear();
  }
  float** weights_of(std::size_t i) { return weights.data() + i * columns.size(); }
  float* const* weights_of(std::size_t i) const { return weights.data() + i * columns.size(); }

  // Accumulator of a weight that was found in a column, or made.
  float* accumulator(std::size_t k, float* weight) const {
    const SparseColumn& column = *columns[k];
    return made != nullptr && !column.holds(weight) ? NewWeights::accumulator(weight)
                                                    : column.accumulator(weight);
  }

  // Adds n models, of which nothing is found yet, and returns the first.
  std::size_t add_models(std::size_t n) {
    n_models += n;
    weights.resize(n_models * columns.size());
    return n_models - n;
  }
};

}  // namespace recalltree
