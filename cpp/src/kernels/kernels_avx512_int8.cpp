#include "recalltree/kernels/int8_kernels.hpp"

#if defined(RECALLTREE_X86)
#include <immintrin.h>
#if defined(_MSC_VER)
#include <intrin.h>
#define RECALLTREE_VNNI
#else
#define RECALLTREE_VNNI [[gnu::target("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")]]
#endif

namespace recalltree::avx512 {
namespace {

inline __m256i fold(__m512i sum) {
  return _mm256_add_epi32(_mm512_castsi512_si256(sum), _mm512_extracti64x4_epi64(sum, 1));
}
// The sums of four rows, each in a register of its own.
inline void store_four(__m256i a, __m256i b, __m256i c, __m256i d, std::int32_t* out) {
  const __m256i all = _mm256_hadd_epi32(_mm256_hadd_epi32(a, b), _mm256_hadd_epi32(c, d));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out),
                   _mm_add_epi32(_mm256_castsi256_si128(all), _mm256_extracti128_si256(all, 1)));
}

inline __m512i dot_row(const std::int8_t* query, const std::int8_t* row, std::size_t width) {
  __m512i sum = _mm512_setzero_si512();
  for (std::size_t j = 0; j < width; j += 32) {
    const __m512i a =
        _mm512_cvtepi8_epi16(_mm256_load_si256(reinterpret_cast<const __m256i*>(query + j)));
    const __m512i b =
        _mm512_cvtepi8_epi16(_mm256_load_si256(reinterpret_cast<const __m256i*>(row + j)));
    sum = _mm512_add_epi32(sum, _mm512_madd_epi16(a, b));
  }
  return sum;
}

void dots(const std::int8_t* query, const std::int8_t* rows, std::size_t n, std::size_t width,
          std::int32_t* out) {
  std::size_t i = 0;
  for (; i + 4 <= n; i += 4, rows += 4 * width)
    store_four(fold(dot_row(query, rows, width)), fold(dot_row(query, rows + width, width)),
               fold(dot_row(query, rows + 2 * width, width)),
               fold(dot_row(query, rows + 3 * width, width)), out + i);
  for (; i < n; ++i, rows += width)
    out[i] = _mm512_reduce_add_epi32(dot_row(query, rows, width));
}

// VNNI multiplies bytes without a sign with bytes that have one. A row with 128 added to each byte
// has the product wanted and 128 times the sum of the query.
RECALLTREE_VNNI inline __m512i dot_row_vnni(__m512i sum, const std::int8_t* query,
                                            const std::int8_t* row, std::size_t width) {
  const __m512i flip = _mm512_set1_epi8(static_cast<char>(0x80));
  for (std::size_t j = 0; j < width; j += kInt8Lanes)
    sum = _mm512_dpbusd_epi32(sum, _mm512_xor_si512(_mm512_load_si512(row + j), flip),
                              _mm512_load_si512(query + j));
  return sum;
}

RECALLTREE_VNNI void dots_vnni(const std::int8_t* query, const std::int8_t* rows, std::size_t n,
                               std::size_t width, std::int32_t* out) {
  __m512i start = _mm512_setzero_si512();
  for (std::size_t j = 0; j < width; j += kInt8Lanes)
    start = _mm512_dpbusd_epi32(start, _mm512_set1_epi8(static_cast<char>(0x80)),
                                _mm512_load_si512(query + j));
  start = _mm512_sub_epi32(_mm512_setzero_si512(), start);
  std::size_t i = 0;
  for (; i + 4 <= n; i += 4, rows += 4 * width)
    store_four(fold(dot_row_vnni(start, query, rows, width)),
               fold(dot_row_vnni(start, query, rows + width, width)),
               fold(dot_row_vnni(start, query, rows + 2 * width, width)),
               fold(dot_row_vnni(start, query, rows + 3 * width, width)), out + i);
  for (; i < n; ++i, rows += width)
    out[i] = _mm512_reduce_add_epi32(dot_row_vnni(start, query, rows, width));
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
  static const Int8Kernels kernels{"avx512", cpu_has_vnni() ? dots_vnni : dots};
  return kernels;
}

}  // namespace recalltree::avx512
#endif
