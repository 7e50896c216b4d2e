// Groups of table slots that are compared at once, so that a table is searched without a branch for
// every slot, whose outcome no processor can foresee.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace recalltree {

inline constexpr std::size_t kIdsInGroup = 8;

// One bit for each of the eight ids that equals this one.
inline unsigned matches(const std::uint32_t* ids, std::uint32_t id) {
#if defined(__SSE2__)
  const __m128i wanted = _mm_set1_epi32(static_cast<int>(id));
  const __m128i low =
      _mm_cmpeq_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(ids)), wanted);
  const __m128i high =
      _mm_cmpeq_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(ids + 4)), wanted);
  const __m128i both = _mm_packs_epi16(_mm_packs_epi32(low, high), _mm_setzero_si128());
  return static_cast<unsigned>(_mm_movemask_epi8(both));
#else
  unsigned bits = 0;
  for (unsigned i = 0; i < kIdsInGroup; ++i) bits |= static_cast<unsigned>(ids[i] == id) << i;
  return bits;
#endif
}

inline constexpr std::size_t kTagsInGroup = 16;

// A tag four times, the form in which it is compared.
using FourTags = std::uint32_t;
inline FourTags four_times(std::uint8_t tag) { return tag * 0x01010101u; }

// One bit for each of the sixteen tags that equals this one. Aligned to 16 bytes. A miss costs this
// one load: nothing else of the group is read.
inline unsigned matches(const std::uint8_t* tags, FourTags tag) {
#if defined(__SSE2__)
  const __m128i wanted = _mm_set1_epi32(static_cast<int>(tag));
  const __m128i group = _mm_load_si128(reinterpret_cast<const __m128i*>(tags));
  return static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(group, wanted)));
#else
  unsigned bits = 0;
  for (unsigned i = 0; i < kTagsInGroup; ++i)
    bits |= static_cast<unsigned>(tags[i] == static_cast<std::uint8_t>(tag)) << i;
  return bits;
#endif
}

}  // namespace recalltree
