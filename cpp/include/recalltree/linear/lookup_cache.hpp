// Where sparse rows hold what an example asks of them: looked up once, for the scores and for the
// step that follows.
#pragma once

#include <cstddef>
#include <vector>

#include "recalltree/base/example.hpp"
#include "recalltree/linear/sparse_column.hpp"

namespace recalltree {

// One example's, for rows in the order in which they were asked. Dense rows leave it empty.
struct LookupCache {
  std::size_t n_rows = 0;              // also such as did not exist yet
  std::vector<SparseColumn*> columns;  // by feature
  std::vector<const void*> buckets;    // of the columns when the example was new: weights are where
                                       // they were found as long as the column has these
  std::vector<float*> weights;         // by row, then by feature; null: not found

  void clear() {
    n_rows = 0;
    columns.clear();
    buckets.clear();
    weights.clear();
  }
  float** row(std::size_t i) { return weights.data() + i * columns.size(); }
  float* const* row(std::size_t i) const { return weights.data() + i * columns.size(); }

  // Adds n rows, of which nothing is found yet, and returns the first.
  std::size_t add_rows(std::size_t n) {
    n_rows += n;
    weights.resize(n_rows * columns.size());
    return n_rows - n;
  }
};

}  // namespace recalltree
