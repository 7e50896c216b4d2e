// For functions that take a lambda which adds up local variables: as a call of its own, such a
// function would keep the sums in memory. And for lambdas that only prefetch: GCC takes a function
// that does nothing else for one without effect, and drops calls of it.
#pragma once

#if defined(_MSC_VER)
#define RECALLTREE_INLINE __forceinline
#define RECALLTREE_INLINED_LAMBDA
#else
#define RECALLTREE_INLINE [[gnu::always_inline]] inline
#define RECALLTREE_INLINED_LAMBDA __attribute__((always_inline))
#endif
