// The innermost loops, once per instruction set.
//
// Every variant adds in the same order (kLanes partial sums, folded in halves) and rounds every
// operation (no fused multiply-add, no approximate reciprocal), so that scalar, AVX2 and AVX-512
// give bit-identical results and a model does not depend on the machine that trained it.
// Lengths n are multiples of kLanes unless said otherwise; pointers are 64-byte aligned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "recalltree/base/config.hpp"

namespace recalltree {

struct Kernels {
  const char* name;
  // sum of a[i] b[i]
  float (*dot)(const float* a, const float* b, std::size_t n);
  // out[r * out_stride + c] = dot(x + r * x_stride, w[c]) for all rows and columns: a
  // register-blocked matrix product
  void (*dot_block)(const float* x, std::size_t x_stride, std::size_t rows, const float* const* w,
                    std::size_t columns, std::size_t n, float* out, std::size_t out_stride);
  // Any n. larger[i] = how many of the numbers are larger than number i
  void (*count_larger)(const std::int32_t* numbers, std::size_t n, std::int32_t* larger);
  // G += weighted_g2 z^2;  r = z / sqrt(G);  returns sum of z r: how far the score moves per unit
  // of step
  float (*accumulate)(float* G, const float* z, float weighted_g2, float* r, std::size_t n);
  // w += h r
  void (*step)(float* w, const float* r, float h, std::size_t n);
  // w *= max(0, 1 - shrinkage / sqrt(G)) wherever z is not zero
  void (*shrink)(float* w, const float* G, const float* z, float shrinkage, std::size_t n);
  // Any n. g[i] = dloss/dp at score p[i] and target y[i] in {-1, +1}
  void (*gradients)(Loss loss, const float* p, const float* y, double* g, std::size_t n);
  // Any n. h[i]: the importance-aware step of size t[i] (rate x weight) when the score moves c[i]
  // per unit of h: the end of the path dp/dt = -c g(p), so it never overshoots
  void (*steps)(Loss loss, const float* p, const float* y, const double* t, const double* c,
                double* h, std::size_t n);
};

// The best variant this CPU can run, or the one named by the environment variable RECALLTREE_SIMD.
// Throws std::runtime_error if that one does not exist here.
const Kernels& kernels();
std::vector<std::string> simd_levels();

namespace scalar {
const Kernels& table();
}
#if defined(RECALLTREE_X86)
namespace avx2 {
const Kernels& table();
}
namespace avx512 {
const Kernels& table();
}
#endif

}  // namespace recalltree
