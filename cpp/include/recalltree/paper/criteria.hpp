// The paper's two criteria, as functions of a node's statistics.
#pragma once

#include <cmath>

namespace recalltree {

inline double xlogx(double x) { return x > 0.0 ? x * std::log(x) : 0.0; }

// Shannon entropy (nats) of counts with the given sum and sum of x log x.
inline double entropy(double total, double sum_xlogx) {
  return total > 0.0 ? std::log(total) - sum_xlogx / total : 0.0;
}

// Equation 1: the empirical Bernstein lower bound of recall, from the empirical recall of m
// examples.
inline double recall_lower_bound(double recall, double m, double lambda) {
  if (m <= 0.0) return 0.0;
  const double bound = recall - std::sqrt(lambda * recall * (1.0 - recall) / m) - lambda / m;
  return bound > 0.0 ? bound : 0.0;
}

}  // namespace recalltree
