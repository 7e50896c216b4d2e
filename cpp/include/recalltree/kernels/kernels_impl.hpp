// The kernels' only definition. Included by cpp/src/kernels_*.cpp inside the namespace of one
// instruction set, which is chosen by that file's compiler flags. No include guard on purpose.

#include "recalltree/kernels/losses_impl.hpp"

// kLanes floats. Compilers with vector extensions map it to whatever registers the flags allow;
// the plain array is the portable fallback (and what the "scalar" variant uses).
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wpsabi"  // nothing here crosses a library boundary
#endif
#if (defined(__GNUC__) || defined(__clang__)) && !defined(RECALLTREE_SCALAR)
typedef float F16 __attribute__((vector_size(64)));
typedef std::int32_t I16 __attribute__((vector_size(64)));

inline F16 load(const float* p) { return *reinterpret_cast<const F16*>(p); }
inline void store(float* p, F16 v) { *reinterpret_cast<F16*>(p) = v; }
inline F16 broadcast(float v) { return F16{} + v; }
inline F16 rsqrt_guess(F16 a) { return (F16)(0x5f375a86 - ((I16)a >> 1)); }
inline F16 positive_part(F16 v) { return (F16)((I16)v & (v > F16{})); }
inline F16 where_nonzero(F16 z, F16 a, F16 b) {
  I16 m = z != F16{};
  return (F16)(((I16)a & m) | ((I16)b & ~m));
}
inline float fold(F16 v) {
  typedef float F8 __attribute__((vector_size(32)));
  typedef float F4 __attribute__((vector_size(16)));
  F8 a, b;
  std::memcpy(&a, &v, 32);
  std::memcpy(&b, reinterpret_cast<const char*>(&v) + 32, 32);
  F8 e = a + b;
  F4 c, d;
  std::memcpy(&c, &e, 16);
  std::memcpy(&d, reinterpret_cast<const char*>(&e) + 16, 16);
  F4 f = c + d;
  return (f[0] + f[2]) + (f[1] + f[3]);
}
#else
struct alignas(64) F16 {
  float lane[kLanes];
};
template <class Op>
inline F16 each(Op op) {
  F16 out;
  for (std::size_t i = 0; i < kLanes; ++i) out.lane[i] = op(i);
  return out;
}
inline F16 operator+(const F16& a, const F16& b) {
  return each([&](std::size_t i) { return a.lane[i] + b.lane[i]; });
}
inline F16 operator-(const F16& a, const F16& b) {
  return each([&](std::size_t i) { return a.lane[i] - b.lane[i]; });
}
inline F16 operator*(const F16& a, const F16& b) {
  return each([&](std::size_t i) { return a.lane[i] * b.lane[i]; });
}
inline F16& operator+=(F16& a, const F16& b) { return a = a + b; }
inline F16 load(const float* p) {
  F16 out;
  for (std::size_t i = 0; i < kLanes; ++i) out.lane[i] = p[i];
  return out;
}
inline void store(float* p, const F16& v) {
  for (std::size_t i = 0; i < kLanes; ++i) p[i] = v.lane[i];
}
inline F16 broadcast(float v) {
  return each([&](std::size_t) { return v; });
}
inline F16 rsqrt_guess(const F16& a) {
  return each([&](std::size_t i) {
    return std::bit_cast<float>(0x5f375a86 - (std::bit_cast<std::int32_t>(a.lane[i]) >> 1));
  });
}
inline F16 positive_part(const F16& v) {
  return each([&](std::size_t i) { return v.lane[i] > 0 ? v.lane[i] : 0.0f; });
}
inline F16 where_nonzero(const F16& z, const F16& a, const F16& b) {
  return each([&](std::size_t i) { return z.lane[i] != 0 ? a.lane[i] : b.lane[i]; });
}
inline float fold(const F16& v) {
  float s[8];
  for (std::size_t i = 0; i < 8; ++i) s[i] = v.lane[i] + v.lane[i + 8];
  for (std::size_t i = 0; i < 4; ++i) s[i] = s[i] + s[i + 4];
  return (s[0] + s[2]) + (s[1] + s[3]);
}
#endif

// 1/sqrt(a), relative error below 3e-7, from additions and multiplications only: the same bits
// everywhere.
inline F16 rsqrt(F16 a) {
  const F16 half = a * broadcast(0.5f), three_halves = broadcast(1.5f);
  F16 y = rsqrt_guess(a);
  y = y * (three_halves - half * y * y);
  y = y * (three_halves - half * y * y);
  y = y * (three_halves - half * y * y);
  return y;
}

float dot(const float* a, const float* b, std::size_t n) {
  F16 sum = broadcast(0.0f);
  for (std::size_t i = 0; i < n; i += kLanes) sum += load(a + i) * load(b + i);
  return fold(sum);
}

