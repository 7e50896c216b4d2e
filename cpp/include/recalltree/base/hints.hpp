// Hints to the compiler and the processor. They change speed, never results.
#pragma once

#include <cstddef>

// For functions that take a lambda which adds up local variables: as a call of its own, such a
// function would keep the sums in memory.
#if defined(_MSC_VER)
#define RECALLTREE_INLINE __forceinline
#define RECALLTREE_INLINE_LAMBDA  // between the parameters of a lambda and its body
#else
#define RECALLTREE_INLINE [[gnu::always_inline]] inline
#define RECALLTREE_INLINE_LAMBDA __attribute__((always_inline))
#endif

namespace recalltree {

// Prefetches n items from `first` on; they need not exist.
template <class T>
inline void prefetch([[maybe_unused]] const T* first, [[maybe_unused]] std::size_t n = 1) {
#if defined(__GNUC__) || defined(__clang__)
  const char* const begin = reinterpret_cast<const char*>(first);
  for (std::size_t byte = 0; byte < n * sizeof(T); byte += 64) __builtin_prefetch(begin + byte);
  // GCC takes a function that only prefetches for one without effect, and drops calls of it.
  asm volatile("");
#endif
}

}  // namespace recalltree
