// Delimited text (CSV, TSV) -> the cells of its columns, a block of rows at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace recalltree {

struct DelimitedShape {
  char delimiter;
  bool quotes;                      // cells may stand in double quotes
  std::size_t n_columns;            // of every row
  std::vector<std::size_t> wanted;  // columns whose cells are kept, each once
};

// Cell i is data[offsets[i] .. offsets[i + 1]).
struct CellColumn {
  std::vector<std::int64_t> offsets{0};
  std::vector<std::uint8_t> data;
};

struct RefusedRow {
  std::int64_t row;
  std::string reason;
  std::string text;
};

// Whole rows; both kinds are counted from 0, and empty lines are no rows.
struct DelimitedRows {
  std::size_t n_bytes = 0;  // of the rows
  std::int64_t n_rows = 0;
  std::vector<std::int64_t> rows;  // those with as many cells as there are columns
  std::vector<CellColumn> columns;
  std::vector<RefusedRow> refused;
};

// Splits the rows that end within the text. If it is the last text, its end is the end of a row.
DelimitedRows split_delimited(std::string_view text, const DelimitedShape& shape, bool is_last);

}  // namespace recalltree
