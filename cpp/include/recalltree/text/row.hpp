// Rows as parsers read them: one row, the batch it joins, and the reason why one was refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace recalltree {

// Thrown at a row that a parser refuses: where in the line, and why.
struct BadRow {
  BadRow(const char* where, std::string why) : at(where), reason(std::move(why)) {}

  const char* at;  // into the line, or its end
  std::string reason;
};

// One row, before it joins a batch.
struct Row {
  std::vector<std::string_view> labels;  // as written; views of the line
  float weight = 1.0f;
  bool weighted = false;
  std::string_view tag;

  // Features in the order they were written: position k has columns[k] and values[k].
  std::vector<std::uint32_t> columns;
  std::vector<float> values;
  // Names of the features, where a feature space keeps names; a column may have several.
  std::vector<std::pair<std::uint32_t, std::string>> names;

  void clear() {
    labels.clear();
    names.clear();
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

// The rows read so far, as the arrays that Python takes over: a CSR matrix and columns beside it.
struct RowBatch {
  std::vector<std::int32_t> indptr{0};
  std::vector<std::int32_t> indices;  // ascending within a row, each once
  std::vector<float> values;
  std::vector<float> weights;
  std::vector<std::int64_t> integer_labels;  // of all rows, or
  StringColumn string_labels;                // of all rows; what an absent label holds is unsaid
  // Lists of labels: row i has those from label_offsets[i] to label_offsets[i + 1].
  std::vector<std::int64_t> label_offsets{0};
  std::vector<std::uint8_t> labelled;
  StringColumn tags;
  // Row i has the names from name_offsets[i] to name_offsets[i + 1], each of a column.
  std::vector<std::int64_t> name_offsets{0};
  std::vector<std::int32_t> name_columns;
  StringColumn names;
  bool any_labelled = false, all_labelled = true, any_weighted = false, any_tagged = false;

  std::size_t size() const { return indptr.size() - 1; }
  std::size_t n_labels() const {
    return static_cast<std::size_t>(label_offsets.back());
  }  // of lists

  // A sorted row; its labels are appended by the caller.
  void append(const Row& row) {
    indices.insert(indices.end(), row.columns.begin(), row.columns.end());
    values.insert(values.end(), row.values.begin(), row.values.end());
    indptr.push_back(static_cast<std::int32_t>(indices.size()));
    weights.push_back(row.weight);
    tags.append(row.tag);
    for (const auto& [column, name] : row.names) {
      name_columns.push_back(static_cast<std::int32_t>(column));
      names.append(name);
    }
    name_offsets.push_back(static_cast<std::int64_t>(name_columns.size()));
    any_weighted |= row.weighted;
    any_tagged |= !row.tag.empty();
  }
};

}  // namespace recalltree
