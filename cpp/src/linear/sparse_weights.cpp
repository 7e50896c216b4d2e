#include "recalltree/linear/sparse_weights.hpp"

#include <algorithm>
#include <bit>

#include "recalltree/base/hints.hpp"
#include "recalltree/base/intended_race.hpp"
#include "recalltree/linear/sparse_scoring.hpp"

namespace recalltree {

ModelId SparseWeights::add_model() {
  return static_cast<ModelId>(rows_.add([](Row&) {}));
}

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

void SparseWeights::release(ModelId row) {
  constexpr ModelId n = SparseColumn::kNeighbours;
  const std::size_t group = row / n;
  rows_[row].bias = rows_[row].bias_accumulator = 0.0f;
  rows_[row].retired = false;
  if (group >= free_.size()) free_.resize(group + 1, 0);
  free_[group] |= static_cast<std::uint8_t>(1u << row % n);
  if (free_[group] == (1u << n) - 1) free_groups_.push_back(group);
}

void SparseWeights::make_room(SparseColumn& column, std::size_t more) {
  if (!column.has_room_for(column.n_rows + more))
    rebuild(column, SparseColumn::buckets_for(column.n_rows + more));
}

// Moves a column to another number of buckets, without the slots of retired rows.
void SparseWeights::rebuild(SparseColumn& column, std::size_t n_buckets) {
  SparseColumn larger;
  larger.buckets =
      static_cast<SparseColumn::Bucket*>(arena_.allocate(SparseColumn::bytes(n_buckets)));
  larger.n_buckets = static_cast<std::uint32_t>(n_buckets);
  visit(column,
        [&](ModelId row, float value, float accumulated) { larger.put(row, value, accumulated); });
  // What was not put again belonged to retired rows.
  for (std::size_t b = 0; larger.n_rows < column.n_rows && b < column.n_buckets; ++b)
    for (const std::uint32_t id : column.buckets[b].rows_plus_1)
      if (id != 0 && rows_[id - 1].retired) {
        rows_[id - 1].n_slots.fetch_sub(1, std::memory_order_relaxed);
        retired_slots_.fetch_sub(1, std::memory_order_relaxed);
      }
  if (column.buckets) arena_.release(column.buckets, SparseColumn::bytes(column.n_buckets));
  column.buckets = larger.buckets;
  column.n_buckets = larger.n_buckets;
  column.n_rows = larger.n_rows;
}

template <class Visit>
void SparseWeights::visit(const SparseColumn& column, Visit visit) const {
  if (retired_slots_.load(std::memory_order_relaxed) == 0) return column.visit(visit);
  column.visit([&](ModelId row, float value, float accumulated) {
    if (!rows_[row].retired) visit(row, value, accumulated);
  });
}

void SparseWeights::scores(const ModelId* rows, std::size_t n, const Example& x, float* out,
                           Threads threads) const {
  if (n == 0) return;
  for (std::size_t i = 0; i < n; ++i) out[i] = bias(rows[i]);
  // One thread alone can fetch the next features' buckets while it works on this one's.
  const auto fetch = [&](std::size_t k) {
    if (threads == Threads::several || k >= x.keys.size()) return;
    if (const SparseBuckets next = column(x.keys[k]); !next.empty())
      for (std::size_t i = 0; i < n; ++i) next.prefetch(rows[i]);
  };
  const std::size_t ahead = 1 + kInFlight / n;
  for (std::size_t k = 0; k < ahead; ++k) fetch(k);
  for (std::size_t k = 0; k < x.keys.size(); ++k) {
    fetch(k + ahead);
    SparseColumn* column = columns_.peek(x.keys[k]);
    if (column == nullptr) continue;
    SpinLock::Guard guard(column->lock, threads);
    if (column->buckets == nullptr) continue;
    const float z = x.values[k];
    for (std::size_t i = 0; i < n; ++i)
      if (const float* const weight = column->find(rows[i])) out[i] += relaxed_load(*weight) * z;
  }
}

void SparseWeights::accumulate(const ModelId* rows, std::size_t n, const Example& x,
                               const float* weighted_g2, Steps& steps, double* c, Threads threads,
                               LookupCache* found, std::size_t first) {
  if (std::all_of(weighted_g2, weighted_g2 + n, [](float g2) { return g2 == 0.0f; })) return;
  if (found == nullptr || found->columns.empty()) {
    found = &steps.own;
    found->clear();
    find_columns(x, *found);
    first = found->add_rows(n);
  }
  steps.found = found;
  steps.first = first;
  steps.r.reserve(x.keys.size() * n);
  if (threads == Threads::several)
    accumulate_shared(rows, n, x, weighted_g2, steps, c);
  else
    accumulate_alone(rows, n, x, weighted_g2, steps, c);
}

void SparseWeights::apply(const ModelId* rows, std::size_t n, const Example& x,
                          const float* weighted_g2, const Steps& steps, const float* h,
                          const float* shrinkage, Threads threads) {
  if (std::all_of(weighted_g2, weighted_g2 + n, [](float g2) { return g2 == 0.0f; })) return;
  if (threads == Threads::several)
    apply_shared(rows, n, x, weighted_g2, steps, h, shrinkage);
  else
    apply_alone(rows, n, x, weighted_g2, steps, h, shrinkage);
  for (std::size_t i = 0; bias_ && i < n; ++i) {
    if (weighted_g2[i] == 0.0f) continue;
    Row& row = rows_[rows[i]];
    relaxed_store(row.bias, relaxed_load(row.bias) + h[i] * steps.bias_r[i]);
  }
}

// A row's slots are spread over the features' columns, so that it is retired first and its slots
// are swept up together with those of others. Only for learners with one thread.
ModelId SparseWeights::renew(ModelId row, ModelId neighbour) {
  if (rows_[row].n_slots == 0) {
    release(row);
  } else {
    rows_[row].retired = true;
    retired_.push_back(row);
    retired_slots_ += rows_[row].n_slots;
  }
  if (retired_slots_ * SparseColumn::bytes(1) * 4 > arena_.used() * SparseColumn::kSlots) sweep();
  return add_model_near(neighbour);
}

void SparseWeights::sweep() {
  for (std::size_t key = 0; key < columns_.size() && retired_slots_ > 0; ++key) {
    SparseColumn* column = columns_.peek(key);
    if (column == nullptr || column->buckets == nullptr) continue;
    std::size_t live = 0;
    visit(*column, [&](ModelId, float, float) { ++live; });
    if (live < column->n_rows) rebuild(*column, SparseColumn::buckets_for(live));
  }
  for (const ModelId row : retired_) release(row);
  retired_.clear();
}

ModelContents SparseWeights::contents(ModelId id) const {
  ModelContents all;
  all.bias = rows_[id].bias;
  all.bias_accumulator = rows_[id].bias_accumulator;
  for (std::uint32_t key = 0; key < columns_.size(); ++key) {
    const SparseColumn* column = columns_.peek(key);
    if (column == nullptr || column->buckets == nullptr) continue;
    const float* const weight = column->find(id);
    if (weight == nullptr) continue;
    all.keys.push_back(key);
    all.weights.push_back(*weight);
    all.accumulators.push_back(*column->accumulator(weight));
  }
  return all;
}

// By feature, and by row within a feature.
void SparseWeights::save(const std::string& name, State& state,
                         const std::vector<ModelId>& kept) const {
  struct Entry {
    ModelId row;
    float value, accumulated;
  };
  std::vector<std::uint64_t> offsets{0};
  std::vector<std::uint32_t> rows;
  std::vector<float> weights, accumulators, bias, bias_accumulators;
  std::vector<Entry> entries;
  std::vector<ModelId> number(size(), kNoModel);
  for (std::size_t i = 0; i < kept.size(); ++i) number[kept[i]] = static_cast<ModelId>(i);
  for (std::size_t key = 0; key < columns_.size(); ++key) {
    entries.clear();
    if (const SparseColumn* column = columns_.peek(key))
      visit(*column, [&](ModelId row, float value, float accumulated) {
        if (number[row] != kNoModel) entries.push_back({number[row], value, accumulated});
      });
    std::sort(entries.begin(), entries.end(),
              [](const Entry& a, const Entry& b) { return a.row < b.row; });
    for (const Entry& entry : entries) {
      rows.push_back(entry.row);
      weights.push_back(entry.value);
      accumulators.push_back(entry.accumulated);
    }
    offsets.push_back(rows.size());
  }
  // Without empty features at the end: the arrays do not tell that there once was something.
  while (offsets.size() > 1 && offsets[offsets.size() - 2] == offsets.back()) offsets.pop_back();
  for (const ModelId row : kept) {
    bias.push_back(rows_[row].bias);
    bias_accumulators.push_back(rows_[row].bias_accumulator);
  }
  state.put(name + ".offsets", std::move(offsets));
  state.put(name + ".rows", std::move(rows));
  state.put(name + ".weights", std::move(weights));
  state.put(name + ".accumulators", std::move(accumulators));
  state.put(name + ".bias", std::move(bias));
  state.put(name + ".bias_accumulators", std::move(bias_accumulators));
}

void SparseWeights::load(const std::string& name, const State& state) {
  const auto offsets = state.get<std::uint64_t>(name + ".offsets");
  const auto rows = state.get<std::uint32_t>(name + ".rows");
  const auto weights = state.get<float>(name + ".weights", rows.size());
  const auto accumulators = state.get<float>(name + ".accumulators", rows.size());
  const auto bias = state.get<float>(name + ".bias");
  const auto bias_accumulators = state.get<float>(name + ".bias_accumulators", bias.size());
  for (std::size_t i = 0; i < bias.size(); ++i) {
    Row& row = rows_[add_model()];
    row.bias = bias[i];
    row.bias_accumulator = bias_accumulators[i];
  }
  const auto check = [&](bool fine, const char* what) {
    if (!fine) throw std::invalid_argument("state: array '" + name + what);
  };
  check(!offsets.empty() && offsets.front() == 0 && offsets.back() == rows.size(),
        ".offsets' does not fit");
  for (std::size_t key = 0; key + 1 < offsets.size(); ++key) {
    check(offsets[key] <= offsets[key + 1] && offsets[key + 1] <= rows.size(),
          ".offsets' is not increasing");
    if (offsets[key] == offsets[key + 1]) continue;
    SparseColumn& column = columns_.touch(key);
    make_room(column, offsets[key + 1] - offsets[key]);
    for (std::size_t k = offsets[key]; k < offsets[key + 1]; ++k) {
      check(rows[k] < size(), ".rows' names a row that does not exist");
      check(column.find(rows[k]) == nullptr, ".rows' repeats a row");
      column.put(rows[k], weights[k], accumulators[k]);
      rows_[rows[k]].n_slots.fetch_add(1, std::memory_order_relaxed);
    }
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
