// Rows of weights: one linear model each, with the AdaGrad accumulator of every weight.
//
// Learning is in two halves, because the size of the step depends on the sum of all of a model's
// parts:
//   accumulate  G += w g^2 z^2 and r = z / sqrt(G); adds to c the sum of z r, what the score gains
//   per unit of step apply       v += h r
// Both work on a block of distinct rows at a time.
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

inline constexpr std::size_t kBlock = 16;  // rows that learn together, at most

// What accumulate hands to apply. Reused from example to example.
struct Steps {
  AlignedFloats r;
  std::vector<float*> targets;      // sparse rows: where each r goes,
  std::vector<const void*> tables;  // as long as the feature still has this table
  float bias_r[kBlock];
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

  // weighted_g2[i] = 0 leaves row i out. shared: other threads may be learning too.
  virtual void accumulate(const RowId* rows, std::size_t n, const Example& x,
                          const float* weighted_g2, Steps& steps, double* c, bool shared) = 0;
  // For the rows not left out: after w *= max(0, 1 - shrinkage / sqrt(G)), the step.
  virtual void apply(const RowId* rows, std::size_t n, const Example& x, const float* weighted_g2,
                     const Steps& steps, const float* h, const float* shrinkage, bool shared) = 0;

  // A row that knows nothing, instead of this one, which nobody may use any more.
  virtual RowId renew(RowId row) = 0;
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
  DenseWeights(std::size_t n_features, bool bias)
      : n_(padded(n_features)), n_features_(n_features), bias_(bias) {}

  RowId add_row() override;
  std::size_t size() const override { return rows_.size(); }
  void scores(const RowId* rows, std::size_t n, const Example& x, float* out) const override;
  void accumulate(const RowId* rows, std::size_t n, const Example& x, const float* weighted_g2,
                  Steps& steps, double* c, bool shared) override;
  void apply(const RowId* rows, std::size_t n, const Example& x, const float* weighted_g2,
             const Steps& steps, const float* h, const float* shrinkage, bool shared) override;
  RowId renew(RowId row) override;
  RowContents contents(RowId row) const override;
  void save(const std::string& name, State& state) const override;
  void load(const std::string& name, const State& state) override;
  std::size_t bytes() const override {
    return values_.used() + accumulators_.used() + rows_.bytes();
  }

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

// One small open-addressing table per feature, from rows to weights: memory only for pairs (row,
// feature) that were updated, and no collisions. By feature, because an example asks for the same
// few features of many rows: the table of a rare feature is a few cache lines, and that of a
// frequent one stays in cache.
class SparseWeights final : public Weights {
 public:
  explicit SparseWeights(bool bias) : bias_(bias) {}

  RowId add_row() override;
  std::size_t size() const override { return rows_.size(); }
  void scores(const RowId* rows, std::size_t n, const Example& x, float* out) const override;
  void accumulate(const RowId* rows, std::size_t n, const Example& x, const float* weighted_g2,
                  Steps& steps, double* c, bool shared) override;
  void apply(const RowId* rows, std::size_t n, const Example& x, const float* weighted_g2,
             const Steps& steps, const float* h, const float* shrinkage, bool shared) override;
  RowId renew(RowId row) override;
  RowContents contents(RowId row) const override;
  void save(const std::string& name, State& state) const override;
  void load(const std::string& name, const State& state) override;
  std::size_t bytes() const override { return arena_.used() + rows_.bytes() + columns_.bytes(); }
  void reclaim() override { arena_.reclaim(); }

 private:
  // All of a weight in one place: a random access costs one cache miss, whether it reads or learns.
  struct Slot {
    std::uint32_t row_plus_1;  // 0: free
    float value, accumulator;
  };
  struct Table {
    std::uint32_t size, capacity;
    Slot* slots() { return reinterpret_cast<Slot*>(this + 1); }
    static std::size_t bytes(std::size_t capacity) {
      return sizeof(Table) + capacity * sizeof(Slot);
    }
  };
  struct Column {
    std::atomic<Table*> table{nullptr};
    SpinLock lock;
  };
  struct Row {
    float bias = 0.0f, bias_accumulator = 0.0f;
    std::atomic<std::uint32_t> n_slots{0};
    bool retired = false;  // its slots go when their tables are next rebuilt
  };

  // The slot of a row, or the free slot where it belongs.
  static Slot& find(Table* table, RowId row);
  Table* with_room(Column& column, std::size_t more);
  Table* rebuild(Column& column, std::size_t capacity);
  void sweep();
  Table* table(std::uint32_t key) const {
    const Column* column = columns_.peek(key);
    return column ? column->table.load(std::memory_order_acquire) : nullptr;
  }

  bool bias_;
  Arena arena_;
  StableVector<Row> rows_;
  StableVector<Column> columns_;  // by feature; made on first use
  std::vector<RowId> retired_;    // rows that still have slots
  std::size_t retired_slots_ = 0;
};

}  // namespace recalltree
