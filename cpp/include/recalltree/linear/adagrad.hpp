// AdaGrad's rule, for one weight. The kernels have it for sixteen at a time, with a root of their
// own.
#pragma once

#include <cmath>

#include "recalltree/base/types.hpp"

namespace recalltree {

// G += w g^2 z^2; returns r = z / sqrt(G), what a unit of step adds to the weight.
inline float adagrad(float& G, float weighted_g2, float z) {
  G += weighted_g2 * (z * z);
  return z / std::sqrt(G + kAccumulatorOffset);
}

}  // namespace recalltree
