// The one place where a data race is meant.
//
// With several threads the learners run Hogwild: weights (values, AdaGrad accumulators,
// biases), the feature scales and the running norm are read and written without locks. A lost
// update costs a little accuracy and nothing else: no pointer, size, key, count or tree link is
// ever raced on.
//   - Vector code over weights is marked RECALLTREE_INTENDED_RACE, which hides exactly these
//     functions from ThreadSanitizer.
//   - Scalar shared numbers go through the relaxed atomics below.
// Everything else (tree, histograms, tables of keys) is locked or atomic, and checked.
#pragma once

#include <atomic>

#if defined(__GNUC__) || defined(__clang__)
#define RECALLTREE_INTENDED_RACE __attribute__((no_sanitize("thread")))
#else
#define RECALLTREE_INTENDED_RACE
#endif

namespace recalltree {

template <class T>
T relaxed_load(const T& shared) {
  return std::atomic_ref<T>(const_cast<T&>(shared)).load(std::memory_order_relaxed);
}

template <class T>
void relaxed_store(T& shared, T value) {
  std::atomic_ref<T>(shared).store(value, std::memory_order_relaxed);
}

}  // namespace recalltree
