// Rows of weights: one linear model each, with the AdaGrad accumulator of every weight.
//
// Learning is in two halves, because the size of the step depends on the sum of all of a model's parts:
//   accumulate  G += w g^2 z^2 and r = z / sqrt(G); returns c = sum z r, what the score gains per unit of step
//   apply       v += h r
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "arena.hpp"
#include "config.hpp"
#include "example.hpp"
#include "spin_lock.hpp"
#include "stable_vector.hpp"
#include "state.hpp"
#include "types.hpp"

namespace recalltree {

// What accumulate hands to apply. Reused from example to example.
struct Step {
  AlignedFloats r;
  std::vector<float*> targets;  // sparse rows: where each r goes
  float bias_r = 0.0f;
};

struct RowContents {
  std::vector<std::uint32_t> keys;
  std::vector<float> weights, accumulators;
  float bias = 0.0f, bias_accumulator = 0.0f;
};

class Weights {
 public:
  virtual ~Weights() = default;

  virtual RowId add_row() = 0;
  virtual std::size_t size() const = 0;
  void grow_to(std::size_t rows) {
    while (size() < rows) add_row();
  }

  // Scores of n rows on one example, biases included.
  virtual void scores(const RowId* rows, std::size_t n, const Example& x, float* out) const = 0;
  float score(RowId row, const Example& x) const {
    float p;
    scores(&row, 1, x, &p);
    return p;
  }

  // shared: other threads may be learning too.
  virtual float accumulate(RowId row, const Example& x, float weighted_g2, Step& step, bool shared) = 0;
  virtual void apply(RowId row, const Example& x, const Step& step, float h, float shrinkage) = 0;

  // A model that knows nothing again.
  virtual void clear_row(RowId row) = 0;
  virtual RowContents contents(RowId row) const = 0;
  virtual void save(const std::string& name, State& state) const = 0;
  virtual void load(const std::string& name, const State& state) = 0;
  virtual std::size_t bytes() const = 0;
  // Between calls, while nobody else reads.
  virtual void reclaim() {}
};

// One contiguous row per model.
class DenseWeights final : public Weights {
 public:
  DenseWeights(std::size_t n_features, bool bias) : n_(padded(n_features)), n_features_(n_features), bias_(bias) {}

  RowId add_row() override;
  std::size_t size() const override { return rows_.size(); }
  void scores(const RowId* rows, std::size_t n, const Example& x, float* out) const override;
  float accumulate(RowId row, const Example& x, float weighted_g2, Step& step, bool shared) override;
  void apply(RowId row, const Example& x, const Step& step, float h, float shrinkage) override;
  void clear_row(RowId row) override;
  RowContents contents(RowId row) const override;
  void save(const std::string& name, State& state) const override;
  void load(const std::string& name, const State& state) override;
  std::size_t bytes() const override { return values_.used() + accumulators_.used() + rows_.bytes(); }

  // For matrix products over many rows: the weights and the bias of one.
  const float* values(RowId row) const { return rows_[row].values; }
  float bias(RowId row) const;
  std::size_t stride() const { return n_; }

 private:
  struct Row {
    float* values = nullptr;
    float* accumulators = nullptr;
    float bias = 0.0f, bias_accumulator = 0.0f;
  };
  std::size_t n_, n_features_;
  bool bias_;
  Arena values_, accumulators_;  // apart, so that prediction streams through values only
  StableVector<Row> rows_;
};

// One small open-addressing table per model: memory only for pairs (model, feature) that were updated, no
// collisions, and all weights of a model near each other.
class SparseWeights final : public Weights {
 public:
  explicit SparseWeights(bool bias) : bias_(bias) {}

  RowId add_row() override;
  std::size_t size() const override { return rows_.size(); }
  void scores(const RowId* rows, std::size_t n, const Example& x, float* out) const override;
  float accumulate(RowId row, const Example& x, float weighted_g2, Step& step, bool shared) override;
  void apply(RowId row, const Example& x, const Step& step, float h, float shrinkage) override;
  void clear_row(RowId row) override;
  RowContents contents(RowId row) const override;
  void save(const std::string& name, State& state) const override;
  void load(const std::string& name, const State& state) override;
  std::size_t bytes() const override { return arena_.used() + rows_.bytes(); }
  void reclaim() override { arena_.reclaim(); }

 private:
  struct Slot {
    std::uint32_t key_plus_1;  // 0: free
    float value;
  };
  struct Table {
    std::uint32_t shift, size, capacity, unused;
    Slot* slots() { return reinterpret_cast<Slot*>(this + 1); }
    float* accumulators() { return reinterpret_cast<float*>(slots() + capacity); }
    static std::size_t bytes(std::size_t capacity) { return sizeof(Table) + capacity * (sizeof(Slot) + sizeof(float)); }
  };
  struct Row {
    std::atomic<Table*> table{nullptr};
    float bias = 0.0f, bias_accumulator = 0.0f;
    SpinLock lock;
  };

  // The slot of a key, or the free slot where it belongs.
  static std::size_t find(Table* table, std::uint32_t key);
  Table* with_room(Row& row, std::size_t more);

  bool bias_;
  Arena arena_;
  StableVector<Row> rows_;
};

}  // namespace recalltree
