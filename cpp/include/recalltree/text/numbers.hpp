// Decimal text -> numbers: correctly rounded, the same in every locale, and never out of range in
// silence. Each function reads what begins at `at` and returns where it ends; nullptr if nothing
// of the kind begins there.
#pragma once

#include <cstdint>
#include <limits>

namespace recalltree {

inline bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

enum class Range : std::uint8_t { kFits, kTooLarge, kNotIntegral };

// [+-] digits [. digits] [e [+-] digits], with a digit before or after the point. The nearest
// float, ties to even; what is smaller than every float is zero. No names ("nan", "inf"), no
// hexadecimal digits.
const char* parse_float(const char* at, const char* end, float& value, Range& range);

// The same numbers, if their value is an integer: "7", "-1", "7.0", "1e3".
const char* parse_int64(const char* at, const char* end, std::int64_t& value, Range& range);

// Digits only; the largest number stands for everything that is larger.
inline const char* parse_uint64(const char* at, const char* end, std::uint64_t& value) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  const char* const first = at;
  std::uint64_t v = 0;
  // Nineteen digits cannot overflow.
  for (const char* safe = end - at > 19 ? at + 19 : end; at != safe && is_digit(*at); ++at)
    v = v * 10 + static_cast<std::uint64_t>(*at - '0');
  for (; at != end && is_digit(*at); ++at) {
    const auto digit = static_cast<std::uint64_t>(*at - '0');
    v = v > (kMost - digit) / 10 ? kMost : v * 10 + digit;
  }
  value = v;
  return at == first ? nullptr : at;
}

}  // namespace recalltree
