// Mini-batches: rows that several threads look at before any of them is learned.
#pragma once

#include <cstdint>

namespace recalltree {

// A multiple of all sizes.
inline constexpr std::uint64_t kLargestMiniBatch = 256;

// Rows to learn together after this many. Sizes grow from 16 to 256, with what has been
// learned: a model is never behind by more than 16 rows or a 32nd of what it knows. Mini-batches
// end at multiples of their size, so that they do not depend on how rows are handed over, as long
// as these parts end at such multiples.
inline std::uint64_t rows_of_mini_batch(std::uint64_t n_examples) {
  std::uint64_t size = 16;
  while (size < kLargestMiniBatch && n_examples > 64 * size) size *= 2;
  return size - n_examples % size;
}

}  // namespace recalltree
