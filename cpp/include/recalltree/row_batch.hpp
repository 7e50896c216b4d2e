// Rows read so far, as the arrays that Python takes over: a CSR matrix and columns beside it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "row.hpp"

namespace recalltree {

// Strings one after the other.
struct StringColumn {
  std::string text;
  std::vector<std::size_t> ends;

  void append(std::string_view value) {
    text.append(value);
    ends.push_back(text.size());
  }
  std::string_view operator[](std::size_t i) const {
    const std::size_t begin = i == 0 ? 0 : ends[i - 1];
    return std::string_view(text).substr(begin, ends[i] - begin);
  }
};

struct RowBatch {
  std::vector<std::int32_t> indptr{0};
  std::vector<std::int32_t> indices;  // ascending within a row, each once
  std::vector<float> values;
  std::vector<float> weights;
  std::vector<std::int64_t> integer_labels;  // of all rows, or
  StringColumn string_labels;                // of all rows; what an absent label holds is unsaid
  std::vector<std::uint8_t> labelled;
  StringColumn tags;
  bool any_labelled = false, all_labelled = true, any_weighted = false, any_tagged = false;

  std::size_t size() const { return indptr.size() - 1; }

  // A sorted row; its labels are appended by the caller.
  void append(const Row& row) {
    indices.insert(indices.end(), row.columns.begin(), row.columns.end());
    values.insert(values.end(), row.values.begin(), row.values.end());
    indptr.push_back(static_cast<std::int32_t>(indices.size()));
    weights.push_back(row.weight);
    tags.append(row.tag);
    any_weighted |= row.weighted;
    any_tagged |= !row.tag.empty();
  }
};

}  // namespace recalltree
