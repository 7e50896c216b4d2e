// The formulas of the losses, in double precision. Included by kernels_impl.hpp inside the
// namespace of one instruction set. No include guard on purpose.
//
//   gradient(p, y)     dloss/dp at score p and target y in {-1, +1}
//   step(p, y, t, c)   the step h of size t (rate times importance) when the score moves c per unit
//                      of h: the end of the path dp/dt = -c g(p), so that it never overshoots
//
// A new loss adds a struct here and a case in with_loss, its name in base/loss.hpp and
// recalltree/losses.py, and its class in recalltree/reference/linear_learner.py.

// exp and log by fixed sequences of IEEE operations: reproducible on every machine, and the
// compiler can put several in one register. Relative error about 1e-15 in the range used.
inline double exp_(double x) {
  x = x > 700.0 ? 700.0 : (x < -700.0 ? -700.0 : x);
  const double magic = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds to an integer
  const double k = (x * 1.4426950408889634 + magic);
  const double n = k - magic;
  const double r = (x - n * 6.93147180369123816490e-01) - n * 1.90821492927058770002e-10;
  double s = 1.0 / 479001600.0;
  s = s * r + 1.0 / 39916800.0;
  s = s * r + 1.0 / 3628800.0;
  s = s * r + 1.0 / 362880.0;
  s = s * r + 1.0 / 40320.0;
  s = s * r + 1.0 / 5040.0;
  s = s * r + 1.0 / 720.0;
  s = s * r + 1.0 / 120.0;
  s = s * r + 1.0 / 24.0;
  s = s * r + 1.0 / 6.0;
  s = s * r + 0.5;
  s = s * r + 1.0;
  s = s * r + 1.0;
  const std::uint64_t scale = (std::bit_cast<std::uint64_t>(k) + 1023u) << 52;
  return s * std::bit_cast<double>(scale);
}

// Positive, normal x only.
inline double log_(double x) {
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(x);
  // Mantissa in [sqrt(1/2), sqrt(2)), exponent to match.
  const std::uint64_t shifted = bits - 0x3fe6a09e667f3bcdull;
  const std::uint64_t exponent =
      ((shifted >> 52) ^ 0x800u) & 0xfffu;  // biased by 2048: no sign to extend
  const double m = std::bit_cast<double>(bits - (shifted & 0xfff0000000000000ull));
  const double e =
      std::bit_cast<double>(0x4330000000000000ull | exponent) - (4503599627370496.0 + 2048.0);
  const double s = (m - 1.0) / (m + 1.0), q = s * s;
  double t = 2.0 / 19.0;
  t = t * q + 2.0 / 17.0;
  t = t * q + 2.0 / 15.0;
  t = t * q + 2.0 / 13.0;
  t = t * q + 2.0 / 11.0;
  t = t * q + 2.0 / 9.0;
  t = t * q + 2.0 / 7.0;
  t = t * q + 2.0 / 5.0;
  t = t * q + 2.0 / 3.0;
  t = t * q + 2.0;
  return e * 0.69314718055994530942 + s * t;
}

struct LogisticLoss {
  static double gradient(double p, double y) { return -y / (1.0 + exp_(y * p)); }

  // The margin q = y p moves along q + e^q = q0 + e^q0 + t c. With u = e^q that is u + log u = X,
  // solved by a close guess and two fourth-order steps (Fritsch, Shafer and Crowley's iteration).
  static double step(double p, double y, double t, double c) {
    const double q0 = y * p;
    const double e0 = exp_(q0 > 30.0 ? 30.0 : q0);
    const double moved = t * c;
    const double X = q0 + e0 + moved;
    const double eX = exp_(X > 1.0 ? 1.0 : X);
    const double large = X > 1.0 ? X : 1.0;
    double u = X > 1.0 ? large - log_(large) : eX / (1.0 + eX);
    u = u < 1e-300 ? 1e-300 : u;
    for (int i = 0; i < 2; ++i) {
      const double residual = X - u - log_(u);
      const double a = 1.0 + u;
      const double b = 2.0 * a * (a + (2.0 / 3.0) * residual);
      u = u * (1.0 + (residual / a) * ((b - residual) / (b - 2.0 * residual)));
    }
    // Two forms of the same difference; each is exact where the other cancels.
    const double by_log = log_(u) - q0, by_sum = e0 + moved - u;
    return y * (u > 1.0 ? by_log : by_sum) / c;
  }
};

struct HingeLoss {
  static double gradient(double p, double y) { return y * p < 1.0 ? -y : 0.0; }
  static double step(double p, double y, double t, double c) {
    const double room = (1.0 - y * p) / c;
    return y * (t < room ? t : room);
  }
};

struct SquaredLoss {
  static double gradient(double p, double y) { return 2.0 * (p - y); }
  static double step(double p, double y, double t, double c) {
    return (y - p) * (1.0 - exp_(-2.0 * t * c)) / c;
  }
};

template <class Use>
void with_loss(Loss loss, Use use) {
  switch (loss) {
    case Loss::logistic:
      return use(LogisticLoss{});
    case Loss::hinge:
      return use(HingeLoss{});
    case Loss::squared:
      return use(SquaredLoss{});
  }
}
