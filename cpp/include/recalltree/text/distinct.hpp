// Whether strings that lie end to end are all different.
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
  const std::size_t mask = table.size() - 1;
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint64_t h = hash(string(i));
    const auto tag = static_cast<std::uint32_t>(h >> 32);
    std::size_t at = h & mask;
    for (; table[at].number_plus_1 != 0; at = (at + 1) & mask)
      if (table[at].tag == tag && string(table[at].number_plus_1 - 1) == string(i))
        return std::pair{std::size_t{table[at].number_plus_1} - 1, i};
    table[at] = {tag, static_cast<std::uint32_t>(i + 1)};
  }
  return std::nullopt;
}

}  // namespace recalltree
