// The paper's two criteria, as functions of a node's statistics.
#pragma once

#include <cmath>
#include <cstddef>

namespace recalltree {

inline double xlogx(double x) { return x > 0.0 ? x * std::log(x) : 0.0; }

// Shannon entropy (nats) of counts with the given sum and sum of x log x.
inline double entropy(double total, double sum_xlogx) {
  return total > 0.0 ? std::log(total) - sum_xlogx / total : 0.0;
}

// Growth of the total entropy of n labels, n log n less the sum of c log c, when `added` more come
// of each of some labels, the l-th of which count(l) have. It is what the entropies of figure 2
// come to, and needs the counts of these labels where they need all; the Recall Tree keeps the
// figure's form, and its rounding.
template <class Count>
double entropy_growth(double n, std::size_t n_labels, double added, Count count) {
  double growth = xlogx(n + static_cast<double>(n_labels) * added) - xlogx(n);
  for (std::size_t l = 0; l < n_labels; ++l) {
    const double c = count(l);
    growth = growth - xlogx(c + added) + xlogx(c);
  }
  return growth;
}

// Equation 1: the empirical Bernstein lower bound of recall, from the empirical recall of m
// examples.
inline double recall_lower_bound(double recall, double m, double lambda) {
  if (m <= 0.0) return 0.0;
  const double bound = recall - std::sqrt(lambda * recall * (1.0 - recall) / m) - lambda / m;
  return bound > 0.0 ? bound : 0.0;
}

}  // namespace recalltree
