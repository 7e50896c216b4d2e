// Where sparse rows hold what an example asks of them: looked up once, for the scores and for the
// step that follows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace recalltree {

struct SparseColumn;

// One example's, for rows in the order in which they were asked. Dense rows leave it empty.
struct Found {
  std::size_t n_rows = 0;
  std::vector<SparseColumn*> columns;  // by feature
  std::vector<const void*> buckets;    // by feature: the weights are where they were found as long
                                       // as the column has these
  struct Weight {
    float *value = nullptr, *accumulator = nullptr;
  };
  std::vector<Weight> weights;  // by row, then by feature; null: not found

  void clear() {
    n_rows = 0;
    columns.clear();
    weights.clear();
  }
  Weight* row(std::size_t i) { return weights.data() + i * columns.size(); }
  const Weight* row(std::size_t i) const { return weights.data() + i * columns.size(); }

  // Adds n rows, of which nothing is found yet, and returns the first.
  std::size_t add_rows(std::size_t n) {
    n_rows += n;
    weights.resize(n_rows * columns.size());
    return n_rows - n;
  }
  // The k-th feature's column has other buckets now.
  void forget(std::size_t k, const void* now) {
    if (buckets[k] == now) return;
    for (std::size_t i = 0; i < n_rows; ++i) row(i)[k] = {};
    buckets[k] = now;
  }
};

}  // namespace recalltree
