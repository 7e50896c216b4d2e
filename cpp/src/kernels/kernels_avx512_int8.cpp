#include "recalltree/kernels/int8_kernels.hpp"

#if defined(RECALLTREE_X86)
#include <immintrin.h>

#include <cstring>
#if defined(_MSC_VER)
#include <intrin.h>
#define RECALLTREE_VNNI
#else
#define RECALLTREE_VNNI [[gnu::target("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")]]
#endif

namespace recalltree::avx512 {
namespace {

inline __m512i piece_of(const std::int8_t* query) {
  std::int32_t piece;
  std::memcpy(&piece, query, sizeof piece);
  return _mm512_set1_epi32(piece);
}

inline __m512i start_of(const std::int8_t* query, std::size_t width) {
  std::int32_t sum = 0;
  for (std::size_t j = 0; j < width; ++j) sum += query[j];
  return _mm512_set1_epi32(-kInt8Offset * sum);
}

inline void store_scores(__m512i sum, const float* scales, const float* biases, std::size_t block,
                         const Int8Query& query) {
  const std::size_t at = block * kInt8Block;
  const __m512 factor = _mm512_mul_ps(_mm512_load_ps(scales + at), _mm512_set1_ps(query.scale));
  const __m512 scored =
      _mm512_add_ps(_mm512_mul_ps(_mm512_cvtepi32_ps(sum), factor), _mm512_load_ps(biases + at));
  _mm512_storeu_ps(query.scores + at, scored);
  query.above[block] = _mm512_cmp_ps_mask(scored, _mm512_set1_ps(query.bound), _CMP_GT_OQ);
}

void scores(const Int8Query* queries, std::size_t n_queries, const std::uint8_t* blocks,
            const float* scales, const float* biases, std::size_t n, std::size_t width) {
  const __m512i ones = _mm512_set1_epi16(1);
  for (std::size_t q = 0; q < n_queries; ++q) {
    const Int8Query& query = queries[q];
    const __m512i start = start_of(query.bytes, width);
    for (std::size_t b = 0; b < n; ++b) {
      const std::uint8_t* const from = blocks + b * kInt8Block * width;
      __m512i sum = start;
      for (std::size_t j = 0; j < width; j += kInt8Piece) {
        const __m512i pairs = _mm512_maddubs_epi16(_mm512_load_si512(from + j * kInt8Block),
                                                   piece_of(query.bytes + j));
        sum = _mm512_add_epi32(sum, _mm512_madd_epi16(pairs, ones));
      }
      store_scores(sum, scales, biases, b, query);
    }
  }
}

// One query. Four sums at a time: one alone would wait for its last product.
RECALLTREE_VNNI void scores_of_one(const Int8Query& query, const std::uint8_t* blocks,
                                   const float* scales, const float* biases, std::size_t n,
                                   std::size_t width) {
  const __m512i start = start_of(query.bytes, width), none = _mm512_setzero_si512();
  for (std::size_t b = 0; b < n; ++b, blocks += kInt8Block * width) {
    __m512i sums[4] = {start, none, none, none};
    for (std::size_t j = 0; j < width; j += 4 * kInt8Piece)
      for (std::size_t k = 0; k < 4; ++k) {
        const std::size_t at = j + k * kInt8Piece;
        sums[k] = _mm512_dpbusd_epi32(sums[k], _mm512_load_si512(blocks + at * kInt8Block),
                                      piece_of(query.bytes + at));
      }
    const __m512i sum =
        _mm512_add_epi32(_mm512_add_epi32(sums[0], sums[1]), _mm512_add_epi32(sums[2], sums[3]));
    store_scores(sum, scales, biases, b, query);
  }
}

// N queries and B blocks: N x B of the 32 registers hold sums.
template <std::size_t N, std::size_t B>
RECALLTREE_VNNI inline void scores_of_tile(const Int8Query* queries, const __m512i* starts,
                                           const std::uint8_t* blocks, const float* scales,
                                           const float* biases, std::size_t block,
                                           std::size_t width) {
  const std::uint8_t* const from = blocks + block * kInt8Block * width;
  __m512i sums[N][B];
  for (std::size_t q = 0; q < N; ++q)
    for (std::size_t b = 0; b < B; ++b) sums[q][b] = starts[q];
  for (std::size_t j = 0; j < width; j += kInt8Piece) {
    __m512i vectors[B];
    for (std::size_t b = 0; b < B; ++b)
      vectors[b] = _mm512_load_si512(from + (b * width + j) * kInt8Block);
    for (std::size_t q = 0; q < N; ++q) {
      const __m512i piece = piece_of(queries[q].bytes + j);
      for (std::size_t b = 0; b < B; ++b)
        sums[q][b] = _mm512_dpbusd_epi32(sums[q][b], vectors[b], piece);
    }
  }
  for (std::size_t q = 0; q < N; ++q)
    for (std::size_t b = 0; b < B; ++b)
      store_scores(sums[q][b], scales, biases, block + b, queries[q]);
}

template <std::size_t N>
RECALLTREE_VNNI inline void scores_of_some(const Int8Query* queries, const std::uint8_t* blocks,
                                           const float* scales, const float* biases, std::size_t n,
                                           std::size_t width) {
  __m512i starts[N];
  for (std::size_t q = 0; q < N; ++q) starts[q] = start_of(queries[q].bytes, width);
  std::size_t b = 0;
  for (; b + 4 <= n; b += 4)
    scores_of_tile<N, 4>(queries, starts, blocks, scales, biases, b, width);
  for (; b + 2 <= n; b += 2)
    scores_of_tile<N, 2>(queries, starts, blocks, scales, biases, b, width);
  for (; b < n; ++b) scores_of_tile<N, 1>(queries, starts, blocks, scales, biases, b, width);
}

RECALLTREE_VNNI void scores_vnni(const Int8Query* queries, std::size_t n_queries,
                                 const std::uint8_t* blocks, const float* scales,
                                 const float* biases, std::size_t n, std::size_t width) {
  std::size_t q = 0;
  for (; q + 4 <= n_queries; q += 4)
    scores_of_some<4>(queries + q, blocks, scales, biases, n, width);
  for (; q + 2 <= n_queries; q += 2)
    scores_of_some<2>(queries + q, blocks, scales, biases, n, width);
  for (; q < n_queries; ++q) scores_of_one(queries[q], blocks, scales, biases, n, width);
}

bool cpu_has_vnni() {
#if defined(_MSC_VER)
  int r[4];
  __cpuidex(r, 7, 0);
  return (r[2] >> 11) & 1;
#else
  return __builtin_cpu_supports("avx512vnni");
#endif
}

}  // namespace

const Int8Kernels& int8_table() {
  static const Int8Kernels kernels{"avx512", cpu_has_vnni() ? scores_vnni : scores};
  return kernels;
}

}  // namespace recalltree::avx512
#endif
