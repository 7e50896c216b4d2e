#include "recalltree/kernels/int8_kernels.hpp"

#include <cstring>

#include "recalltree/kernels/kernels.hpp"

namespace recalltree {
namespace scalar {
namespace {

void scores_of(const Int8Query& query, const std::uint8_t* blocks, const float* scales,
               const float* biases, std::size_t n, std::size_t width) {
  for (std::size_t b = 0; b < n; ++b, blocks += kInt8Block * width) {
    std::int32_t sums[kInt8Block] = {};
    for (std::size_t j = 0; j < width; j += kInt8Piece)
      for (std::size_t i = 0; i < kInt8Block; ++i)
        for (std::size_t k = 0; k < kInt8Piece; ++k)
          sums[i] +=
              (blocks[j * kInt8Block + i * kInt8Piece + k] - kInt8Offset) * query.bytes[j + k];
    unsigned bits = 0;
    for (std::size_t i = 0; i < kInt8Block; ++i) {
      const std::size_t at = b * kInt8Block + i;
      query.scores[at] = static_cast<float>(sums[i]) * (scales[at] * query.scale) + biases[at];
      bits |= static_cast<unsigned>(query.scores[at] > query.bound) << i;
    }
    query.above[b] = static_cast<Int8Above>(bits);
  }
}

void scores(const Int8Query* queries, std::size_t n_queries, const std::uint8_t* blocks,
            const float* scales, const float* biases, std::size_t n, std::size_t width) {
  for (std::size_t q = 0; q < n_queries; ++q)
    scores_of(queries[q], blocks, scales, biases, n, width);
}

}  // namespace

const Int8Kernels& int8_table() {
  static const Int8Kernels kernels{"scalar", scores};
  return kernels;
}
}  // namespace scalar

const Int8Kernels& int8_kernels() {
  static const Int8Kernels& chosen = []() -> const Int8Kernels& {
#if defined(RECALLTREE_X86)
    if (std::strcmp(kernels().name, "avx512") == 0) return avx512::int8_table();
    if (std::strcmp(kernels().name, "avx2") == 0) return avx2::int8_table();
#endif
    return scalar::int8_table();
  }();
  return chosen;
}

}  // namespace recalltree
