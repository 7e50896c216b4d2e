#include "recalltree/kernels/int8_kernels.hpp"

#if defined(RECALLTREE_X86)
#include <immintrin.h>

#include <cstring>

namespace recalltree::avx2 {
namespace {

std::int32_t start_of(const std::int8_t* query, std::size_t width) {
  std::int32_t sum = 0;
  for (std::size_t j = 0; j < width; ++j) sum += query[j];
  return -kInt8Offset * sum;
}

// Half a block, of which a register holds a piece of every vector, for N queries.
template <std::size_t N>
inline void scores_of(const Int8Query* queries, const __m256i* starts, const std::uint8_t* from,
                      const float* scales, const float* biases, std::size_t half,
                      std::size_t width) {
  const __m256i ones = _mm256_set1_epi16(1);
  __m256i sums[N];
  for (std::size_t q = 0; q < N; ++q) sums[q] = starts[q];
  for (std::size_t j = 0; j < width; j += kInt8Piece) {
    const __m256i row = _mm256_load_si256(reinterpret_cast<const __m256i*>(from + j * kInt8Block));
    for (std::size_t q = 0; q < N; ++q) {
      std::int32_t piece;
      std::memcpy(&piece, queries[q].bytes + j, sizeof piece);
      const __m256i pairs = _mm256_maddubs_epi16(row, _mm256_set1_epi32(piece));
      sums[q] = _mm256_add_epi32(sums[q], _mm256_madd_epi16(pairs, ones));
    }
  }
  const std::size_t at = half * (kInt8Block / 2);
  const __m256 scale = _mm256_load_ps(scales + at), bias = _mm256_load_ps(biases + at);
  for (std::size_t q = 0; q < N; ++q) {
    const Int8Query& query = queries[q];
    const __m256 factor = _mm256_mul_ps(scale, _mm256_set1_ps(query.scale));
    const __m256 scored = _mm256_add_ps(_mm256_mul_ps(_mm256_cvtepi32_ps(sums[q]), factor), bias);
    _mm256_storeu_ps(query.scores + at, scored);
    const int bits =
        _mm256_movemask_ps(_mm256_cmp_ps(scored, _mm256_set1_ps(query.bound), _CMP_GT_OQ));
    Int8Above& above = query.above[half / 2];
    above = static_cast<Int8Above>(half % 2 == 0 ? bits : above | bits << 8);
  }
}

void scores(const Int8Query* queries, std::size_t n_queries, const std::uint8_t* blocks,
            const float* scales, const float* biases, std::size_t n, std::size_t width) {
  constexpr std::size_t kTile = 4;
  for (std::size_t q = 0; q < n_queries;) {
    const std::size_t n_tile = n_queries - q >= kTile ? kTile : 1;
    __m256i starts[kTile];
    for (std::size_t k = 0; k < n_tile; ++k)
      starts[k] = _mm256_set1_epi32(start_of(queries[q + k].bytes, width));
    for (std::size_t half = 0; half < 2 * n; ++half) {
      const std::uint8_t* const from =
          blocks + half / 2 * kInt8Block * width + half % 2 * (kInt8Block / 2 * kInt8Piece);
      if (n_tile == kTile)
        scores_of<kTile>(queries + q, starts, from, scales, biases, half, width);
      else
        scores_of<1>(queries + q, starts, from, scales, biases, half, width);
    }
    q += n_tile;
  }
}

}  // namespace

const Int8Kernels& int8_table() {
  static const Int8Kernels kernels{"avx2", scores};
  return kernels;
}

}  // namespace recalltree::avx2
#endif
