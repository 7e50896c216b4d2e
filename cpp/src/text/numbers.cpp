#include "recalltree/text/numbers.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <system_error>
#include <version>
#if !defined(__cpp_lib_to_chars)
#include <locale>
#include <sstream>
#include <string>
#endif

namespace recalltree {

namespace {

// A decimal number taken apart: (-1)^negative * mantissa * 10^exponent.
struct Decimal {
  bool negative = false;
  bool exact = true;           // false: there were more digits than the mantissa holds
  std::uint64_t mantissa = 0;  // the first 19 significant digits
  std::int64_t exponent = 0;
  const char* digits = nullptr;  // after the sign
};

constexpr int kDigits = 19;                           // that a mantissa holds, whatever they are
constexpr std::int64_t kFarAway = 1'000'000'000'000;  // an exponent that settles everything

// Digits of a mantissa that may be longer than 64 bits hold; `point` is where its point is, or its
// end.
void read_long_mantissa(const char* at, const char* point, const char* end, Decimal& d) {
  d.mantissa = 0;
  d.exponent = 0;
  int significant = 0;
  for (; at != end; ++at) {
    if (at == point) continue;
    d.exponent -= at > point;
    const auto digit = static_cast<std::uint64_t>(*at - '0');
    if (significant < kDigits) {
      d.mantissa = d.mantissa * 10 + digit;
      significant += d.mantissa != 0;
    } else {
      d.exact = d.exact && digit == 0;
      ++d.exponent;
    }
  }
}

const char* read_exponent(const char* at, const char* end, Decimal& d) {
  bool negative = false;
  if (at != end && (*at == '-' || *at == '+')) negative = *at++ == '-';
  if (at == end || !is_digit(*at)) return nullptr;
  std::int64_t exponent = 0;
  for (; at != end && is_digit(*at); ++at)
    exponent = std::min(exponent * 10 + (*at - '0'), kFarAway);
  d.exponent += negative ? -exponent : exponent;
  return at;
}

const char* read(const char* at, const char* end, Decimal& d) {
  if (at != end && (*at == '-' || *at == '+')) d.negative = *at++ == '-';
  d.digits = at;
  const auto read_digits = [&] {
    for (; at != end && is_digit(*at); ++at)
      d.mantissa = d.mantissa * 10 + static_cast<std::uint64_t>(*at - '0');
  };
  read_digits();
  const char* const point = at;
  if (at != end && *at == '.') {
    ++at;
    read_digits();
    d.exponent = point + 1 - at;
  }
  const std::ptrdiff_t n_digits = at - d.digits - (at != point);
  if (n_digits == 0) return nullptr;
  if (n_digits > kDigits) read_long_mantissa(d.digits, point, at, d);
  return at != end && (*at == 'e' || *at == 'E') ? read_exponent(at + 1, end, d) : at;
}

// Every power of ten that a double holds exactly.
constexpr double kPowers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                              1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                              1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

// The nearest float by way of the nearest double, where that cannot round twice.
bool nearest_by_double(const Decimal& d, float& value) {
  if (!d.exact || d.mantissa > (std::uint64_t{1} << 53) || d.exponent < -22 || d.exponent > 22)
    return false;
  const auto mantissa = static_cast<double>(d.mantissa);
  const double nearest =
      d.exponent < 0 ? mantissa / kPowers[-d.exponent] : mantissa * kPowers[d.exponent];
  if (nearest < std::numeric_limits<float>::min() || nearest > std::numeric_limits<float>::max())
    return false;
  // A double in the very middle between two floats may have been rounded to it.
  constexpr std::uint64_t kDropped = (std::uint64_t{1} << 29) - 1;
  if ((std::bit_cast<std::uint64_t>(nearest) & kDropped) == (kDropped >> 1) + 1) return false;
  value = static_cast<float>(nearest);
  return true;
}

// The library's conversion of digits that are known to be a number. Too small gives zero, too
// large gives infinity.
float nearest_by_library(const Decimal& d, const char* end) {
  float value = 0.0f;
#if defined(__cpp_lib_to_chars)
  const auto result = std::from_chars(d.digits, end, value);
  const bool out_of_range = result.ec == std::errc::result_out_of_range;
#else
  std::istringstream stream(std::string(d.digits, end));
  stream.imbue(std::locale::classic());
  stream >> value;
  const bool out_of_range = stream.fail();
#endif
  // A library may call it out of range, too, if a number is so small that it loses digits.
  return out_of_range && d.exponent > 0 ? std::numeric_limits<float>::infinity() : value;
}

}  // namespace

const char* parse_float(const char* at, const char* end, float& value, Range& range) {
  Decimal d;
  const char* const after = read(at, end, d);
  if (after == nullptr) return nullptr;
  range = Range::kFits;
  if (d.exponent == 0 && d.exact && d.mantissa <= (std::uint64_t{1} << 24)) {  // a small integer
    value = d.negative ? -static_cast<float>(d.mantissa) : static_cast<float>(d.mantissa);
    return after;
  }
  float magnitude = 0.0f;
  if (d.mantissa != 0 && !nearest_by_double(d, magnitude)) magnitude = nearest_by_library(d, after);
  if (std::isinf(magnitude)) {
    range = Range::kTooLarge;
    return after;
  }
  value = d.negative ? -magnitude : magnitude;
  return after;
}

const char* parse_int64(const char* at, const char* end, std::int64_t& value, Range& range) {
  Decimal d;
  const char* const after = read(at, end, d);
  if (after == nullptr) return nullptr;
  range = Range::kFits;
  while (d.exponent < 0 && d.mantissa != 0 && d.mantissa % 10 == 0) {
    d.mantissa /= 10;
    ++d.exponent;
  }
  if (d.mantissa == 0) d.exponent = 0;
  const std::uint64_t most = std::numeric_limits<std::int64_t>::max() + std::uint64_t{d.negative};
  for (; d.exponent > 0 && d.mantissa <= most / 10; --d.exponent) d.mantissa *= 10;
  if (d.exponent < 0)
    range = Range::kNotIntegral;
  else if (!d.exact || d.exponent > 0 || d.mantissa > most)
    range = Range::kTooLarge;
  else  // modulo 2^64, so that the lowest number has its place too
    value = static_cast<std::int64_t>(d.negative ? 0 - d.mantissa : d.mantissa);
  return after;
}

}  // namespace recalltree
