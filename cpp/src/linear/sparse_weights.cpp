#include "recalltree/linear/sparse_weights.hpp"

#include <algorithm>
#include <bit>

#include "recalltree/base/hints.hpp"
#include "recalltree/linear/sparse_scoring.hpp"

namespace recalltree {

ModelId SparseWeights::add_model_near(ModelId neighbour) {
  constexpr ModelId n = SparseColumn::kNeighbours;
  std::size_t group = neighbour / n;
  if (neighbour == kNoModel || group >= free_.size() || free_[group] == 0) {
    if (free_groups_.empty()) {
      // Those of a model that was loaded came one by one.
      while (size() % n != 0) add_model();
      for (ModelId i = 0; i < n; ++i) add_model();
      free_.resize(size() / n, 0);
      free_.back() = (1u << n) - 1;
      free_groups_.push_back(free_.size() - 1);
    }
    group = free_groups_.back();
    free_groups_.pop_back();
  }
  const int at = std::countr_zero(free_[group]);
  free_[group] &= static_cast<std::uint8_t>(free_[group] - 1);
  return static_cast<ModelId>(group) * n + static_cast<ModelId>(at);
}

void SparseWeights::release(ModelId model) {
  constexpr ModelId n = SparseColumn::kNeighbours;
  const std::size_t group = model / n;
  models_[model].bias = models_[model].bias_accumulator = 0.0f;
  models_[model].retired = false;
  if (group >= free_.size()) free_.resize(group + 1, 0);
  free_[group] |= static_cast<std::uint8_t>(1u << model % n);
  if (free_[group] == (1u << n) - 1) free_groups_.push_back(group);
}

void SparseWeights::make_room(SparseColumn& column, std::size_t more) {
  if (!column.has_room_for(column.n_models + more))
    rebuild(column, SparseColumn::buckets_for(column.n_models + more));
}

// Moves a column to another number of buckets, without the slots of retired models.
void SparseWeights::rebuild(SparseColumn& column, std::size_t n_buckets) {
  SparseColumn larger;
  larger.buckets = static_cast<SparseColumn::Bucket*>(arena_.allocate(bytes_of_column(n_buckets)));
  larger.n_buckets = static_cast<std::uint32_t>(n_buckets);
  visit(column, [&](ModelId model, float value, float accumulated) {
    larger.put(model, value, accumulated);
  });
  // Weights that were not put again belonged to retired models.
  for (std::size_t b = 0; larger.n_models < column.n_models && b < column.n_buckets; ++b)
    for (const std::uint32_t id : column.buckets[b].models_plus_1)
      if (id != 0 && models_[id - 1].retired) {
        models_[id - 1].n_slots.fetch_sub(1, std::memory_order_relaxed);
        --retired_slots_;
      }
  if (column.buckets) arena_.release(column.buckets, bytes_of_column(column.n_buckets));
  column.buckets = larger.buckets;
  column.n_buckets = larger.n_buckets;
  column.n_models = larger.n_models;
}

template <class Visit>
void SparseWeights::visit(const SparseColumn& column, Visit visit) const {
  if (retired_slots_ == 0) return column.visit(visit);
  column.visit([&](ModelId model, float value, float accumulated) {
    if (!models_[model].retired) visit(model, value, accumulated);
  });
}

void SparseWeights::scores(const ModelId* models, std::size_t n, const Example& x,
                           float* out) const {
  if (n == 0) return;
  for (std::size_t i = 0; i < n; ++i) out[i] = bias(models[i]);
  add_scores(
      models, n, x, out,
      [&](std::size_t k) {
        if (const SparseBuckets column = this->column(x.features[k]); !column.empty())
          for (std::size_t i = 0; i < n; ++i) column.prefetch(models[i]);
      },
      [&](std::size_t k, auto use) {
        const SparseColumn* const column = columns_.peek(x.features[k]);
        if (column != nullptr && !column->empty()) use(*column);
      },
      [](std::size_t, std::size_t, float*) {});
}

void SparseWeights::apply(const ModelId* models, std::size_t n, const Example& x,
                          const float* weighted_g2, const Steps& steps, const float* h,
                          const float* shrinkage) {
  if (std::all_of(weighted_g2, weighted_g2 + n, [](float g2) { return g2 == 0.0f; })) return;
  const LookupCache& found = *steps.found;
  const std::size_t m = x.features.size();
  SparseColumn* const* const columns = found.columns.data();
  const void* const* const buckets = found.buckets.data();
  const float* const z = x.values.data();
  const auto step = [&](std::size_t i, std::size_t k, float* weight, float r) {
    // The feature may have been moved to more buckets since.
    if (columns[k]->buckets != buckets[k]) weight = columns[k]->find(models[i]);
    float kept = *weight;
    if (shrinkage[i] > 0.0f) kept *= std::max(0.0f, 1.0f - shrinkage[i] * (r / z[k]));
    *weight = kept + h[i] * r;
  };
  for (std::size_t i = 0; i < n; ++i) {
    if (weighted_g2[i] == 0.0f) continue;
    float* const* const weights = found.weights_of(steps.first + i);
    const float* const r = steps.r.data() + i * m;
    for (std::size_t k = 0; k < m; ++k) step(i, k, weights[k], r[k]);
  }
  for (std::size_t i = 0; bias_ && i < n; ++i) {
    if (weighted_g2[i] == 0.0f) continue;
    Model& model = models_[models[i]];
    model.bias = model.bias + h[i] * steps.bias_r[i];
  }
}

// A model's slots are spread over the features' columns, so that it is retired first and its slots
// are swept up together with those of others. Only for learners with one thread.
ModelId SparseWeights::renew(ModelId model, ModelId neighbour) {
  if (models_[model].n_slots == 0) {
    release(model);
  } else {
    models_[model].retired = true;
    retired_.push_back(model);
    retired_slots_ += models_[model].n_slots;
  }
  if (retired_slots_ * SparseColumn::bytes(1) * 4 > arena_.used() * SparseColumn::kSlots) sweep();
  return add_model_near(neighbour);
}

void SparseWeights::sweep() {
  for (std::size_t feature = 0; feature < columns_.size() && retired_slots_ > 0; ++feature) {
    SparseColumn* column = columns_.peek(feature);
    if (column == nullptr || column->buckets == nullptr) continue;
    std::size_t live = 0;
    visit(*column, [&](ModelId, float, float) { ++live; });
    if (live < column->n_models) rebuild(*column, SparseColumn::buckets_for(live));
  }
  for (const ModelId model : retired_) release(model);
  retired_.clear();
}

ModelContents SparseWeights::contents(ModelId id) const {
  ModelContents all;
  all.bias = models_[id].bias;
  all.bias_accumulator = models_[id].bias_accumulator;
  for (std::uint32_t feature = 0; feature < columns_.size(); ++feature) {
    const SparseColumn* column = columns_.peek(feature);
    if (column == nullptr || column->buckets == nullptr) continue;
    const float* const weight = column->find(id);
    if (weight == nullptr) continue;
    all.features.push_back(feature);
    all.weights.push_back(*weight);
    all.accumulators.push_back(*column->accumulator(weight));
  }
  return all;
}

void SparseWeights::save(const std::string& name, State& state,
                         const std::vector<ModelId>& kept) const {
  struct Entry {
    ModelId model;
    float value, accumulated;
  };
  SparseArrays<Owned> saved;
  auto& offsets = saved.offsets;
  offsets.push_back(0);
  std::vector<Entry> entries;
  std::vector<ModelId> number(size(), kNoModel);
  for (std::size_t i = 0; i < kept.size(); ++i) number[kept[i]] = static_cast<ModelId>(i);
  for (std::size_t feature = 0; feature < columns_.size(); ++feature) {
    entries.clear();
    if (const SparseColumn* column = columns_.peek(feature))
      visit(*column, [&](ModelId model, float value, float accumulated) {
        if (number[model] != kNoModel) entries.push_back({number[model], value, accumulated});
      });
    std::sort(entries.begin(), entries.end(),
              [](const Entry& a, const Entry& b) { return a.model < b.model; });
    for (const Entry& entry : entries) {
      saved.models.push_back(entry.model);
      saved.weights.push_back(entry.value);
      saved.accumulators.push_back(entry.accumulated);
    }
    offsets.push_back(saved.models.size());
  }
  // Without empty features at the end: the arrays do not tell that there once was something.
  while (offsets.size() > 1 && offsets[offsets.size() - 2] == offsets.back()) offsets.pop_back();
  for (const ModelId model : kept) {
    saved.bias.push_back(models_[model].bias);
    saved.bias_accumulators.push_back(models_[model].bias_accumulator);
  }
  put_fields(std::move(saved), state, name + ".");
}

void SparseWeights::load(const std::string& name, const State& state) {
  SparseArrays<Viewed> saved;
  view_fields(saved, state, name + ".");
  for (std::size_t i = 0; i < saved.bias.size(); ++i)
    add_model(saved.bias[i], saved.bias_accumulators[i]);
  for (std::uint32_t feature = 0; feature + 1 < saved.offsets.size(); ++feature) {
    const std::size_t begin = saved.offsets[feature], end = saved.offsets[feature + 1];
    fill(feature, end - begin, [&](auto put) {
      for (std::size_t i = begin; i < end; ++i) {
        put(saved.models[i], saved.weights[i], saved.accumulators[i]);
        ++models_[saved.models[i]].n_slots;
      }
    });
  }
}

// --- Many examples at a time

std::unique_ptr<ExampleScorer> SparseWeights::example_scorer() const {
  return std::make_unique<SparseExampleScorer<SparseWeights>>(*this);
}

void SparseWeights::score_groups(const std::vector<ExampleGroup>& groups, const ReadExample& read,
                                 float* out) const {
  SparseGroupScorer(*this).score(groups, read, out);
}

}  // namespace recalltree
