// One small hash table per feature, from rows to weights: memory only for pairs (row, feature) that
// were updated, and no collisions. By feature, because an example asks for the same few features of
// many rows.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "recalltree/base/arena.hpp"
#include "recalltree/base/stable_vector.hpp"
#include "recalltree/linear/sparse_column.hpp"
#include "recalltree/linear/weights.hpp"

namespace recalltree {

class SparseWeights final : public Weights {
 public:
  explicit SparseWeights(bool bias) : bias_(bias) {}

  ModelId add_model() override;
  // Only where one thread alone adds rows.
  ModelId add_model_near(ModelId neighbour) override;
  std::size_t size() const override { return rows_.size(); }
  void scores(const ModelId* rows, std::size_t n, const Example& x, float* out,
              Threads threads) const override;
  void scores(const ModelId* rows, std::size_t n, const Example& x, float* out,
              LookupCache& found) override;
  void scores_again(const ModelId* rows, std::size_t n, const Example& x, float* out,
                    const LookupCache& found, std::size_t first) const override;
  std::unique_ptr<ExampleScorer> example_scorer() const override;
  void score_groups(const std::vector<ExampleGroup>& groups, const ReadExample& read,
                    float* out) const override;
  void accumulate(const ModelId* rows, std::size_t n, const Example& x, const float* weighted_g2,
                  Steps& steps, double* c, Threads threads, LookupCache* found,
                  std::size_t first) override;
  void apply(const ModelId* rows, std::size_t n, const Example& x, const float* weighted_g2,
             const Steps& steps, const float* h, const float* shrinkage, Threads threads) override;
  ModelId renew(ModelId row, ModelId neighbour) override;
  ModelContents contents(ModelId row) const override;
  using Weights::save;
  void save(const std::string& name, State& state, const std::vector<ModelId>& rows) const override;
  void load(const std::string& name, const State& state) override;
  std::size_t bytes() const override { return arena_.used() + rows_.bytes() + columns_.bytes(); }
  float bias(ModelId row) const override { return bias_ ? relaxed_load(rows_[row].bias) : 0.0f; }
  // What was learned of a feature, to be read while nobody learns.
  SparseBuckets column(std::uint32_t feature) const {
    const SparseColumn* const column = columns_.peek(feature);
    if (column == nullptr) return {};
    return *column;
  }

 private:
  // So many weights, at least, are on their way from memory while others are worked on.
  static constexpr std::size_t kInFlight = 32;

  struct Row {
    float bias = 0.0f, bias_accumulator = 0.0f;
    std::atomic<std::uint32_t> n_slots{0};
    bool retired = false;  // its slots go when their columns are next rebuilt
  };

  // Of the features of an example.
  void find_columns(const Example& x, LookupCache& found);
  // Learning as one thread alone, row by row, or as one of several, feature by feature.
  void accumulate_alone(const ModelId* rows, std::size_t n, const Example& x,
                        const float* weighted_g2, Steps& steps, double* c);
  void apply_alone(const ModelId* rows, std::size_t n, const Example& x, const float* weighted_g2,
                   const Steps& steps, const float* h, const float* shrinkage);
  void accumulate_shared(const ModelId* rows, std::size_t n, const Example& x,
                         const float* weighted_g2, Steps& steps, double* c);
  void apply_shared(const ModelId* rows, std::size_t n, const Example& x, const float* weighted_g2,
                    const Steps& steps, const float* h, const float* shrinkage);
  // Adds to c what the bias gains per unit of step, too.
  void accumulate_bias(const ModelId* rows, std::size_t n, const float* weighted_g2, Steps& steps,
                       const float* moved, double* c);
  // Of a row that has none yet; there is room.
  float* add_weight(SparseColumn& column, ModelId row);
  // The score of one row, and what was found of its weights.
  float score_alone(ModelId row, const Example& x, SparseColumn* const* columns,
                    float** weights) const;
  void make_room(SparseColumn& column, std::size_t more);
  void rebuild(SparseColumn& column, std::size_t n_buckets);
  void sweep();
  // Rows of which nothing is left can be given out again.
  void release(ModelId row);
  // Calls visit(row, value, accumulator) for all rows of a column that are not retired.
  template <class Visit>
  void visit(const SparseColumn& column, Visit visit) const;

  bool bias_;
  Arena arena_;
  StableVector<Row> rows_;
  StableVector<SparseColumn> columns_;  // by feature; made on first use
  std::vector<ModelId> retired_;        // rows that still have slots
  // By group of neighbours: a bit for each that was not given out, or is free again.
  std::vector<std::uint8_t> free_;
  std::vector<std::size_t> free_groups_;
  std::atomic<std::size_t> retired_slots_{0};
};

}  // namespace recalltree
