// Check for text: UTF-8 without NUL.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace recalltree {

// Length of the UTF-8 character that begins at `at`, 0 if none does (or NUL).
inline std::size_t utf8_length(const char* at, const char* end) {
  const auto byte = [&](std::ptrdiff_t i) -> unsigned {
    return i < end - at ? static_cast<unsigned char>(at[i]) : 0u;
  };
  const auto follows = [&](std::ptrdiff_t i, unsigned low = 0x80, unsigned high = 0xbf) {
    return byte(i) >= low && byte(i) <= high;
  };
  const unsigned first = byte(0);
  if (first < 0x80) return first != 0;
  if (first < 0xc2) return 0;
  if (first < 0xe0) return follows(1) ? 2 : 0;
  // No overlong forms, no surrogates, nothing above U+10FFFF.
  if (first < 0xf0)
    return follows(1, first == 0xe0 ? 0xa0 : 0x80, first == 0xed ? 0x9f : 0xbf) && follows(2) ? 3
                                                                                              : 0;
  if (first < 0xf5)
    return follows(1, first == 0xf0 ? 0x90 : 0x80, first == 0xf4 ? 0x8f : 0xbf) && follows(2) &&
                   follows(3)
               ? 4
               : 0;
  return 0;
}

// The first byte that is not text, or nullptr.
inline const char* find_invalid_utf8(std::string_view text) {
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    // Eight characters of ASCII at a time: no high bit, and no byte that is zero.
    for (std::uint64_t word; end - at >= 8; at += 8) {
      std::memcpy(&word, at, 8);
      constexpr std::uint64_t kHigh = 0x8080808080808080, kOnes = 0x0101010101010101;
      if ((word & kHigh) != 0 || ((word - kOnes) & ~word & kHigh) != 0) break;
    }
    if (at == end) break;
    const std::size_t length = utf8_length(at, end);
    if (length == 0) return at;
    at += length;
  }
  return nullptr;
}

}  // namespace recalltree
