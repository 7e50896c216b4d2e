// Householder reflections make the matrix tridiagonal, implicit QL steps make it diagonal. Inner
// loops add multiples of one row to another, which compilers turn into vector instructions without
// changing any sum.
#include "recalltree/cells/symmetric_eigen.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace recalltree {
namespace {

using Row = double*;

void add_multiple(double* __restrict to, const double* __restrict from, double factor,
                  std::size_t n) {
  for (std::size_t k = 0; k < n; ++k) to[k] += factor * from[k];
}

double product(const double* a, const double* b, std::size_t n) {
  double sums[8] = {};
  std::size_t k = 0;
  for (; k + 8 <= n; k += 8)
    for (std::size_t lane = 0; lane < 8; ++lane) sums[lane] += a[k + lane] * b[k + lane];
  for (; k < n; ++k) sums[0] += a[k] * b[k];
  return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

// The matrix becomes tridiagonal; row i keeps the reflection that cleared it, `strengths` its
// factor. Only entries up to the diagonal of the rows left are used.
void make_tridiagonal(double* matrix, std::size_t n, double* diagonal, double* side,
                      double* strengths) {
  std::vector<double> p(n);
  for (std::size_t i = n; i-- > 1;) {
    const Row v = matrix + i * n;  // its first i entries become the reflection
    double scale = 0.0;
    for (std::size_t k = 0; k < i; ++k) scale = std::max(scale, std::fabs(v[k]));
    double rest = 0.0;
    for (std::size_t k = 0; k + 1 < i; ++k) rest = std::max(rest, std::fabs(v[k]));
    side[i] = v[i - 1];
    strengths[i] = 0.0;
    if (rest == 0.0) continue;
    for (std::size_t k = 0; k < i; ++k) v[k] /= scale;
    const double squares = product(v, v, i);
    const double length = v[i - 1] > 0.0 ? -std::sqrt(squares) : std::sqrt(squares);
    const double half = squares - v[i - 1] * length;  // half the square of the reflection's length
    side[i] = scale * length;
    v[i - 1] -= length;
    strengths[i] = 1.0 / half;
    // p = A v / half, A given by its lower triangle.
    std::fill_n(p.begin(), i, 0.0);
    for (std::size_t j = 0; j < i; ++j) {
      const Row row = matrix + j * n;
      p[j] += product(row, v, j + 1);
      add_multiple(p.data(), row, v[j], j);
    }
    for (std::size_t k = 0; k < i; ++k) p[k] *= strengths[i];
    const double along = 0.5 * strengths[i] * product(p.data(), v, i);
    add_multiple(p.data(), v, -along, i);
    for (std::size_t j = 0; j < i; ++j) {
      const Row row = matrix + j * n;
      add_multiple(row, p.data(), -v[j], j + 1);
      add_multiple(row, v, -p[j], j + 1);
    }
  }
  side[0] = 0.0;
  for (std::size_t i = 0; i < n; ++i) diagonal[i] = matrix[i * n + i];
}

// The product of all reflections, the last first: its rows, once rotated, are the eigenvectors.
std::vector<double> product_of_reflections(const double* matrix, std::size_t n,
                                           const double* strengths) {
  std::vector<double> rows(n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    // Rows and columns below i are done, row i of the identity joins.
    if (i > 0 && strengths[i] != 0.0) {
      const double* const v = matrix + i * n;
      for (std::size_t j = 0; j < i; ++j) {
        const Row row = rows.data() + j * n;
        add_multiple(row, v, -strengths[i] * product(row, v, i), i);
      }
    }
    rows[i * n + i] = 1.0;
  }
  return rows;
}

double length_of(double a, double b) {
  const double large = std::max(std::fabs(a), std::fabs(b));
  if (large == 0.0) return 0.0;
  const double x = a / large, y = b / large;
  return large * std::sqrt(x * x + y * y);
}

// Diagonalises; rotates pairs of rows along.
void make_diagonal(double* diagonal, double* side, std::size_t n, double* rows) {
  for (std::size_t i = 1; i < n; ++i) side[i - 1] = side[i];
  side[n - 1] = 0.0;
  constexpr int kMaxSteps = 60;  // a few are enough; more would mean that numbers are not finite
  for (std::size_t l = 0; l < n; ++l)
    for (int step = 0; step < kMaxSteps; ++step) {
      std::size_t m = l;
      while (m + 1 < n &&
             std::fabs(side[m]) > 2.3e-16 * (std::fabs(diagonal[m]) + std::fabs(diagonal[m + 1])))
        ++m;
      if (m == l) break;
      double g = (diagonal[l + 1] - diagonal[l]) / (2.0 * side[l]);
      double r = length_of(g, 1.0);
      g = diagonal[m] - diagonal[l] + side[l] / (g + (g >= 0.0 ? r : -r));
      double sine = 1.0, cosine = 1.0, moved = 0.0;
      bool split = false;
      for (std::size_t i = m; i-- > l;) {
        const double f = sine * side[i], b = cosine * side[i];
        side[i + 1] = r = length_of(f, g);
        if (r == 0.0) {
          diagonal[i + 1] -= moved;
          side[m] = 0.0;
          split = true;
          break;
        }
        sine = f / r;
        cosine = g / r;
        g = diagonal[i + 1] - moved;
        r = (diagonal[i] - g) * sine + 2.0 * cosine * b;
        moved = sine * r;
        diagonal[i + 1] = g + moved;
        g = cosine * r - b;
        double* __restrict low = rows + i * n;
        double* __restrict high = low + n;
        for (std::size_t k = 0; k < n; ++k) {
          const double h = high[k];
          high[k] = sine * low[k] + cosine * h;
          low[k] = cosine * low[k] - sine * h;
        }
      }
      if (split) continue;
      diagonal[l] -= moved;
      side[l] = g;
      side[m] = 0.0;
    }
}

}  // namespace

std::vector<double> symmetric_eigen(std::vector<double>& matrix, std::size_t n) {
  std::vector<double> diagonal(n), side(n), strengths(n);
  if (n == 0) return diagonal;
  make_tridiagonal(matrix.data(), n, diagonal.data(), side.data(), strengths.data());
  std::vector<double> rows = product_of_reflections(matrix.data(), n, strengths.data());
  make_diagonal(diagonal.data(), side.data(), n, rows.data());

  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return diagonal[a] > diagonal[b]; });
  std::vector<double> values(n);
  for (std::size_t i = 0; i < n; ++i) {
    values[i] = diagonal[order[i]];
    std::copy_n(rows.data() + order[i] * n, n, matrix.data() + i * n);
  }
  return values;
}

}  // namespace recalltree
