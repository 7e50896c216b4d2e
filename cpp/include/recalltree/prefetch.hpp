// Tells the processor what will be read soon. Without a way to tell it, nothing is done.
#pragma once

#include <cstddef>

namespace recalltree {

// n items from `first` on; they need not exist.
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
