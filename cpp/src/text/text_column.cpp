#include "recalltree/text/text_column.hpp"

#include <limits>
#include <mutex>
#include <stdexcept>

#include "recalltree/text/line_scanner.hpp"
#include "recalltree/text/utf8.hpp"
#include "recalltree/text/word_features.hpp"

namespace recalltree {

namespace {

CellStatus status_of(const char* after, const char* end, Range range) {
  if (after == nullptr || after != end) return CellStatus::kNoNumber;
  if (range == Range::kTooLarge) return CellStatus::kTooLarge;
  return range == Range::kNotIntegral ? CellStatus::kNotIntegral : CellStatus::kGood;
}

std::string_view without_blanks(std::string_view cell) {
  while (!cell.empty() && is_blank(cell.front())) cell.remove_prefix(1);
  while (!cell.empty() && is_blank(cell.back())) cell.remove_suffix(1);
  return cell;
}

template <class T, class Parse>
std::vector<CellStatus> parse_all(const TextColumn& column, std::vector<T>& values, Parse parse) {
  std::vector<CellStatus> status(column.size);
  values.assign(column.size, T{});
  for (std::size_t i = 0; i < column.size; ++i) {
    const std::string_view cell = without_blanks(column[i]);
    const char* const end = cell.data() + cell.size();
    Range range = Range::kFits;
    const char* const after = parse(cell.data(), end, values[i], range);
    status[i] = status_of(after, end, range);
  }
  return status;
}

}  // namespace

std::vector<CellStatus> parse_floats(const TextColumn& column, std::vector<float>& values) {
  return parse_all(column, values, &parse_float);
}

std::vector<CellStatus> parse_integers(const TextColumn& column,
                                       std::vector<std::int64_t>& values) {
  return parse_all(column, values, &parse_int64);
}

std::vector<CellStatus> check_text(const TextColumn& column) {
  std::vector<CellStatus> status(column.size, CellStatus::kGood);
  for (std::size_t i = 0; i < column.size; ++i)
    if (find_invalid_utf8(column[i]) != nullptr) status[i] = CellStatus::kNotText;
  return status;
}

std::vector<std::uint8_t> encode_words(FeatureSpace& space, const std::vector<TextColumn>& columns,
                                       std::size_t max_ngram, RowBatch& batch) {
  const std::lock_guard lock(space.mutex());
  const std::size_t n_rows = columns.empty() ? 0 : columns[0].size;
  std::vector<std::uint32_t> seeds;
  for (const TextColumn& column : columns)
    seeds.push_back(column.prefix.empty() ? 0 : murmur_hash(column.prefix, 0));
  std::vector<std::uint8_t> refused(n_rows, 0);
  std::vector<std::uint64_t> scratch;
  WordFeatures words(space, max_ngram);
  Row row;
  for (std::size_t i = 0; i < n_rows; ++i) {
    row.clear();
    const std::size_t mark = space.mark();
    try {
      for (std::size_t c = 0; c < columns.size(); ++c) {
        const std::string_view text = columns[c][i];
        const char* at = text.data();
        const char* const end = at + text.size();
        words.begin(seeds[c], columns[c].prefix);
        for (;;) {
          const std::string_view word = next_word(at, end, Separators::kPunctuation);
          if (word.empty()) break;
          words.add(word, row);
        }
      }
    } catch (const BadRow&) {
      space.reset(mark);
      refused[i] = 1;
      continue;
    }
    row.sort(scratch);
    if (batch.indices.size() + row.columns.size() > std::numeric_limits<std::int32_t>::max())
      throw std::length_error("too much text for one batch; lower batch_rows");
    space.weigh(row);
    batch.append(row);
  }
  return refused;
}

}  // namespace recalltree
