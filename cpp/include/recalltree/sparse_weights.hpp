// One small hash table per feature, from rows to weights: memory only for pairs (row, feature) that
// were updated, and no collisions. By feature, because an example asks for the same few features of
// many rows. A bucket is one cache line, so that reading a weight costs at most one miss.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "arena.hpp"
#include "spin_lock.hpp"
#include "stable_vector.hpp"
#include "weights.hpp"

namespace recalltree {

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
