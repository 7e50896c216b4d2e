#include "recalltree/kernels/int8_kernels.hpp"

#if defined(RECALLTREE_X86)
#include <immintrin.h>

#include <cstring>

namespace recalltree::avx2 {
namespace {

void scores(const std::int8_t* query, float scale, const std::uint8_t* blocks, const float* scales,
            const float* biases, std::size_t n, std::size_t width, float bound, float* out,
            Int8Above* above) {
  std::int32_t of_query = 0;
  for (std::size_t j = 0; j < width; ++j) of_query += query[j];
  const __m256i start = _mm256_set1_epi32(-kInt8Offset * of_query);
  const __m256i ones = _mm256_set1_epi16(1);
  const __m256 by = _mm256_set1_ps(scale);
  for (std::size_t half = 0; half < 2 * n; ++half) {
    const std::uint8_t* const from =
        blocks + half / 2 * kInt8Block * width + half % 2 * (kInt8Block / 2 * kInt8Piece);
    __m256i sum = start;
    for (std::size_t j = 0; j < width; j += kInt8Piece) {
      std::int32_t piece;
      std::memcpy(&piece, query + j, sizeof piece);
      const __m256i row =
          _mm256_load_si256(reinterpret_cast<const __m256i*>(from + j * kInt8Block));
      const __m256i pairs = _mm256_maddubs_epi16(row, _mm256_set1_epi32(piece));
      sum = _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, ones));
    }
    const std::size_t at = half * (kInt8Block / 2);
    const __m256 factor = _mm256_mul_ps(_mm256_load_ps(scales + at), by);
    const __m256 scored =
        _mm256_add_ps(_mm256_mul_ps(_mm256_cvtepi32_ps(sum), factor), _mm256_load_ps(biases + at));
    _mm256_storeu_ps(out + at, scored);
    const int bits = _mm256_movemask_ps(_mm256_cmp_ps(scored, _mm256_set1_ps(bound), _CMP_GT_OQ));
    above[half / 2] = static_cast<Int8Above>(half % 2 == 0 ? bits : above[half / 2] | bits << 8);
  }
}

}  // namespace

const Int8Kernels& int8_table() {
  static const Int8Kernels kernels{"avx2", scores};
  return kernels;
}

}  // namespace recalltree::avx2
#endif
