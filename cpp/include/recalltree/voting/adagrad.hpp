// The AdaGrad steps of one-against-some: of the scales of votes, of pairs, of biases and of dense
// rows.
#pragma once

#include <algorithm>
#include <cmath>

namespace recalltree {

// G = kept G + w g^2
inline double accumulate(float& accumulator, double gradient, double weight, double kept = 1.0) {
  const auto G = static_cast<float>(kept * accumulator + weight * gradient * gradient);
  accumulator = G;
  return G;
}

// Weight of a vote: A, S, B or u_k. Never negative. It learns from so many examples that it
// has to settle: its steps shrink with G^(3/4), not with its root.
struct VoteWeight {
  float value, accumulator = 0.0f;

  void learn(double gradient, double weight, double rate) {
    constexpr double kOffset = 0.1;  // keeps the first step finite
    const double root = std::sqrt(accumulate(accumulator, gradient, weight) + kOffset);
    const double step = -rate * weight * gradient / (root * std::sqrt(root));
    value = static_cast<float>(std::max(0.0, value + step));
  }
};

// Shares that a class keeps when it learns: of its weights, and of the squared gradients that
// shorten its steps.
struct Retention {
  double weights = 1.0, steps = 1.0;
};

// One class learns from one example.
struct PredictorStep {
  double gradient, weight, rate, l2;
  Retention kept;

  // A pair of the class and a key of this value.
  template <class Pair>
  void learn(Pair& pair, float value) const {
    const auto g = static_cast<float>(gradient * value);
    pair.accumulator =
        static_cast<float>(kept.steps) * pair.accumulator + static_cast<float>(weight) * g * g;
    const float pace = static_cast<float>(rate * kPairRate * weight) /
                       std::sqrt(pair.accumulator + static_cast<float>(kOffset));
    pair.weight *= static_cast<float>(kept.weights);
    if (l2 > 0.0) pair.weight *= std::max(0.0f, 1.0f - pace * static_cast<float>(l2));
    pair.weight -= pace * g;
  }

  // Without a lock: classes that many examples name would wait for each other, and a step that is
  // lost here and there does no harm. Returns the sum of squared gradients.
  float learn_bias(float& bias, float& accumulator) const {
    const double G = accumulate(accumulator, gradient, weight, kept.steps);
    const double pace = rate * kBiasRate * weight / std::sqrt(G + kOffset);
    bias = static_cast<float>(bias - pace * gradient);
    return static_cast<float>(G);
  }

  // A dense row, w = kept w + step x. Features of one spread share a rate: that of the bias, whose
  // sum of squared gradients is G.
  struct Row {
    float step, kept;
  };
  Row row(float G) const {
    const double pace = rate * kRowRate * weight / std::sqrt(G + kOffset);
    return {static_cast<float>(-pace * gradient),
            static_cast<float>(kept.weights * std::max(0.0, 1.0 - pace * l2))};
  }

 private:
  // Sizes of steps at learning_rate = 1, and what keeps the first of them finite.
  static constexpr double kPairRate = 0.6, kBiasRate = 0.3, kRowRate = 0.1, kOffset = 0.03;
};

}  // namespace recalltree
