#include "recalltree/text/line_format.hpp"

namespace recalltree {

bool FastTextFormat::parse(std::string_view line, Row& row) {
  const char* at = line.data();
  const char* const end = at + line.size();
  words_.begin(0);
  bool any = false;
  for (;;) {
    const std::string_view word = next_word(at, end, Separators::kSpaces);
    if (word.empty()) return any;
    any = true;
    if (!word.starts_with(label_prefix_)) {
      words_.add(word, row);
      continue;
    }
    row.labels.push_back(word.substr(label_prefix_.size()));
    if (row.labels.back().empty()) throw BadRow(word.data(), "a label without a name");
  }
}

}  // namespace recalltree
