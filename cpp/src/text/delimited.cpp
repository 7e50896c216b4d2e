#include "recalltree/text/delimited.hpp"

#include <cstring>

namespace recalltree {

namespace {

constexpr std::size_t kShownBytes = 60;

class Splitter {
 public:
  Splitter(std::string_view text, const DelimitedShape& shape, bool is_last)
      : at_(text.data()),
        begin_(text.data()),
        end_(text.data() + text.size()),
        shape_(shape),
        is_last_(is_last),
        slots_(shape.n_columns, kUnwanted) {
    for (std::size_t i = 0; i < shape.wanted.size(); ++i) slots_.at(shape.wanted[i]) = i;
    out_.columns.resize(shape.wanted.size());
  }

  DelimitedRows split() {
    for (;;) {
      skip_empty_lines();
      out_.n_bytes = static_cast<std::size_t>(at_ - begin_);
      if (at_ == end_) break;
      if (!read_row()) {
        forget_row();
        break;
      }
    }
    return std::move(out_);
  }

 private:
  static constexpr std::size_t kUnwanted = static_cast<std::size_t>(-1);

  void skip_empty_lines() {
    while (at_ != end_) {
      const char* const next = *at_ == '\r' && at_ + 1 != end_ ? at_ + 1 : at_;
      if (*next != '\n') return;
      at_ = next + 1;
    }
  }

  // Returns false if the row may go on after the text.
  bool read_row() {
    const char* const start = at_;
    is_unclosed_ = false;
    std::size_t n_cells = 0;
    do {
      const std::size_t slot = n_cells < slots_.size() ? slots_[n_cells] : kUnwanted;
      if (!read_cell(slot == kUnwanted ? nullptr : &out_.columns[slot])) return false;
      ++n_cells;
    } while (at_ != end_ && *at_++ == shape_.delimiter);
    if (n_cells == shape_.n_columns && !is_unclosed_)
      out_.rows.push_back(out_.n_rows);
    else
      refuse(start, n_cells);
    ++out_.n_rows;
    return true;
  }

  // Leaves `at_` at the delimiter or at the end of the line or text.
  bool read_cell(CellColumn* column) {
    if (shape_.quotes && at_ != end_ && *at_ == '"' && !read_quoted(column)) return false;
    const char* const start = at_;
    while (at_ != end_ && *at_ != shape_.delimiter && *at_ != '\n') ++at_;
    if (at_ == end_ && !is_last_) return false;
    const bool ends_line = at_ == end_ || *at_ == '\n';
    append(column, start, ends_line && at_ != start && at_[-1] == '\r' ? at_ - 1 : at_);
    if (column != nullptr)
      column->offsets.push_back(static_cast<std::int64_t>(column->data.size()));
    return true;
  }

  // Reads up to the closing quote; two quotes in a row stand for one.
  bool read_quoted(CellColumn* column) {
    for (++at_;; ++at_) {
      const auto rest = static_cast<std::size_t>(end_ - at_);
      const void* const found = rest == 0 ? nullptr : std::memchr(at_, '"', rest);
      if (found == nullptr) {
        append(column, at_, end_);
        at_ = end_;
        is_unclosed_ = true;
        return is_last_;
      }
      const char* const quote = static_cast<const char*>(found);
      const bool is_doubled = quote + 1 != end_ && quote[1] == '"';
      append(column, at_, quote + (is_doubled ? 1 : 0));
      at_ = quote + 1;
      if (!is_doubled) return at_ != end_ || is_last_;
    }
  }

  static void append(CellColumn* column, const char* from, const char* to) {
    if (column != nullptr) column->data.insert(column->data.end(), from, to);
  }

  void refuse(const char* start, std::size_t n_cells) {
    forget_row();
    std::string reason = "a quote that is not closed";
    if (!is_unclosed_)
      reason = std::to_string(n_cells) + (n_cells == 1 ? " cell" : " cells") +
               ", where the header has " + std::to_string(shape_.n_columns);
    std::string_view text(start, static_cast<std::size_t>(at_ - start));
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
    out_.refused.push_back({out_.n_rows, std::move(reason), std::string(text, 0, kShownBytes)});
  }

  // Takes back the cells of a row that is not whole.
  void forget_row() {
    for (CellColumn& column : out_.columns) {
      column.offsets.resize(out_.rows.size() + 1);
      column.data.resize(static_cast<std::size_t>(column.offsets.back()));
    }
  }

  const char* at_;
  const char* begin_;
  const char* end_;
  const DelimitedShape& shape_;
  bool is_last_;
  bool is_unclosed_ = false;
  std::vector<std::size_t> slots_;  // where the cells of each column go
  DelimitedRows out_;
};

}  // namespace

DelimitedRows split_delimited(std::string_view text, const DelimitedShape& shape, bool is_last) {
  return Splitter(text, shape, is_last).split();
}

}  // namespace recalltree
