// Examples that are learned again are learned without some of their features, others every time.
#pragma once

#include <cstdint>
#include <vector>

#include "recalltree/base/random_bits.hpp"
#include "recalltree/base/rows.hpp"

namespace recalltree {

class FeatureDropout {
 public:
  FeatureDropout(double share, std::uint64_t seed) : share_(share), seed_(mix(seed)) {}

  bool is_on() const { return share_ > 0.0; }

  // One row that lives in a workspace.
  struct Row {
    std::vector<std::int64_t> indptr{0, 0}, indices;
    std::vector<float> values;
  };

  // Row i without some of its features, as the only row. `example` is how many were learned before.
  Rows without(const Rows& rows, std::size_t i, std::uint64_t example, Row& row) const {
    const std::uint64_t seed = mix(seed_ ^ example);
    row.indices.clear(), row.values.clear();
    rows.visit(i, [&](std::uint32_t j, float value) {
      if (uniform(mix(seed ^ j)) < share_) return;
      row.indices.push_back(j);
      row.values.push_back(value);
    });
    row.indptr[1] = static_cast<std::int64_t>(row.indices.size());
    Rows kept;
    kept.sparse = kept.long_indptr = kept.long_indices = true;
    kept.n_rows = 1;
    kept.n_features = rows.n_features;
    kept.data = row.values.data();
    kept.indptr = row.indptr.data();
    kept.indices = row.indices.data();
    return kept;
  }

 private:
  double share_;
  std::uint64_t seed_;
};

}  // namespace recalltree