template <std::size_t R, std::size_t C>
inline void dot_tile(const float* x, std::size_t x_stride, const float* const* w, std::size_t n,
                     float* out, std::size_t out_stride) {
  F16 sum[R][C];
  for (std::size_t r = 0; r < R; ++r)
    for (std::size_t c = 0; c < C; ++c) sum[r][c] = broadcast(0.0f);
  for (std::size_t i = 0; i < n; i += kLanes) {
    F16 column[C];
    for (std::size_t c = 0; c < C; ++c) column[c] = load(w[c] + i);
    for (std::size_t r = 0; r < R; ++r) {
      const F16 row = load(x + r * x_stride + i);
      for (std::size_t c = 0; c < C; ++c) sum[r][c] += row * column[c];
    }
  }
  for (std::size_t r = 0; r < R; ++r)
    for (std::size_t c = 0; c < C; ++c) out[r * out_stride + c] = fold(sum[r][c]);
}

template <std::size_t R>
inline void dot_rows(const float* x, std::size_t x_stride, const float* const* w,
                     std::size_t columns, std::size_t n, float* out, std::size_t out_stride) {
  constexpr std::size_t C = kTileColumns;
  std::size_t c = 0;
  for (; c + C <= columns; c += C) dot_tile<R, C>(x, x_stride, w + c, n, out + c, out_stride);
  for (; c < columns; ++c) dot_tile<R, 1>(x, x_stride, w + c, n, out + c, out_stride);
}

void dot_block(const float* x, std::size_t x_stride, std::size_t rows, const float* const* w,
               std::size_t columns, std::size_t n, float* out, std::size_t out_stride) {
  constexpr std::size_t R = kTileRows;
  std::size_t r = 0;
  for (; r + R <= rows; r += R)
    dot_rows<R>(x + r * x_stride, x_stride, w, columns, n, out + r * out_stride, out_stride);
  if constexpr (R > 2)
    for (; r + 2 <= rows; r += 2)
      dot_rows<2>(x + r * x_stride, x_stride, w, columns, n, out + r * out_stride, out_stride);
  for (; r < rows; ++r)
    dot_rows<1>(x + r * x_stride, x_stride, w, columns, n, out + r * out_stride, out_stride);
}

// As many at a time as four of the largest registers hold.
void count_larger(const std::int32_t* numbers, std::size_t n, std::int32_t* larger) {
  constexpr std::size_t kTogether = 4 * kLanes;
  for (std::size_t begin = 0; begin < n; begin += kTogether) {
    const std::size_t bytes = (n - begin < kTogether ? n - begin : kTogether) * sizeof(numbers[0]);
#if (defined(__GNUC__) || defined(__clang__)) && !defined(RECALLTREE_SCALAR)
    I16 some[4] = {}, sums[4] = {};
    std::memcpy(some, numbers + begin, bytes);
    for (std::size_t j = 0; j < n; ++j) {
      const I16 number = I16{} + numbers[j];
      for (std::size_t k = 0; k < 4; ++k) sums[k] -= number > some[k];
    }
#else
    std::int32_t some[kTogether] = {}, sums[kTogether] = {};
    std::memcpy(some, numbers + begin, bytes);
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t i = 0; i < kTogether; ++i) sums[i] += numbers[j] > some[i];
#endif
    std::memcpy(larger + begin, sums, bytes);
  }
}

float accumulate(float* G, const float* z, float weighted_g2, float* r, std::size_t n) {
  const F16 g2 = broadcast(weighted_g2), offset = broadcast(kAccumulatorOffset);
  F16 sum = broadcast(0.0f);
  for (std::size_t i = 0; i < n; i += kLanes) {
    const F16 zi = load(z + i);
    const F16 Gi = load(G + i) + g2 * (zi * zi);
    store(G + i, Gi);
    const F16 ri = zi * rsqrt(Gi + offset);
    store(r + i, ri);
    sum += zi * ri;
  }
  return fold(sum);
}

void step(float* w, const float* r, float h, std::size_t n) {
  const F16 hi = broadcast(h);
  for (std::size_t i = 0; i < n; i += kLanes) store(w + i, load(w + i) + hi * load(r + i));
}

void shrink(float* w, const float* G, const float* z, float shrinkage, std::size_t n) {
  const F16 one = broadcast(1.0f), s = broadcast(shrinkage), offset = broadcast(kAccumulatorOffset);
  for (std::size_t i = 0; i < n; i += kLanes) {
    const F16 wi = load(w + i);
    const F16 kept = wi * positive_part(one - s * rsqrt(load(G + i) + offset));
    store(w + i, where_nonzero(load(z + i), kept, wi));
  }
}

void gradients(Loss loss, const float* p, const float* y, double* g, std::size_t n) {
  with_loss(loss, [&](auto formula) {
    for (std::size_t i = 0; i < n; ++i) g[i] = formula.gradient(p[i], y[i]);
  });
}

void steps(Loss loss, const float* p, const float* y, const double* t, const double* c, double* h,
           std::size_t n) {
  with_loss(loss, [&](auto formula) {
    for (std::size_t i = 0; i < n; ++i) h[i] = formula.step(p[i], y[i], t[i], c[i]);
  });
}

const Kernels& table() {
  static const Kernels kernels{kName, dot,    dot_block, count_larger, accumulate,
                               step,  shrink, gradients, steps};
  return kernels;
}
