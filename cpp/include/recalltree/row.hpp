// One row as a parser reads it, before it joins a batch.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace recalltree {

struct Row {
  std::vector<std::string_view> labels;  // as written; views of the line
  float weight = 1.0f;
  bool weighted = false;
  std::string_view tag;

  // Features in the order they were written: position k has columns[k] and values[k].
  std::vector<std::uint32_t> columns;
  std::vector<float> values;

  void clear() {
    labels.clear();
    columns.clear();
    values.clear();
    weight = 1.0f;
    weighted = false;
    tag = {};
  }
  void add(std::uint32_t column, float value) {
    columns.push_back(column);
    values.push_back(value);
  }
  // Columns in ascending order, each once; the values of a column are added in their order.
  // Scratch: room to sort in. Returns whether a column came more than once.
  bool sort(std::vector<std::uint64_t>& scratch);
};

}  // namespace recalltree
