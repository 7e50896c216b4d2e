// Words of any bytes, and of text: every byte is in a word or in a separator.
#include "recalltree/text/word_features.hpp"

#include "invariants.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace recalltree;
  const fuzz::Input input(data, size);
  const auto separators = input.option(0) ? Separators::kPunctuation : Separators::kSpaces;
  const std::uint32_t n_features = 64;
  FeatureSpace space(n_features, input.option(1), false);
  WordFeatures words(space, 1 + (input.options >> 2 & 3));
  words.begin(7, "column ");
  Row row;
  const bool is_text = find_invalid_utf8(input.text) == nullptr;
  const char* at = input.text.data();
  const char* const end = at + input.text.size();
  while (true) {
    const char* const before = at;
    const std::string_view word = next_word(at, end, separators);
    if (word.empty()) break;
    fuzz::require(word.data() >= before && word.data() + word.size() == at && at <= end,
                  "words follow one another");
    if (is_text) fuzz::require(find_invalid_utf8(word) == nullptr, "a word of text is text");
    try {
      words.add(word, row);
    } catch (const BadRow&) {  // the dictionary is full
    }
  }
  fuzz::require(at == end, "all is read");
  for (const std::uint32_t j : row.columns) fuzz::require(j < n_features, "columns are in range");
  return 0;
}
