// Sixteen tags, one byte each, that are compared at once: what a table of such groups does not
// have, its tags say with one load, before anything else of it is read.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace recalltree {

inline constexpr std::size_t kTagsInGroup = 16;

// A tag four times, as it is compared.
using FourTags = std::uint32_t;
inline FourTags four_times(std::uint8_t tag) { return tag * 0x01010101u; }

// One bit for each of the sixteen tags that equals this one. Aligned to 16 bytes.
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
