#include "recalltree/kernels/int8_kernels.hpp"

#include <cstring>

#include "recalltree/kernels/kernels.hpp"

namespace recalltree {
namespace scalar {
namespace {

void scores(const std::int8_t* query, float scale, const std::uint8_t* blocks, const float* scales,
            const float* biases, std::size_t n, std::size_t width, float bound, float* out,
            Int8Above* above) {
  for (std::size_t b = 0; b < n; ++b, blocks += kInt8Block * width) {
    std::int32_t sums[kInt8Block] = {};
    for (std::size_t j = 0; j < width; j += kInt8Piece)
      for (std::size_t i = 0; i < kInt8Block; ++i)
        for (std::size_t k = 0; k < kInt8Piece; ++k)
          sums[i] += (blocks[j * kInt8Block + i * kInt8Piece + k] - kInt8Offset) * query[j + k];
    unsigned bits = 0;
    for (std::size_t i = 0; i < kInt8Block; ++i) {
      const std::size_t at = b * kInt8Block + i;
      out[at] = static_cast<float>(sums[i]) * (scales[at] * scale) + biases[at];
      bits |= static_cast<unsigned>(out[at] > bound) << i;
    }
    above[b] = static_cast<Int8Above>(bits);
  }
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
