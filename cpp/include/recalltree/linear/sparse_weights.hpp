// One small hash table per feature, from models to weights: memory only for pairs of a model and a
// feature that were updated, and no collisions. By feature, because an example asks for the same
// few features of many models.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "recalltree/base/arena.hpp"
#include "recalltree/base/fields.hpp"
#include "recalltree/base/stable_vector.hpp"
#include "recalltree/linear/sparse_column.hpp"
#include "recalltree/linear/weights.hpp"

namespace recalltree {

// Weights as they are saved: by feature, then by model. Stored: float, or half precision in
// models that only predict.
template <template <class> class List, class Stored = float>
struct SparseArrays {
  List<std::uint64_t> offsets;  // of each feature's weights
  List<std::uint32_t> models;
  List<Stored> weights;
  List<float> accumulators, bias, bias_accumulators;

  template <class Self, class Visit>
  static void fields(Self& self, Visit visit) {
    visit("offsets", self.offsets);
    visit("rows", self.models);
    const std::size_t n = self.models.size();
    visit("weights", self.weights, {.length = n});
    visit("accumulators", self.accumulators, {.length = n, .for_learning = true});
    visit("bias", self.bias);
    visit("bias_accumulators", self.bias_accumulators,
          {.length = self.bias.size(), .for_learning = true});
  }
};

class SparseWeights final : public Weights {
 public:
  // Weights that only predict have no accumulators.
  enum class Use { learn, predict };

  explicit SparseWeights(bool bias, Use use = Use::learn) : bias_(bias), use_(use) {}

  ModelId add_model() override { return add_model(0.0f, 0.0f); }
  ModelId add_model(float bias, float bias_accumulator) {
    return static_cast<ModelId>(models_.add([&](Model& model) {
      model.bias = bias;
      model.bias_accumulator = bias_accumulator;
    }));
  }
  // Only where one thread alone adds models.
  ModelId add_model_near(ModelId neighbour) override;
  std::size_t size() const override { return models_.size(); }
  void scores(const ModelId* models, std::size_t n, const Example& x, float* out) const override;
  void scores(const ModelId* models, std::size_t n, const Example& x, float* out,
              LookupCache& found) override;
  void scores_again(const ModelId* models, std::size_t n, const Example& x, float* out,
                    const LookupCache& found, std::size_t first) const override;
  std::unique_ptr<ExampleScorer> example_scorer() const override;
  void score_groups(const std::vector<ExampleGroup>& groups, const ReadExample& read,
                    float* out) const override;
  void accumulate(const ModelId* models, std::size_t n, const Example& x, const float* weighted_g2,
                  Steps& steps, double* c, LookupCache* found, std::size_t first) override;
  void apply(const ModelId* models, std::size_t n, const Example& x, const float* weighted_g2,
             const Steps& steps, const float* h, const float* shrinkage) override;
  void prepare_owners() override {
    if (new_weights_.empty()) new_weights_.resize(kOwners);
  }
  NewWeights* new_weights(Owner owner) override {
    new_weights_[owner.number].clear();
    return &new_weights_[owner.number];
  }
  void settle(Owner owner) override;
  void find_columns(const Example& x, ExampleColumns& known) const override;
  void scores(const ModelId* models, std::size_t n, const Example& x, float* out,
              const ExampleColumns& known) const override;
  ModelId renew(ModelId model, ModelId neighbour) override;
  ModelContents contents(ModelId model) const override;
  using Weights::save;
  void save(const std::string& name, State& state,
            const std::vector<ModelId>& models) const override;
  void load(const std::string& name, const State& state) override;
  // At most n weights of a feature that has none: visit(put) calls put(model, weight, accumulator).
  template <class Visit>
  void fill(std::uint32_t feature, std::size_t n, Visit visit) {
    if (n == 0) return;
    SparseColumn& column = columns_.touch(feature);
    make_room(column, n);
    visit([&](ModelId model, float value, float accumulator) {
      float* const weight = column.add(model);
      *weight = value;
      if (use_ == Use::learn) *column.accumulator(weight) = accumulator;
    });
  }
  std::size_t bytes() const override { return arena_.used() + models_.bytes() + columns_.bytes(); }
  float bias(ModelId model) const override { return bias_ ? models_[model].bias : 0.0f; }
  // The weights of a feature, to be read while nothing learns.
  SparseBuckets column(std::uint32_t feature) const {
    const SparseColumn* const column = columns_.peek(feature);
    if (column == nullptr) return {};
    return *column;
  }

 private:
  struct Model {
    float bias = 0.0f, bias_accumulator = 0.0f;
    std::atomic<std::uint32_t> n_slots{0};  // several owners of features add to it
    bool retired = false;                   // its slots go when their columns are next rebuilt
  };

  // Finds the columns of an example's features.
  void find_columns(const Example& x, LookupCache& found);
  void add_made(const ModelId* models, std::size_t n, const Example& x, float* out,
                LookupCache& found, std::size_t first) const;
  // Adds to c what the bias gains per unit of step, too.
  void accumulate_bias(const ModelId* models, std::size_t n, const float* weighted_g2, Steps& steps,
                       const float* moved, double* c);
  // Adds the weight of a model that has none yet; there is room.
  float* add_weight(SparseColumn& column, ModelId model);
  std::size_t bytes_of_column(std::size_t n_buckets) const {
    return use_ == Use::learn ? SparseColumn::bytes(n_buckets)
                              : n_buckets * sizeof(SparseBuckets::Bucket);
  }
  void make_room(SparseColumn& column, std::size_t more);
  void rebuild(SparseColumn& column, std::size_t n_buckets);
  void sweep();
  // Models of which nothing is left can be given out again.
  void release(ModelId model);
  // Calls visit(model, value, accumulator) for all models of a column that are not retired.
  template <class Visit>
  void visit(const SparseColumn& column, Visit visit) const;

  bool bias_;
  Use use_;
  Arena arena_;
  StableVector<Model> models_;
  StableVector<SparseColumn> columns_;   // by feature; made on first use
  std::vector<NewWeights> new_weights_;  // by owner
  std::vector<ModelId> retired_;         // models that still have slots
  // Free models, a bit for each, by group of neighbours.
  std::vector<std::uint8_t> free_;
  std::vector<std::size_t> free_groups_;
  std::size_t retired_slots_ = 0;
};

}  // namespace recalltree
