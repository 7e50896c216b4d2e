// Numbers against the C library's, in the "C" locale.
#include "recalltree/text/numbers.hpp"

#include <cerrno>
#include <cmath>
#include <string>

#include "invariants.hpp"

namespace {

using namespace recalltree;

void check_float(const std::string& text) {
  float value = 0.0f;
  Range range = Range::kFits;
  const char* const end = text.data() + text.size();
  const char* const after = parse_float(text.data(), end, value, range);
  if (after == nullptr) return;
  const std::string number(text.data(), after);
  fuzz::require(number.find_first_not_of("0123456789+-.eE") == std::string::npos,
                "a number has the characters of one");
  char* c_end = nullptr;
  const float expected = std::strtof(number.c_str(), &c_end);
  fuzz::require(*c_end == '\0', "the C library reads the same characters");
  fuzz::require((range == Range::kTooLarge) == std::isinf(expected), "too large for both");
  if (range == Range::kFits)
    fuzz::require(std::memcmp(&value, &expected, sizeof value) == 0, "the nearest float");
}

void check_integer(const std::string& text) {
  std::int64_t value = 0;
  Range range = Range::kFits;
  const char* const end = text.data() + text.size();
  const char* const after = parse_int64(text.data(), end, value, range);
  if (after == nullptr) return;
  const std::string number(text.data(), after);
  if (number.find_first_of(".eE") != std::string::npos) return;
  errno = 0;
  const long long expected = std::strtoll(number.c_str(), nullptr, 10);
  fuzz::require((range == Range::kTooLarge) == (errno == ERANGE), "too large for both");
  if (range == Range::kFits) fuzz::require(value == expected, "the same integer");
}

void check_index(const std::string& text) {
  std::uint64_t value = 0;
  const char* const after = parse_uint64(text.data(), text.data() + text.size(), value);
  if (after == nullptr) return;
  // Larger than everything is the largest here, and there.
  const std::string number(text.data(), after);
  fuzz::require(value == std::strtoull(number.c_str(), nullptr, 10), "the same index");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  check_float(text);
  check_integer(text);
  check_index(text);
  return 0;
}
