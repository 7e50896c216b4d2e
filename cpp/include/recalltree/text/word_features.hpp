// Text -> words -> word n-grams -> features, each as often as it occurs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "recalltree/text/feature_space.hpp"
#include "recalltree/text/row.hpp"

namespace recalltree {

// Separators of words: white space only, or everything that is neither a letter nor a digit (of
// ASCII, and the punctuation that is common beyond it).
enum class Separators : std::uint8_t { kSpaces, kPunctuation };

// Moves `at` to the next word and returns it; empty at the end of the text.
std::string_view next_word(const char*& at, const char* end, Separators separators);

class WordFeatures {
 public:
  // n-grams of 1 .. max_ngram words.
  WordFeatures(FeatureSpace& space, std::size_t max_ngram)
      : space_(&space), last_(max_ngram, 0), last_words_(max_ngram) {}

  // Words of one text, one by one; begin() between texts. Texts of different seeds do not share
  // features; in a dictionary the seed is a prefix of the names.
  void begin(std::uint32_t seed, std::string_view prefix = {});
  void add(std::string_view word, Row& row);

 private:
  void add_hash(std::string_view word, std::size_t longest, Row& row);
  void add_names(std::string_view word, std::size_t longest, Row& row);
  void remember(std::string_view word);
  std::string_view name_of(std::size_t n_words);  // of the n-gram that ended last

  FeatureSpace* space_;
  std::uint32_t seed_ = 0;
  std::string_view prefix_;
  std::size_t n_before_ = 0;                  // words so far, up to the longest n-gram
  std::vector<std::uint64_t> last_;           // hash of the n-gram of k + 1 words that ended last
  std::vector<std::string_view> last_words_;  // the last words, latest first
  std::string name_;
};

}  // namespace recalltree
