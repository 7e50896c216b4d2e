// Histograms that follow from the counts of pairs: for each key, the classes with the largest
// counts, in that order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace recalltree {

// Rows are lists of keys, with a count and a weight for each; weights may be left out.
struct CountedLists {
  std::span<const std::uint64_t> offsets;
  std::span<const std::uint32_t> keys;
  std::span<const float> counts, weights;
};

struct RankedLists {
  std::vector<std::uint64_t> offsets;  // of the list of each key
  std::vector<std::uint32_t> rows;     // by falling count; of equal counts, the first row first
  std::vector<float> roots, weights;   // roots of the counts
};

// The histograms of these keys, which are increasing, with at most `limit` rows each. Throws
// std::invalid_argument where the lists have another key, or leave their arrays. They do not depend
// on the number of threads.
RankedLists rank_lists(const CountedLists& lists, std::span<const std::uint32_t> keys,
                       std::size_t limit, std::size_t n_threads);

}  // namespace recalltree
