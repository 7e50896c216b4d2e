// Scores of dense models, wherever they are stored.
#pragma once

#include <algorithm>
#include <cstddef>

#include "recalltree/base/example.hpp"
#include "recalltree/base/hints.hpp"
#include "recalltree/kernels/kernels.hpp"

namespace recalltree {

inline constexpr std::size_t kDenseModelsAtOnce = 16;

// Without biases. values(model, place) is where the weights of a model are, `width` of them; what
// it gave for other places, of 2 kDenseModelsAtOnce, must still be there.
template <class Values>
void score_dense_models(const ModelId* models, std::size_t n, const Example& x, std::size_t width,
                        Values values, float* out) {
  if (n == 1) {  // a router: nothing is gained by a block
    *out = kernels().dot(x.dense.data(), values(*models, 0), width);
    return;
  }
  constexpr std::size_t kPlaces = 2 * kDenseModelsAtOnce;
  const float* weights[kPlaces];  // of these models, and of those that come next
  const auto fetch = [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < std::min(end, n); ++i) {
      weights[i % kPlaces] = values(models[i], i % kPlaces);
      // The hardware follows once it has seen the first lines.
      prefetch(weights[i % kPlaces], std::min<std::size_t>(width, 8 * kLanes));
    }
  };
  fetch(0, kDenseModelsAtOnce);
  for (std::size_t begin = 0; begin < n; begin += kDenseModelsAtOnce) {
    fetch(begin + kDenseModelsAtOnce, begin + kPlaces);
    const std::size_t m = std::min(kDenseModelsAtOnce, n - begin);
    kernels().dot_block(x.dense.data(), width, 1, weights + begin % kPlaces, m, width, out + begin,
                        m);
  }
}

}  // namespace recalltree
