#include "recalltree/kernels/int8_kernels.hpp"

#if defined(RECALLTREE_X86)
#include <immintrin.h>

namespace recalltree::avx2 {
namespace {

// Sixteen products at a time, as 16-bit numbers, so that nothing saturates.
inline __m256i dot_row(const std::int8_t* query, const std::int8_t* row, std::size_t width) {
  __m256i sum = _mm256_setzero_si256();
  for (std::size_t j = 0; j < width; j += 16) {
    const __m256i a =
        _mm256_cvtepi8_epi16(_mm_load_si128(reinterpret_cast<const __m128i*>(query + j)));
    const __m256i b =
        _mm256_cvtepi8_epi16(_mm_load_si128(reinterpret_cast<const __m128i*>(row + j)));
    sum = _mm256_add_epi32(sum, _mm256_madd_epi16(a, b));
  }
  return sum;
}

void dots(const std::int8_t* query, const std::int8_t* rows, std::size_t n, std::size_t width,
          std::int32_t* out) {
  std::size_t i = 0;
  for (; i + 4 <= n; i += 4, rows += 4 * width) {
    const __m256i ab =
        _mm256_hadd_epi32(dot_row(query, rows, width), dot_row(query, rows + width, width));
    const __m256i cd = _mm256_hadd_epi32(dot_row(query, rows + 2 * width, width),
                                         dot_row(query, rows + 3 * width, width));
    const __m256i all = _mm256_hadd_epi32(ab, cd);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i),
                     _mm_add_epi32(_mm256_castsi256_si128(all), _mm256_extracti128_si256(all, 1)));
  }
  for (; i < n; ++i, rows += width) {
    const __m256i sum = dot_row(query, rows, width);
    __m128i half = _mm_add_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
    half = _mm_hadd_epi32(half, half);
    out[i] = _mm_cvtsi128_si32(_mm_hadd_epi32(half, half));
  }
}

}  // namespace

const Int8Kernels& int8_table() {
  static const Int8Kernels kernels{"avx2", dots};
  return kernels;
}

}  // namespace recalltree::avx2
#endif
