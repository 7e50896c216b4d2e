// Scratch memory of one thread for one example. Prediction leaves the model itself untouched.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "recalltree/base/example.hpp"
#include "recalltree/base/types.hpp"
#include "recalltree/linear/linear_learner.hpp"

namespace recalltree {

// Work that was done, counted to show that it does not grow with the number of classes.
struct Work {
  std::uint64_t examples_learned = 0, examples_predicted = 0;
  std::uint64_t router_evaluations = 0, predictor_evaluations = 0;
  std::uint64_t progressive_evaluations = 0;  // made only to know what predict would have said
  std::uint64_t histogram_touches = 0;
  std::uint64_t vectors_compared = 0;  // sketches that a search for the nearest classes has read
  // One-against-some: how often a class was asked whether it has met a key, how often it had,
  // and how often what it knows of one was changed.
  std::uint64_t pair_lookups = 0, pairs_found = 0, pairs_changed = 0;

  void operator+=(const Work& o) {
    examples_learned += o.examples_learned, examples_predicted += o.examples_predicted;
    router_evaluations += o.router_evaluations, predictor_evaluations += o.predictor_evaluations;
    progressive_evaluations += o.progressive_evaluations, histogram_touches += o.histogram_touches;
    vectors_compared += o.vectors_compared;
    pair_lookups += o.pair_lookups, pairs_found += o.pairs_found, pairs_changed += o.pairs_changed;
  }
};

// Weighted 0/1 loss of predictions made before learning.
struct Progress {
  double weight = 0.0, errors = 0.0;
  void count(double w, bool wrong) {
    weight += w;
    if (wrong) errors += w;
  }
  void operator+=(const Progress& o) { weight += o.weight, errors += o.errors; }
};

// Each algorithm adds what it needs beside this.
struct Workspace : LinearLearner::Workspace {
  virtual ~Workspace() = default;

  Example x, before;            // as it is learned, and as prediction would have seen it
  std::vector<ClassId> labels;  // candidates, and by candidate:
  std::vector<float> scores, targets;
  std::vector<double> importance;
  Work work;
  Progress progress;
};

// One workspace for each thread.
using Team = std::span<const std::unique_ptr<Workspace>>;

}  // namespace recalltree
