// Search for duplicates among strings that lie end to end.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "recalltree/base/probing.hpp"

namespace recalltree {

// String i is bytes[offsets[i] .. offsets[i + 1]); the offsets are known to be increasing and
// within. Returns two strings that are the same, if there are any. `seed` is a number that nobody
// could know who chose the strings, so that they cannot have been chosen to collide.
inline std::optional<std::pair<std::size_t, std::size_t>> find_duplicate(
    std::span<const char> bytes, std::span<const std::uint64_t> offsets, std::uint64_t seed) {
  const std::size_t n = offsets.empty() ? 0 : offsets.size() - 1;
  const auto string = [&](std::size_t i) {
    return std::string_view(bytes.data() + offsets[i], offsets[i + 1] - offsets[i]);
  };
  // Eight bytes at a time; the constants are those of splitmix64.
  const auto hash = [seed](std::string_view s) {
    std::uint64_t h = seed ^ s.size();
    for (std::size_t i = 0; i < s.size(); i += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, s.data() + i, std::min<std::size_t>(8, s.size() - i));
      h = (h ^ word) * 0xBF58476D1CE4E5B9ull;
      h = (h ^ (h >> 32)) * 0x94D049BB133111EBull;
    }
    return h ^ (h >> 29);
  };
  struct Slot {
    std::uint32_t tag, number_plus_1;
  };
  std::vector<Slot> table(std::bit_ceil(2 * n + 1), Slot{0, 0});
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint64_t h = hash(string(i));
    const auto tag = static_cast<std::uint32_t>(h >> 32);
    Slot& slot = table[probe(h & (table.size() - 1), table.size(), [&](std::size_t at) {
      const auto [other, number_plus_1] = table[at];
      return number_plus_1 == 0 || (other == tag && string(number_plus_1 - 1) == string(i));
    })];
    if (slot.number_plus_1 != 0) return std::pair{std::size_t{slot.number_plus_1} - 1, i};
    slot = {tag, static_cast<std::uint32_t>(i + 1)};
  }
  return std::nullopt;
}

}  // namespace recalltree
