// Every instruction set gives the same bits, and the bits are right.
#include "recalltree/kernels/kernels.hpp"

#include <cassert>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>
#include <vector>

#include "recalltree/base/example.hpp"

using namespace recalltree;

namespace {

std::vector<const Kernels*> variants() {
  std::vector<const Kernels*> all{&scalar::table()};
#if defined(RECALLTREE_X86)
  for (const std::string& name : simd_levels()) {
    if (name == "avx2") all.push_back(&avx2::table());
    if (name == "avx512") all.push_back(&avx512::table());
  }
#endif
  return all;
}

template <class T>
void assert_same_bits(const T* a, const T* b, std::size_t n) {
  assert(std::memcmp(a, b, n * sizeof(T)) == 0);
}

AlignedFloats random_floats(std::size_t n, std::mt19937& random, float zeros = 0.3f) {
  std::normal_distribution<float> normal;
  std::uniform_real_distribution<float> uniform;
  AlignedFloats out(n);
  for (std::size_t i = 0; i < n; ++i)
    out.data()[i] = uniform(random) < zeros ? 0.0f : normal(random);
  return out;
}

void vectors_agree(const Kernels& a, const Kernels& b, std::mt19937& random) {
  for (const std::size_t n : {16u, 32u, 128u, 144u, 1024u}) {
    const auto x = random_floats(n, random), w = random_floats(n, random);
    const float da = a.dot(x.data(), w.data(), n), db = b.dot(x.data(), w.data(), n);
    assert_same_bits(&da, &db, 1);
    double exact = 0.0, size = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
      exact += double(x.data()[i]) * w.data()[i];
      size += std::fabs(double(x.data()[i]) * w.data()[i]);
    }
    assert(std::fabs(da - exact) <= 1e-5 * size + 1e-30);

    AlignedFloats Ga(n), Gb(n), ra(n), rb(n), wa(n), wb(n);
    for (int step = 0; step < 5; ++step) {
      const float g2 = 0.3f * static_cast<float>(step + 1);
      const float ca = a.accumulate(Ga.data(), x.data(), g2, ra.data(), n);
      const float cb = b.accumulate(Gb.data(), x.data(), g2, rb.data(), n);
      assert_same_bits(&ca, &cb, 1);
      a.step(wa.data(), ra.data(), 0.7f, n);
      b.step(wb.data(), rb.data(), 0.7f, n);
      a.shrink(wa.data(), Ga.data(), x.data(), 0.1f, n);
      b.shrink(wb.data(), Gb.data(), x.data(), 0.1f, n);
    }
    assert_same_bits(Ga.data(), Gb.data(), n);
    assert_same_bits(ra.data(), rb.data(), n);
    assert_same_bits(wa.data(), wb.data(), n);
    for (std::size_t i = 0; i < n; ++i) {
      const double z = x.data()[i], expected = z == 0.0 ? 0.0 : z / std::sqrt(double(Ga.data()[i]));
      assert(std::fabs(ra.data()[i] - expected) <= 1e-6 * std::fabs(expected));
    }
  }
}

void products_agree(const Kernels& a, const Kernels& b, std::mt19937& random) {
  constexpr std::size_t rows = 7, columns = 11, n = 48;
  const auto x = random_floats(rows * n, random), w = random_floats(columns * n, random);
  std::vector<const float*> pointers;
  for (std::size_t c = 0; c < columns; ++c) pointers.push_back(w.data() + c * n);
  std::vector<float> pa(rows * columns), pb(rows * columns);
  a.dot_block(x.data(), n, rows, pointers.data(), columns, n, pa.data(), columns);
  b.dot_block(x.data(), n, rows, pointers.data(), columns, n, pb.data(), columns);
  assert_same_bits(pa.data(), pb.data(), pa.size());
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < columns; ++c) {
      const float single = a.dot(x.data() + r * n, pointers[c], n);
      assert_same_bits(&pa[r * columns + c], &single, 1);
    }
}

void losses_agree(const Kernels& a, const Kernels& b, std::mt19937& random) {
  std::uniform_real_distribution<double> exponent(-6.0, 6.0), uniform(-1.0, 1.0);
  for (const Loss loss : {Loss::logistic, Loss::hinge, Loss::squared}) {
    constexpr std::size_t n = 1001;
    std::vector<float> p(n), y(n);
    std::vector<double> t(n), c(n), ga(n), gb(n), ha(n), hb(n);
    for (std::size_t i = 0; i < n; ++i) {
      p[i] = static_cast<float>(12.0 * uniform(random));
      y[i] = i % 2 ? 1.0f : -1.0f;
      t[i] = std::pow(10.0, exponent(random));
      c[i] = std::pow(10.0, exponent(random));
    }
    a.gradients(loss, p.data(), y.data(), ga.data(), n);
    b.gradients(loss, p.data(), y.data(), gb.data(), n);
    a.steps(loss, p.data(), y.data(), t.data(), c.data(), ha.data(), n);
    b.steps(loss, p.data(), y.data(), t.data(), c.data(), hb.data(), n);
    assert_same_bits(ga.data(), gb.data(), n);
    assert_same_bits(ha.data(), hb.data(), n);
    for (std::size_t i = 0; i < n; ++i) {
      const double q0 = double(y[i]) * p[i], q = q0 + double(y[i]) * ha[i] * c[i];
      if (loss == Loss::logistic) {
        const double expected = -double(y[i]) / (1.0 + std::exp(q0));
        assert(std::fabs(ga[i] - expected) <= 1e-12 * std::fabs(expected));
        // The end of the path dq/dt = c sigma(-q).
        const double left = q + std::exp(q), right = q0 + std::exp(q0) + t[i] * c[i];
        assert(std::fabs(left - right) <= 1e-9 * (1.0 + std::fabs(right)));
      }
      if (loss == Loss::hinge) assert(q <= std::max(1.0, q0) + 1e-9 * (1.0 + std::fabs(q0)));
      if (loss == Loss::squared) assert(std::fabs(q - 1.0) <= std::fabs(q0 - 1.0) * (1.0 + 1e-9));
    }
  }
}

}  // namespace

int main() {
  std::mt19937 random(7);
  const auto all = variants();
  for (const Kernels* variant : all) {
    vectors_agree(*all[0], *variant, random);
    products_agree(*all[0], *variant, random);
    losses_agree(*all[0], *variant, random);
    std::printf("%s agrees with %s\n", variant->name, all[0]->name);
  }
}
