// Features as index:value, of svmlight and the formats made after it.
#pragma once

#include <cstdint>
#include <vector>

#include "recalltree/text/row.hpp"

namespace recalltree {

class IndexedFeatures {
 public:
  // An index is a column plus first_index, which is 0 or 1.
  IndexedFeatures(std::uint32_t n_features, std::uint32_t first_index)
      : n_features_(n_features), first_index_(first_index) {}

  // The rest of a line: pairs in any order, each index once. The row is sorted afterwards.
  void read(const char* at, const char* end, Row& row);

 private:
  std::uint32_t n_features_;
  std::uint32_t first_index_;
  std::vector<std::uint64_t> scratch_;
};

}  // namespace recalltree
