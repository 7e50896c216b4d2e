// Open addressing: where a key belongs in a table, and where it is. Three tables probe in a way of
// their own, for speed: SparseBuckets compares a line of the cache at once, TaggedSlots the tags of
// sixteen slots, and Votes does not branch.
#pragma once

#include <cstddef>
#include <cstdint>

namespace recalltree {

// The home of an id among n places: 2^32 / golden ratio spreads consecutive numbers, the product
// maps them to the places.
inline std::size_t home_of(std::uint32_t id, std::size_t n) {
  return static_cast<std::size_t>((std::uint64_t{id * 0x9E3779B1u} * n) >> 32);
}

// The first of n slots, from `home` on and in a circle, for which ends(slot) is true: the slot of
// the key, or a free one. A table always has a free one.
template <class Ends>
std::size_t probe(std::size_t home, std::size_t n, Ends ends) {
  std::size_t slot = home;
  while (!ends(slot)) slot = slot + 1 < n ? slot + 1 : 0;
  return slot;
}

}  // namespace recalltree
