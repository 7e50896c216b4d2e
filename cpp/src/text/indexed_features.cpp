#include "recalltree/text/indexed_features.hpp"

#include <algorithm>
#include <string>

#include "recalltree/text/line_scanner.hpp"

namespace recalltree {

namespace {

// Local to this file, so that compilers inline it.
const char* read_pair(const char* at, const char* end, std::uint32_t n_features,
                      std::uint32_t first_index, Row& row) {
  std::uint64_t index = 0;
  const char* const colon = parse_uint64(at, end, index);
  if (colon == nullptr || colon == end || *colon != ':')
    throw BadRow(at, "expected index:value, with an index of digits only");
  if (index < first_index)
    throw BadRow(at, "feature 0 in a file whose first feature is 1; pass zero_based=True");
  index -= first_index;
  if (index >= n_features)
    throw BadRow(at, "the feature is beyond the last, " +
                         std::to_string(n_features - 1 + first_index) +
                         "; raise n_features (or bits)");
  float value = 0.0f;
  const char* const after = read_float(colon + 1, end, value, "the value");
  if (after != end && !is_blank(*after))
    throw BadRow(colon + 1, "the value is not a finite decimal number");
  row.add(static_cast<std::uint32_t>(index), value);
  return after;
}

}  // namespace

void IndexedFeatures::read(const char* at, const char* end, Row& row) {
  const char* const features = at;
  for (at = skip_blanks(at, end); at != end; at = skip_blanks(at, end))
    at = read_pair(at, end, n_features_, first_index_, row);
  if (row.sort(scratch_)) {
    const auto repeated = std::adjacent_find(scratch_.begin(), scratch_.end(),
                                             [](auto a, auto b) { return a >> 32 == b >> 32; });
    at = skip_blanks(features, end);
    for (auto before = static_cast<std::uint32_t>(repeated[1]); before > 0; --before)
      at = skip_blanks(find_blank(at, end), end);
    throw BadRow(at, "feature " + std::to_string((*repeated >> 32) + first_index_) +
                         " appears more than once");
  }
}

}  // namespace recalltree
