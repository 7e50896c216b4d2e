#include "recalltree/kernels/int8_kernels.hpp"

#include <cstring>

#include "recalltree/kernels/kernels.hpp"

namespace recalltree {
namespace scalar {
namespace {

void dots(const std::int8_t* query, const std::int8_t* rows, std::size_t n, std::size_t width,
          std::int32_t* out) {
  for (std::size_t i = 0; i < n; ++i, rows += width) {
    std::int32_t sum = 0;
    for (std::size_t j = 0; j < width; ++j) sum += std::int32_t{query[j]} * std::int32_t{rows[j]};
    out[i] = sum;
  }
}

}  // namespace

const Int8Kernels& int8_table() {
  static const Int8Kernels kernels{"scalar", dots};
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
