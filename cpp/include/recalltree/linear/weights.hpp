// Linear models. ReadWeights is what prediction asks of them, wherever they are stored; Weights is
// what learning asks beside that, with the AdaGrad accumulator of every weight.
//
// Learning is in two halves, because the size of the step depends on the sum of all of a model's
// parts:
//   accumulate   G += w g^2 z^2 and r = z / sqrt(G); adds to c the sum of z r, what the score gains
//                per unit of step
//   apply        v += h r
// Both work on a block of distinct models at a time (adagrad.hpp has the rule).
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "recalltree/base/example.hpp"
#include "recalltree/base/state.hpp"
#include "recalltree/base/types.hpp"
#include "recalltree/linear/lookup_cache.hpp"

namespace recalltree {

inline constexpr std::size_t kBlock = 16;  // models that learn together, at most

// Intermediate results that accumulate hands to apply. Reused from example to example.
struct Steps {
  AlignedFloats r;  // by model, then by feature
  float bias_r[kBlock];
  // Sparse models: where each r goes, beginning with the first-th of what was found.
  LookupCache* found = nullptr;
  std::size_t first = 0;
  LookupCache own;  // of models that were not looked up before
  // Accumulators of one model, while r is computed.
  AlignedFloats G;
  std::vector<float*> accumulators;
};

struct ModelContents {
  std::vector<std::uint32_t> features;
  std::vector<float> weights, accumulators;
  float bias = 0.0f, bias_accumulator = 0.0f;
};

// Examples [begin, end), on which the same models are to be scored.
struct ExampleGroup {
  const ModelId* models;
  std::size_t n;
  std::size_t begin, end;
};
// Puts the e-th example into x.
using ReadExample = std::function<void(std::size_t e, Example& x)>;

// Examples that ask one model after the other, while nothing learns: what was looked up of an
// example is kept. Scores are to the bit those of scores().
class ExampleScorer {
 public:
  virtual ~ExampleScorer() = default;
  // The e-th example, which stays where it is as long as it is asked about.
  virtual void set(std::size_t e, const Example& x) = 0;
  // out[i]: of model models[i] on the which[i]-th example; kNoModel scores 0.
  virtual void score(const ModelId* models, const std::uint32_t* which, std::size_t n,
                     float* out) const = 0;
};

class ReadWeights {
 public:
  virtual ~ReadWeights() = default;

  virtual std::size_t size() const = 0;
  // Scores of n models on one example, biases included.
  virtual void scores(const ModelId* models, std::size_t n, const Example& x, float* out) const = 0;
  float score(ModelId model, const Example& x) const {
    float p;
    scores(&model, 1, x, &p);
    return p;
  }

  // Scores of many examples, while nothing learns; to the bit those of scores().
  virtual std::unique_ptr<ExampleScorer> example_scorer() const;
  // Scores of all groups, one after the other; within a group by example, then by model.
  virtual void score_groups(const std::vector<ExampleGroup>& groups, const ReadExample& read,
                            float* out) const;
  // How examples are about to be scored: by score_groups or by an example_scorer.
  enum class Asked { together, one_by_one };
  virtual void prepare_for(std::size_t, Asked) const {}

  // For matrix products: all weights of a model side by side, or null if they are not stored so.
  virtual const float* values(ModelId) const { return nullptr; }
  virtual float bias(ModelId model) const = 0;
  virtual ModelContents contents(ModelId model) const = 0;
  virtual std::size_t bytes() const = 0;
};

class Weights : public ReadWeights {
 public:
  // A model that knows nothing, with the next number.
  virtual ModelId add_model() = 0;
  // The same, mostly asked for together with a neighbour, or with none (kNoModel). Any number.
  virtual ModelId add_model_near(ModelId) { return add_model(); }
  void grow_to(std::size_t models) {
    while (size() < models) add_model();
  }

  using ReadWeights::scores;
  // For one thread alone that may go on to learn from the example: adds the models to what is found
  // of it.
  virtual void scores(const ModelId* models, std::size_t n, const Example& x, float* out,
                      LookupCache&) {
    scores(models, n, x, out);
  }
  // Scores of models found as the first-th and following ones, where the example may have other
  // values by now, and the models too.
  virtual void scores_again(const ModelId* models, std::size_t n, const Example& x, float* out,
                            const LookupCache&, std::size_t) const {
    scores(models, n, x, out);
  }

  // weighted_g2[i] = 0 leaves model i out. found: null or empty, or where the models are the
  // first-th and following ones.
  virtual void accumulate(const ModelId* models, std::size_t n, const Example& x,
                          const float* weighted_g2, Steps& steps, double* c, LookupCache* found,
                          std::size_t first) = 0;
  // For the models not left out: after w *= max(0, 1 - shrinkage / sqrt(G)), the step.
  virtual void apply(const ModelId* models, std::size_t n, const Example& x,
                     const float* weighted_g2, const Steps& steps, const float* h,
                     const float* shrinkage) = 0;

  // Threads that learn models that are theirs alone do so as one of kOwners owners. What an owner
  // makes is kept in new_weights(owner), from which prepare_owners() makes room, and which is empty
  // after each call; settle() then brings it to where it belongs, feature by feature.
  virtual void prepare_owners() {}
  virtual void find_columns(const Example&, ExampleColumns&) const {}
  virtual void scores(const ModelId* models, std::size_t n, const Example& x, float* out,
                      const ExampleColumns&) const {
    scores(models, n, x, out);
  }
  virtual NewWeights* new_weights(Owner) { return nullptr; }
  virtual void settle(Owner) {}

  // A model that knows nothing, near a neighbour, instead of one that nobody may use any more.
  virtual ModelId renew(ModelId model, ModelId neighbour) = 0;
  // The given models, numbered again in this order.
  virtual void save(const std::string& name, State& state,
                    const std::vector<ModelId>& models) const = 0;
  void save(const std::string& name, State& state) const {
    std::vector<ModelId> all(size());
    std::iota(all.begin(), all.end(), ModelId{0});
    save(name, state, all);
  }
  virtual void load(const std::string& name, const State& state) = 0;
};

}  // namespace recalltree
