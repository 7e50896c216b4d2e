// One contiguous row per model.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "recalltree/base/arena.hpp"
#include "recalltree/base/stable_vector.hpp"
#include "recalltree/linear/weights.hpp"

namespace recalltree {

class DenseWeights final : public Weights {
 public:
  // Whether every weight learns at a rate of its own, or the whole row at the rate of its bias,
  // which suits features of one spread and takes half the memory.
  enum class Rates { per_weight, per_row };

  DenseWeights(std::size_t n_features, bool bias, Rates rates = Rates::per_weight)
      : n_(padded(n_features)), n_features_(n_features), bias_(bias), rates_(rates) {}

  ModelId add_model() override;
  std::size_t size() const override { return rows_.size(); }
  void scores(const ModelId* rows, std::size_t n, const Example& x, float* out,
              Threads threads) const override;
  void accumulate(const ModelId* rows, std::size_t n, const Example& x, const float* weighted_g2,
                  Steps& steps, double* c, Threads threads, LookupCache* found,
                  std::size_t first) override;
  void apply(const ModelId* rows, std::size_t n, const Example& x, const float* weighted_g2,
             const Steps& steps, const float* h, const float* shrinkage, Threads threads) override;
  // One row alone: after w *= kept wherever x is not zero, w += h x.
  void move(ModelId row, const Example& x, float h, float kept);
  ModelId renew(ModelId row, ModelId) override;
  ModelContents contents(ModelId row) const override;
  using Weights::save;
  void save(const std::string& name, State& state, const std::vector<ModelId>& rows) const override;
  void load(const std::string& name, const State& state) override;
  std::size_t bytes() const override {
    return values_.used() + accumulators_.used() + rows_.bytes();
  }

  // If there were so many rows.
  std::size_t bytes(std::size_t rows) const {
    const std::size_t values = rates_ == Rates::per_weight ? 2 * n_ : n_;
    return rows * values * sizeof(float) + StableVector<Row>::bytes(rows);
  }

  const float* values(ModelId row) const override { return rows_[row].values; }
  float bias(ModelId row) const override;
  std::size_t stride() const { return n_; }

 private:
  struct Row {
    float* values = nullptr;
    float* accumulators = nullptr;  // none if the row has one rate
    float bias = 0.0f, bias_accumulator = 0.0f;
  };
  std::size_t n_, n_features_;
  bool bias_;
  Rates rates_;
  Arena values_, accumulators_;  // apart, so that prediction streams through values only
  StableVector<Row> rows_;
};

}  // namespace recalltree
