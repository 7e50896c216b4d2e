#include "recalltree/sparse_weights.hpp"

#include <algorithm>
#include <cmath>

#include "recalltree/inlining.hpp"
#include "recalltree/intended_race.hpp"

namespace recalltree {
namespace {

// So many weights, at least, are on their way from memory while others are worked on.
constexpr std::size_t kInFlight = 32;

}  // namespace

RowId SparseWeights::add_row() {
  return static_cast<RowId>(rows_.add([](Row&) {}));
}

void SparseWeights::make_room(SparseColumn& column, std::size_t more) {
  if (!column.has_room_for(column.size + more))
    rebuild(column, SparseColumn::buckets_for(column.size + more));
}

// Moves a column to another number of buckets, without the slots of retired rows.
void SparseWeights::rebuild(SparseColumn& column, std::size_t n_buckets) {
  SparseColumn larger;
  larger.buckets =
      static_cast<SparseColumn::Bucket*>(arena_.allocate(SparseColumn::bytes(n_buckets)));
  larger.n_buckets = static_cast<std::uint32_t>(n_buckets);
  visit(column,
        [&](RowId row, float value, float accumulated) { larger.put(row, value, accumulated); });
  // What was not put again belonged to retired rows.
  for (std::size_t b = 0; larger.size < column.size && b < column.n_buckets; ++b)
    for (const std::uint32_t id : column.buckets[b].rows_plus_1)
      if (id != 0 && rows_[id - 1].retired) {
        rows_[id - 1].n_slots.fetch_sub(1, std::memory_order_relaxed);
        retired_slots_.fetch_sub(1, std::memory_order_relaxed);
      }
  if (column.buckets) arena_.release(column.buckets, SparseColumn::bytes(column.n_buckets));
  column.buckets = larger.buckets;
  column.n_buckets = larger.n_buckets;
  column.size = larger.size;
}

template <class Visit>
void SparseWeights::visit(const SparseColumn& column, Visit visit) const {
  if (retired_slots_.load(std::memory_order_relaxed) == 0) return column.visit(visit);
  column.visit([&](RowId row, float value, float accumulated) {
    if (!rows_[row].retired) visit(row, value, accumulated);
  });
}

void SparseWeights::scores(const RowId* rows, std::size_t n, const Example& x, float* out,
                           bool shared) const {
  if (n == 0) return;
  for (std::size_t i = 0; i < n; ++i) out[i] = bias_ ? relaxed_load(rows_[rows[i]].bias) : 0.0f;
  // One thread alone can fetch the next features' buckets while it works on this one's.
  const auto fetch = [&](std::size_t k) RECALLTREE_INLINED_LAMBDA {
    if (const SparseColumn* next = shared ? nullptr : column(x.keys, k))
      for (std::size_t i = 0; i < n; ++i) next->prefetch_value(rows[i]);
  };
  const std::size_t ahead = 1 + kInFlight / n;
  for (std::size_t k = 0; k < ahead; ++k) fetch(k);
  for (std::size_t k = 0; k < x.keys.size(); ++k) {
    fetch(k + ahead);
    SparseColumn* column = columns_.peek(x.keys[k]);
    if (column == nullptr) continue;
    SpinLock::Guard guard(column->lock, shared);
    if (column->buckets == nullptr) continue;
    const float z = x.values[k];
    for (std::size_t i = 0; i < n; ++i)
      if (const auto place = column->find(rows[i]); place.found)
        out[i] += relaxed_load(place.value()) * z;
  }
}

void SparseWeights::find_columns(const Example& x, Found& found) {
  if (!found.columns.empty()) return;
  for (const std::uint32_t key : x.keys) found.columns.push_back(&columns_.touch(key));
  found.buckets.assign(x.keys.size(), nullptr);
}

void SparseWeights::scores(const RowId* rows, std::size_t n, const Example& x, float* out,
                           Found& found) {
  if (n == 0) return;
  const std::size_t m = x.keys.size();
  find_columns(x, found);
  const std::size_t first = found.add_rows(rows, n);
  for (std::size_t i = 0; i < n; ++i) out[i] = bias_ ? rows_[rows[i]].bias : 0.0f;
  const auto fetch = [&](std::size_t k) RECALLTREE_INLINED_LAMBDA {
    if (k < m && found.columns[k]->buckets != nullptr)
      for (std::size_t i = 0; i < n; ++i) found.columns[k]->prefetch_value(rows[i]);
  };
  const std::size_t ahead = 1 + kInFlight / n;
  for (std::size_t k = 0; k < ahead; ++k) fetch(k);
  for (std::size_t k = 0; k < m; ++k) {
    fetch(k + ahead);
    const SparseColumn& column = *found.columns[k];
    if (column.buckets == nullptr) continue;
    if (found.buckets[k] != column.buckets) find_again(column, k, first, found);
    const float z = x.values[k];
    for (std::size_t i = 0; i < n; ++i) {
      const auto place = column.find(rows[i]);
      if (!place.found) continue;
      found.row(first + i)[k] = {&place.value(), &column.accumulator(place)};
      out[i] += place.value() * z;
    }
  }
}

void SparseWeights::scores_again(const RowId* rows, std::size_t n, const Example& x, float* out,
                                 const Found& found, std::size_t first) const {
  for (std::size_t i = 0; i < n; ++i) {
    const Found::Weight* const weights = found.row(first + i);
    float score = bias_ ? rows_[rows[i]].bias : 0.0f;
    for (std::size_t k = 0; k < x.keys.size(); ++k) {
      const SparseColumn& column = *found.columns[k];
      if (column.buckets == found.buckets[k]) {
        if (weights[k].value != nullptr) score += *weights[k].value * x.values[k];
      } else if (const auto place = column.find(rows[i]); place.found) {
        score += place.value() * x.values[k];
      }
    }
    out[i] = score;
  }
}

void SparseWeights::find_again(const SparseColumn& column, std::size_t k, std::size_t n,
                               Found& found) {
  found.buckets[k] = column.buckets;
  for (std::size_t i = 0; i < n; ++i) {
    Found::Weight& weight = found.row(i)[k] = {};
    if (found.rows[i] == kNoRow) continue;
    if (const auto place = column.find(found.rows[i]); place.found)
      weight = {&place.value(), &column.accumulator(place)};
  }
}

Found::Weight SparseWeights::weight_or_new(SparseColumn& column, RowId row) {
  const auto place = column.find(row);
  if (!place.found) {
    place.bucket->rows_plus_1[place.at] = row + 1;
    ++column.size;
    rows_[row].n_slots.fetch_add(1, std::memory_order_relaxed);
  }
  return {&place.value(), &column.accumulator(place)};
}

void SparseWeights::accumulate(const RowId* rows, std::size_t n, const Example& x,
                               const float* weighted_g2, Steps& steps, double* c, bool shared,
                               Found* found, std::size_t first) {
  const std::size_t m = x.keys.size();
  if (std::all_of(weighted_g2, weighted_g2 + n, [](float g2) { return g2 == 0.0f; })) return;
  const bool looked_up = found != nullptr && !found->columns.empty();
  if (!looked_up) {
    found = &steps.own;
    found->clear();
    find_columns(x, *found);
    first = found->add_rows(rows, n);
  }
  steps.found = found;
  steps.first = first;
  steps.r.reserve(m * n);
  // The values have just been read for the scores, but not their accumulators.
  const auto fetch = [&](std::size_t k) RECALLTREE_INLINED_LAMBDA {
    if (shared || k >= m || found->columns[k]->buckets == nullptr) return;
    for (std::size_t i = 0; i < n; ++i)
      if (weighted_g2[i] != 0.0f) found->columns[k]->prefetch_accumulator(rows[i]);
  };
  const std::size_t ahead = 1 + kInFlight / n;
  for (std::size_t k = 0; k < ahead; ++k) fetch(k);
  float moved[kBlock] = {}, G[kBlock] = {};
  for (std::size_t k = 0; k < m; ++k) {
    fetch(k + ahead);
    SparseColumn& column = *found->columns[k];
    SpinLock::Guard guard(column.lock, shared);
    const auto keep_up = [&] {
      if (found->buckets[k] == column.buckets) return;
      if (looked_up)
        find_again(column, k, found->rows.size(), *found);
      else
        found->buckets[k] = column.buckets;
    };
    keep_up();
    if (!column.has_room_for(column.size + n)) {
      // Nearly full: make room for those that learn and are really new.
      std::size_t missing = 0;
      for (std::size_t i = 0; i < n; ++i)
        missing += weighted_g2[i] != 0.0f &&
                   (looked_up ? found->row(first + i)[k].value == nullptr
                              : column.buckets == nullptr || !column.find(rows[i]).found);
      make_room(column, missing);
      keep_up();
    }
    for (std::size_t i = 0; i < n; ++i) {
      if (weighted_g2[i] == 0.0f) continue;
      Found::Weight& weight = found->row(first + i)[k];
      if (weight.value == nullptr) weight = weight_or_new(column, rows[i]);
      G[i] = relaxed_load(*weight.accumulator);
    }
    const float z = x.values[k];
    float* const r = steps.r.data() + k * n;
    for (std::size_t i = 0; i < n; ++i) {
      G[i] += weighted_g2[i] * (z * z);
      r[i] = z / std::sqrt(G[i] + kAccumulatorOffset);
      moved[i] += z * r[i];
    }
    for (std::size_t i = 0; i < n; ++i)
      if (weighted_g2[i] != 0.0f) relaxed_store(*found->row(first + i)[k].accumulator, G[i]);
  }
  for (std::size_t i = 0; i < n; ++i) {
    if (weighted_g2[i] == 0.0f) continue;
    if (bias_) {
      Row& row = rows_[rows[i]];
      const float sum = relaxed_load(row.bias_accumulator) + weighted_g2[i];
      relaxed_store(row.bias_accumulator, sum);
      steps.bias_r[i] = 1.0f / std::sqrt(sum + kAccumulatorOffset);
      moved[i] += steps.bias_r[i];
    }
    c[i] += moved[i];
  }
}

void SparseWeights::apply(const RowId* rows, std::size_t n, const Example& x,
                          const float* weighted_g2, const Steps& steps, const float* h,
                          const float* shrinkage, bool shared) {
  if (std::all_of(weighted_g2, weighted_g2 + n, [](float g2) { return g2 == 0.0f; })) return;
  for (std::size_t k = 0; k < x.keys.size(); ++k) {
    SparseColumn& column = *steps.found->columns[k];
    SpinLock::Guard guard(column.lock, shared);
    // Another part of the same models, or another thread, may have moved the feature to more
    // buckets.
    const bool stale = column.buckets != steps.found->buckets[k];
    for (std::size_t i = 0; i < n; ++i) {
      if (weighted_g2[i] == 0.0f) continue;
      const float r = steps.r.data()[k * n + i];
      float& weight =
          stale ? column.find(rows[i]).value() : *steps.found->row(steps.first + i)[k].value;
      float v = relaxed_load(weight);
      if (shrinkage[i] > 0.0f) v *= std::max(0.0f, 1.0f - shrinkage[i] * (r / x.values[k]));
      relaxed_store(weight, v + h[i] * r);
    }
  }
  for (std::size_t i = 0; bias_ && i < n; ++i) {
    if (weighted_g2[i] == 0.0f) continue;
    Row& row = rows_[rows[i]];
    relaxed_store(row.bias, relaxed_load(row.bias) + h[i] * steps.bias_r[i]);
  }
}

// A row's slots are spread over the features' columns, so that it is retired first and its slots
// are swept up together with those of others. Only for learners with one thread.
RowId SparseWeights::renew(RowId row) {
  rows_[row].retired = true;
  retired_.push_back(row);
  retired_slots_ += rows_[row].n_slots;
  if (retired_slots_ * SparseColumn::bytes(1) * 4 > arena_.used() * SparseColumn::kSlots) sweep();
  for (RowId& old : retired_) {
    if (rows_[old].n_slots != 0) continue;
    const RowId reused = old;
    old = retired_.back();
    retired_.pop_back();
    rows_[reused].bias = rows_[reused].bias_accumulator = 0.0f;
    rows_[reused].retired = false;
    return reused;
  }
  return add_row();
}

void SparseWeights::sweep() {
  for (std::size_t key = 0; key < columns_.size() && retired_slots_ > 0; ++key) {
    SparseColumn* column = columns_.peek(key);
    if (column == nullptr || column->buckets == nullptr) continue;
    std::size_t live = 0;
    visit(*column, [&](RowId, float, float) { ++live; });
    if (live < column->size) rebuild(*column, SparseColumn::buckets_for(live));
  }
}

RowContents SparseWeights::contents(RowId id) const {
  RowContents all;
  all.bias = rows_[id].bias;
  all.bias_accumulator = rows_[id].bias_accumulator;
  for (std::uint32_t key = 0; key < columns_.size(); ++key) {
    const SparseColumn* column = columns_.peek(key);
    if (column == nullptr || column->buckets == nullptr) continue;
    const auto place = column->find(id);
    if (!place.found) continue;
    all.keys.push_back(key);
    all.weights.push_back(place.value());
    all.accumulators.push_back(column->accumulator(place));
  }
  return all;
}

// By feature, and by row within a feature.
void SparseWeights::save(const std::string& name, State& state,
                         const std::vector<RowId>& kept) const {
  struct Entry {
    RowId row;
    float value, accumulated;
  };
  std::vector<std::uint64_t> offsets{0};
  std::vector<std::uint32_t> rows;
  std::vector<float> weights, accumulators, bias, bias_accumulators;
  std::vector<Entry> entries;
  std::vector<RowId> number(size(), kNoRow);
  for (std::size_t i = 0; i < kept.size(); ++i) number[kept[i]] = static_cast<RowId>(i);
  for (std::size_t key = 0; key < columns_.size(); ++key) {
    entries.clear();
    if (const SparseColumn* column = columns_.peek(key))
      visit(*column, [&](RowId row, float value, float accumulated) {
        if (number[row] != kNoRow) entries.push_back({number[row], value, accumulated});
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
  for (const RowId row : kept) {
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
    Row& row = rows_[add_row()];
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
      check(!column.find(rows[k]).found, ".rows' repeats a row");
      column.put(rows[k], weights[k], accumulators[k]);
      rows_[rows[k]].n_slots.fetch_add(1, std::memory_order_relaxed);
    }
  }
}

}  // namespace recalltree
