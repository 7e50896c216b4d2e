#include "recalltree/text/word_features.hpp"

#include <algorithm>

#include "recalltree/text/utf8.hpp"

namespace recalltree {

namespace {

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

bool is_word_ascii(unsigned char c) {
  return is_digit(static_cast<char>(c)) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         c == '_';
}

// Beyond ASCII: spaces, quotation marks, dashes and stops of the blocks where they stand together.
bool is_separator(std::uint32_t c) {
  return (c >= 0x80 && c <= 0xbf && c != 0xaa && c != 0xb5 && c != 0xba) || c == 0xd7 ||
         c == 0xf7 || (c >= 0x2000 && c <= 0x206f && c != 0x200c && c != 0x200d) ||
         (c >= 0x2e00 && c <= 0x2e7f) || (c >= 0x3000 && c <= 0x3003) ||
         (c >= 0x3008 && c <= 0x3020) || c == 0xfeff || (c >= 0xff01 && c <= 0xff0f) ||
         (c >= 0xff1a && c <= 0xff20) || (c >= 0xff3b && c <= 0xff40 && c != 0xff3f) ||
         (c >= 0xff5b && c <= 0xff65);
}

// The character of `length` bytes at `at`.
std::uint32_t code_point(const char* at, std::size_t length) {
  static constexpr unsigned kFirst[] = {0x7f, 0x7f, 0x1f, 0x0f, 0x07};
  std::uint32_t c = static_cast<unsigned char>(*at) & kFirst[length];
  for (std::size_t i = 1; i < length; ++i) c = c << 6 | (static_cast<unsigned char>(at[i]) & 0x3f);
  return c;
}

// Bytes of the separator at `at`, 0 if what stands there belongs to a word.
std::size_t separator_length(const char* at, const char* end, Separators separators) {
  if (separators == Separators::kSpaces) return is_space(*at);
  if (static_cast<unsigned char>(*at) < 0x80)
    return !is_word_ascii(static_cast<unsigned char>(*at));
  const std::size_t length = utf8_length(at, end);
  return length > 0 && is_separator(code_point(at, length)) ? length : 0;
}

}  // namespace

std::string_view next_word(const char*& at, const char* end, Separators separators) {
  while (at != end) {
    const std::size_t skip = separator_length(at, end, separators);
    if (skip == 0) break;
    at += skip;
  }
  const char* const begin = at;
  while (at != end && separator_length(at, end, separators) == 0) ++at;
  return {begin, static_cast<std::size_t>(at - begin)};
}

void WordFeatures::begin(std::uint32_t seed, std::string_view prefix) {
  seed_ = seed;
  prefix_ = prefix;
  n_before_ = 0;
}

void WordFeatures::add(std::string_view word, Row& row) {
  const std::size_t longest = std::min(n_before_ + 1, last_.size());
  if (space_->hashed())
    add_hash(word, longest, row);
  else
    add_names(word, longest, row);
  n_before_ = longest;
}

void WordFeatures::add_hash(std::string_view word, std::size_t longest, Row& row) {
  const std::uint64_t hash = murmur_hash(word, seed_);
  if (space_->keeps_names()) remember(word);
  for (std::size_t k = longest; k-- > 0;) {
    last_[k] = k == 0 ? hash : combine_hashes(last_[k - 1], hash);
    const std::uint32_t column = space_->column(last_[k]);
    row.add(column, 1.0f);
    if (space_->keeps_names()) row.names.emplace_back(column, name_of(k + 1));
  }
}

void WordFeatures::add_names(std::string_view word, std::size_t longest, Row& row) {
  remember(word);
  for (std::size_t k = longest; k-- > 0;) {
    const std::uint32_t column = space_->column(name_of(k + 1), word.data());
    if (column == FeatureSpace::kNone) continue;
    row.add(column, 1.0f);
    if (space_->keeps_names()) row.names.emplace_back(column, name_);
  }
}

void WordFeatures::remember(std::string_view word) {
  std::copy_backward(last_words_.begin(), last_words_.end() - 1, last_words_.end());
  last_words_[0] = word;
}

std::string_view WordFeatures::name_of(std::size_t n_words) {
  name_.assign(prefix_);
  for (std::size_t i = n_words; i-- > 0;) {
    name_.append(last_words_[i]);
    if (i > 0) name_.push_back(' ');
  }
  return name_;
}

}  // namespace recalltree
