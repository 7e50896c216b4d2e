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
#include <numeric>
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
  std::vector<const void*> tables;  // as long as the feature still has these buckets
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

  // Scores of n rows on one example, biases included. shared: other threads may be learning.
  virtual void scores(const RowId* rows, std::size_t n, const Example& x, float* out,
                      bool shared) const = 0;
  float score(RowId row, const Example& x, bool shared) const {
    float p;
    scores(&row, 1, x, &p, shared);
    return p;
  }

  // weighted_g2[i] = 0 leaves row i out.
  virtual void accumulate(const RowId* rows, std::size_t n, const Example& x,
                          const float* weighted_g2, Steps& steps, double* c, bool shared) = 0;
  // For the rows not left out: after w *= max(0, 1 - shrinkage / sqrt(G)), the step.
  virtual void apply(const RowId* rows, std::size_t n, const Example& x, const float* weighted_g2,
                     const Steps& steps, const float* h, const float* shrinkage, bool shared) = 0;

  // A row that knows nothing, instead of this one, which nobody may use any more.
  virtual RowId renew(RowId row) = 0;
  virtual RowContents contents(RowId row) const = 0;
  // The given rows, numbered anew in this order.
  virtual void save(const std::string& name, State& state,
                    const std::vector<RowId>& rows) const = 0;
  void save(const std::string& name, State& state) const {
    std::vector<RowId> all(size());
    std::iota(all.begin(), all.end(), RowId{0});
    save(name, state, all);
  }
  virtual void load(const std::string& name, const State& state) = 0;
  virtual std::size_t bytes() const = 0;
};

// One contiguous row per model.
class DenseWeights final : public Weights {
 public:
  DenseWeights(std::size_t n_features, bool bias)
      : n_(padded(n_features)), n_features_(n_features), bias_(bias) {}

  RowId add_row() override;
  std::size_t size() const override { return rows_.size(); }
  void scores(const RowId* rows, std::size_t n, const Example& x, float* out,
              bool shared) const override;
  void accumulate(const RowId* rows, std::size_t n, const Example& x, const float* weighted_g2,
                  Steps& steps, double* c, bool shared) override;
  void apply(const RowId* rows, std::size_t n, const Example& x, const float* weighted_g2,
             const Steps& steps, const float* h, const float* shrinkage, bool shared) override;
  RowId renew(RowId row) override;
  RowContents contents(RowId row) const override;
  using Weights::save;
  void save(const std::string& name, State& state, const std::vector<RowId>& rows) const override;
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

// One small hash table per feature, from rows to weights: memory only for pairs (row, feature) that
// were updated, and no collisions. By feature, because an example asks for the same few features of
// many rows. A bucket is one cache line, so that reading a weight costs at most one miss.
class SparseWeights final : public Weights {
 public:
  explicit SparseWeights(bool bias) : bias_(bias) {}

  RowId add_row() override;
  std::size_t size() const override { return rows_.size(); }
  void scores(const RowId* rows, std::size_t n, const Example& x, float* out,
              bool shared) const override;
  void accumulate(const RowId* rows, std::size_t n, const Example& x, const float* weighted_g2,
                  Steps& steps, double* c, bool shared) override;
  void apply(const RowId* rows, std::size_t n, const Example& x, const float* weighted_g2,
             const Steps& steps, const float* h, const float* shrinkage, bool shared) override;
  RowId renew(RowId row) override;
  RowContents contents(RowId row) const override;
  using Weights::save;
  void save(const std::string& name, State& state, const std::vector<RowId>& rows) const override;
  void load(const std::string& name, const State& state) override;
  std::size_t bytes() const override { return arena_.used() + rows_.bytes() + columns_.bytes(); }

 private:
  static constexpr std::size_t kSlots = 8;
  struct alignas(64) Bucket {
    std::uint32_t rows_plus_1[kSlots];  // filled from the front; 0: free
    float values[kSlots];               // 0 where free
  };
  struct Accumulators {
    float of[kSlots];
  };
  // Guarded by the lock while several threads learn.
  struct Column {
    Bucket* buckets = nullptr;  // followed by as many Accumulators
    std::uint32_t n_buckets = 0, size = 0;
    SpinLock lock;
    Accumulators* accumulators() const {
      return reinterpret_cast<Accumulators*>(buckets + n_buckets);
    }
  };
  struct Row {
    float bias = 0.0f, bias_accumulator = 0.0f;
    std::atomic<std::uint32_t> n_slots{0};
    bool retired = false;  // its slots go when their columns are next rebuilt
  };
  // A row's place in a column, or the free one where it belongs.
  struct Place {
    Bucket* bucket;
    std::size_t at;
    bool found;
  };

  static Place find(const Column& column, RowId row);
  static std::size_t bytes(std::size_t n_buckets) {
    return n_buckets * (sizeof(Bucket) + sizeof(Accumulators));
  }
  static float& accumulator(const Column& column, const Place& place) {
    return column.accumulators()[place.bucket - column.buckets].of[place.at];
  }
  void make_room(Column& column, std::size_t more);
  void rebuild(Column& column, std::size_t n_buckets);
  void put(Column& column, RowId row, float value, float accumulated);
  void sweep();
  // Calls visit(row, value, accumulator) for all rows of a column that are not retired.
  template <class Visit>
  void visit(const Column& column, Visit visit) const;

  bool bias_;
  Arena arena_;
  StableVector<Row> rows_;
  StableVector<Column> columns_;  // by feature; made on first use
  std::vector<RowId> retired_;    // rows that still have slots
  std::atomic<std::size_t> retired_slots_{0};
};

}  // namespace recalltree
