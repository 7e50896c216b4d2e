// Delimited text read in two pieces has the rows that it has in one.
#include "recalltree/text/delimited.hpp"

#include "invariants.hpp"

namespace {

using namespace recalltree;

void check(const DelimitedRows& rows, const DelimitedShape& shape, std::string_view text) {
  fuzz::require(rows.n_bytes <= text.size(), "rows lie within the text");
  fuzz::require(static_cast<std::size_t>(rows.n_rows) == rows.rows.size() + rows.refused.size(),
                "a row is good or refused");
  fuzz::require(rows.columns.size() == shape.wanted.size(), "all wanted columns are there");
  for (const CellColumn& column : rows.columns) {
    fuzz::require(column.offsets.size() == rows.rows.size() + 1, "a good row has every cell");
    fuzz::require(column.offsets.back() == static_cast<std::int64_t>(column.data.size()),
                  "cells are all of the bytes");
    for (std::size_t i = 1; i < column.offsets.size(); ++i)
      fuzz::require(column.offsets[i - 1] <= column.offsets[i], "cells follow one another");
  }
}

void append(DelimitedRows& rows, const DelimitedRows& more) {
  for (const std::int64_t row : more.rows) rows.rows.push_back(rows.n_rows + row);
  for (const RefusedRow& refused : more.refused)
    rows.refused.push_back({rows.n_rows + refused.row, refused.reason, refused.text});
  for (std::size_t c = 0; c < rows.columns.size(); ++c) {
    CellColumn& column = rows.columns[c];
    const std::int64_t n_bytes = column.offsets.back();
    column.data.insert(column.data.end(), more.columns[c].data.begin(), more.columns[c].data.end());
    for (std::size_t i = 1; i < more.columns[c].offsets.size(); ++i)
      column.offsets.push_back(n_bytes + more.columns[c].offsets[i]);
  }
  rows.n_rows += more.n_rows;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::Input input(data, size);
  const bool quotes = input.option(0);
  DelimitedShape shape{input.option(1) ? '\t' : ',', quotes, 3, {2, 0}};
  if (input.option(2)) shape = {shape.delimiter, quotes, 1, {0}};
  const DelimitedRows whole = split_delimited(input.text, shape, true);
  check(whole, shape, input.text);
  fuzz::require(whole.n_bytes == input.text.size(), "all is read");
  const std::size_t cut = input.text.size() * (input.options >> 3) / 31;
  DelimitedRows joined = split_delimited(input.text.substr(0, cut), shape, false);
  check(joined, shape, input.text.substr(0, cut));
  append(joined, split_delimited(input.text.substr(joined.n_bytes), shape, true));
  fuzz::require(joined.rows == whole.rows, "the same rows are good");
  fuzz::require(joined.refused.size() == whole.refused.size(), "the same rows are refused");
  for (std::size_t i = 0; i < whole.refused.size(); ++i)
    fuzz::require(joined.refused[i].row == whole.refused[i].row &&
                      joined.refused[i].reason == whole.refused[i].reason &&
                      joined.refused[i].text == whole.refused[i].text,
                  "refused rows are the same");
  for (std::size_t c = 0; c < whole.columns.size(); ++c)
    fuzz::require(joined.columns[c].offsets == whole.columns[c].offsets &&
                      joined.columns[c].data == whole.columns[c].data,
                  "cells are the same");
  return 0;
}
