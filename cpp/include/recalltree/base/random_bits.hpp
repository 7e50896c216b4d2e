// Bits that look random, of a number: the same for whoever asks, whenever.
#pragma once

#include <cstddef>
#include <cstdint>

namespace recalltree {

// splitmix64
inline std::uint64_t mix(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

// A number of [0, 1).
inline double uniform(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

// Where an id belongs among n places of a table: 2^32 / golden ratio spreads consecutive numbers,
// the product maps them to the places. The tables differ in what a place is: a line of the cache
// that is compared at once (SparseBuckets), a position in a packed block (PackedCounts), an entry.
inline std::size_t home_of(std::uint32_t id, std::size_t n) {
  return static_cast<std::size_t>((std::uint64_t{id * 0x9E3779B1u} * n) >> 32);
}

}  // namespace recalltree
