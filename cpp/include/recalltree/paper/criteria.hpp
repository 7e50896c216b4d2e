// The paper's two criteria, as functions of a node's statistics.
#pragma once

#include <cmath>

namespace recalltree {

inline double xlogx(double x) { return x > 0.0 ? x * std::log(x) : 0.0; }

// Shannon entropy (nats) of counts with the given sum and sum of x log x.
inline double entropy(double total, double sum_xlogx) {
  return total > 0.0 ? std::log(total) - sum_xlogx / total : 0.0;
}

// Growth of the total entropy of n examples, n log n less the sum of c log c, when `added` more
// have a label that c of them have. It is what the entropies of figure 2 come to, and needs one
// count of the label where they need all; the Recall Tree keeps the figure's form, and its
// rounding.
inline double entropy_growth(double n, double c, double added) {
  return xlogx(n + added) - xlogx(n) - xlogx(c + added) + xlogx(c);
}

// Equation 1: the empirical Bernstein lower bound of recall, from the empirical recall of m
// examples.
inline double recall_lower_bound(double recall, double m, double lambda) {
  if (m <= 0.0) return 0.0;
  const double bound = recall - std::sqrt(lambda * recall * (1.0 - recall) / m) - lambda / m;
  return bound > 0.0 ? bound : 0.0;
}

}  // namespace recalltree
