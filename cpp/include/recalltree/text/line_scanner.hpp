// Scanner of a line, for all text formats: blanks, words between blanks, labels between commas, and
// numbers with a clear complaint.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "recalltree/text/numbers.hpp"
#include "recalltree/text/row.hpp"

namespace recalltree {

inline bool is_blank(char c) { return c == ' ' || c == '\t'; }

inline const char* skip_blanks(const char* at, const char* end) {
  while (at != end && is_blank(*at)) ++at;
  return at;
}
inline const char* find_blank(const char* at, const char* end) {
  while (at != end && !is_blank(*at)) ++at;
  return at;
}
inline std::string_view view(const char* begin, const char* end) {
  return {begin, static_cast<std::size_t>(end - begin)};
}

// A finite number of single precision; `what` it is goes into the complaint.
inline const char* read_float(const char* at, const char* end, float& value, const char* what) {
  Range range = Range::kFits;
  const char* const after = parse_float(at, end, value, range);
  if (after == nullptr) throw BadRow(at, std::string(what) + " is not a finite decimal number");
  if (range != Range::kFits)
    throw BadRow(at, std::string(what) + " is too large for a float32 (the limit is 3.4e38)");
  return after;
}

// Labels with commas between them, at least one.
inline void split_labels(std::string_view word, std::vector<std::string_view>& labels) {
  for (;;) {
    const std::size_t comma = word.find(',');
    labels.push_back(word.substr(0, comma));
    if (labels.back().empty()) throw BadRow(word.data(), "a label without a name");
    if (comma == std::string_view::npos) return;
    word.remove_prefix(comma + 1);
  }
}

}  // namespace recalltree
