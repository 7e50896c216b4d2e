// In which order the pairs of a class and a key are forgotten when memory is short.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "recalltree/base/types.hpp"

namespace recalltree {

// By what a pair is worth, which is not negative. Of pairs that are worth the same, any may be the
// first, but the same ones however their tables lie in memory.
inline std::uint64_t pair_rank(float worth, ClassId y, std::uint32_t key) {
  std::uint64_t mixed = (std::uint64_t{y} << 32 | key) * 0x9E3779B97F4A7C15u;
  mixed = (mixed ^ mixed >> 32) * 0xD6E8FEB86659FD93u;
  // Floats that are not negative are in the order of their bits.
  return std::uint64_t{std::bit_cast<std::uint32_t>(worth)} << 32 | mixed >> 32;
}

// The rank below which n pairs are, of more than n. visit_ranks(visit) calls visit(rank) for each
// of them; it is called twice, so that not all have to be kept.
template <class VisitRanks>
std::uint64_t nth_rank(std::size_t n, VisitRanks visit_ranks) {
  constexpr int kBucketBits = 16;
  std::vector<std::size_t> buckets(std::size_t{1} << kBucketBits);
  const auto bucket_of = [](std::uint64_t rank) { return rank >> (64 - kBucketBits); };
  visit_ranks([&](std::uint64_t rank) { ++buckets[bucket_of(rank)]; });
  std::size_t bucket = 0;
  while (n >= buckets[bucket]) n -= buckets[bucket++];
  std::vector<std::uint64_t> ranks;
  ranks.reserve(buckets[bucket]);
  visit_ranks([&](std::uint64_t rank) {
    if (bucket_of(rank) == bucket) ranks.push_back(rank);
  });
  const auto nth = ranks.begin() + static_cast<std::ptrdiff_t>(n);
  std::nth_element(ranks.begin(), nth, ranks.end());
  return *nth;
}

}  // namespace recalltree
