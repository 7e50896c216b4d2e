// Scores of whole rows of weights, wherever they are stored.
#pragma once

#include <algorithm>
#include <cstddef>

#include "recalltree/base/example.hpp"
#include "recalltree/base/hints.hpp"
#include "recalltree/kernels/kernels.hpp"

namespace recalltree {

inline constexpr std::size_t kDenseRowsAtOnce = 16;

// Without biases. values(row, place) is where the weights of a row are, `width` of them; what it
// gave for other places, of 2 kDenseRowsAtOnce, must still be there.
template <class Values>
void score_dense_rows(const ModelId* rows, std::size_t n, const Example& x, std::size_t width,
                      Values values, float* out) {
  constexpr std::size_t kPlaces = 2 * kDenseRowsAtOnce;
  const float* weights[kPlaces];  // of these rows, and of those that come next
  const auto fetch = [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < std::min(end, n); ++i) {
      weights[i % kPlaces] = values(rows[i], i % kPlaces);
      // The hardware follows once it has seen the first lines.
      prefetch(weights[i % kPlaces], std::min<std::size_t>(width, 8 * kLanes));
    }
  };
  fetch(0, kDenseRowsAtOnce);
  for (std::size_t begin = 0; begin < n; begin += kDenseRowsAtOnce) {
    fetch(begin + kDenseRowsAtOnce, begin + kPlaces);
    const std::size_t m = std::min(kDenseRowsAtOnce, n - begin);
    kernels().dot_block(x.dense.data(), width, 1, weights + begin % kPlaces, m, width, out + begin,
                        m);
  }
}

}  // namespace recalltree
