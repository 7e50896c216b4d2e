// For functions that take a lambda which adds up local variables: as a call of its own, such a
// function would keep the sums in memory.
#pragma once

#if defined(_MSC_VER)
#define RECALLTREE_INLINE __forceinline
#else
#define RECALLTREE_INLINE [[gnu::always_inline]] inline
#endif
