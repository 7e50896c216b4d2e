// Names -> 32-bit numbers, the same on every machine and for ever: models depend on them.
//
// MurmurHash3 (x86, 32 bits) by its published definition, combined in the way of Vowpal Wabbit's
// `--hash strings`, so that a feature has the same column here and there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "recalltree/text/numbers.hpp"

namespace recalltree {

inline std::uint32_t murmur_hash(std::string_view text, std::uint32_t seed) {
  constexpr std::uint32_t c1 = 0xcc9e2d51, c2 = 0x1b873593;
  const auto rotate = [](std::uint32_t x, int r) { return (x << r) | (x >> (32 - r)); };
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  const std::size_t n_blocks = text.size() / 4;
  std::uint32_t h = seed;
  for (std::size_t i = 0; i < n_blocks; ++i, bytes += 4) {
    const std::uint32_t k = bytes[0] | std::uint32_t{bytes[1]} << 8 |
                            std::uint32_t{bytes[2]} << 16 |
                            std::uint32_t{bytes[3]} << 24;  // little-endian on every machine
    h = rotate(h ^ rotate(k * c1, 15) * c2, 13) * 5 + 0xe6546b64;
  }
  std::uint32_t k = 0;
  for (std::size_t i = text.size() & 3; i > 0; --i) k = k << 8 | bytes[i - 1];
  h ^= rotate(k * c1, 15) * c2;
  h ^= static_cast<std::uint32_t>(text.size());
  h = (h ^ h >> 16) * 0x85ebca6b;
  h = (h ^ h >> 13) * 0xc2b2ae35;
  return h ^ h >> 16;
}

// Names of digits only are numbers and stay what they are; a namespace moves them all alike.
inline std::uint64_t hash_name(std::string_view name, std::uint64_t seed) {
  std::uint64_t number = 0;
  for (const char c : name) {
    if (!is_digit(c)) return murmur_hash(name, static_cast<std::uint32_t>(seed));
    number = number * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return number + seed;
}

// One number for two, which depends on their order.
inline std::uint64_t combine_hashes(std::uint64_t first, std::uint64_t second) {
  return (first * 16777619u) ^ second;
}

}  // namespace recalltree
