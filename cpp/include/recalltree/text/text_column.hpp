// A column of text as Arrow keeps it, and what can be made of its cells.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "recalltree/text/feature_space.hpp"
#include "recalltree/text/row.hpp"

namespace recalltree {

// A view: cell i is data[offsets[i] .. offsets[i + 1]).
struct TextColumn {
  const std::int64_t* offsets;
  std::size_t size;
  std::string_view data;
  std::string prefix;  // of the names of its words, if other columns have words, too

  std::string_view operator[](std::size_t i) const {
    return data.substr(static_cast<std::size_t>(offsets[i]),
                       static_cast<std::size_t>(offsets[i + 1] - offsets[i]));
  }
};

enum class CellStatus : std::uint8_t { kGood, kNoNumber, kTooLarge, kNotIntegral, kNotText };

// Cells as numbers, blanks around them allowed.
std::vector<CellStatus> parse_floats(const TextColumn& column, std::vector<float>& values);
std::vector<CellStatus> parse_integers(const TextColumn& column, std::vector<std::int64_t>& values);

// Status of each cell: UTF-8 without NUL, or why not.
std::vector<CellStatus> check_text(const TextColumn& column);

// Rows of the words of several columns of the same size, in valid UTF-8. A row whose new names
// find the dictionary full is left out, and said so.
std::vector<std::uint8_t> encode_words(FeatureSpace& space, const std::vector<TextColumn>& columns,
                                       std::size_t max_ngram, RowBatch& batch);

}  // namespace recalltree
