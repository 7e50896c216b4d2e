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

inline Int8Above store_scores(__m512i sum, const float* scales, float scale, const float* biases,
                              float bound, float* out) {
  const __m512 factor = _mm512_mul_ps(_mm512_load_ps(scales), _mm512_set1_ps(scale));
  const __m512 scored =
      _mm512_add_ps(_mm512_mul_ps(_mm512_cvtepi32_ps(sum), factor), _mm512_load_ps(biases));
  _mm512_storeu_ps(out, scored);
  return _mm512_cmp_ps_mask(scored, _mm512_set1_ps(bound), _CMP_GT_OQ);
}

void scores(const std::int8_t* query, float scale, const std::uint8_t* blocks, const float* scales,
            const float* biases, std::size_t n, std::size_t width, float bound, float* out,
            Int8Above* above) {
  const __m512i start = start_of(query, width), ones = _mm512_set1_epi16(1);
  for (std::size_t b = 0; b < n; ++b, blocks += kInt8Block * width) {
    __m512i sum = start;
    for (std::size_t j = 0; j < width; j += kInt8Piece) {
      const __m512i pairs =
          _mm512_maddubs_epi16(_mm512_load_si512(blocks + j * kInt8Block), piece_of(query + j));
      sum = _mm512_add_epi32(sum, _mm512_madd_epi16(pairs, ones));
    }
    above[b] = store_scores(sum, scales + b * kInt8Block, scale, biases + b * kInt8Block, bound,
                            out + b * kInt8Block);
  }
}

// Four sums at a time: one alone would wait for its last product.
RECALLTREE_VNNI void scores_vnni(const std::int8_t* query, float scale, const std::uint8_t* blocks,
                                 const float* scales, const float* biases, std::size_t n,
                                 std::size_t width, float bound, float* out, Int8Above* above) {
  const __m512i start = start_of(query, width), none = _mm512_setzero_si512();
  for (std::size_t b = 0; b < n; ++b, blocks += kInt8Block * width) {
    __m512i sums[4] = {start, none, none, none};
    for (std::size_t j = 0; j < width; j += 4 * kInt8Piece)
      for (std::size_t k = 0; k < 4; ++k) {
        const std::size_t at = j + k * kInt8Piece;
        sums[k] = _mm512_dpbusd_epi32(sums[k], _mm512_load_si512(blocks + at * kInt8Block),
                                      piece_of(query + at));
      }
    const __m512i sum =
        _mm512_add_epi32(_mm512_add_epi32(sums[0], sums[1]), _mm512_add_epi32(sums[2], sums[3]));
    above[b] = store_scores(sum, scales + b * kInt8Block, scale, biases + b * kInt8Block, bound,
                            out + b * kInt8Block);
  }
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
