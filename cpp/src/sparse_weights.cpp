#include <algorithm>
#include <cmath>

#include "recalltree/intended_race.hpp"
#include "recalltree/weights.hpp"

namespace recalltree {
namespace {

// Where a row belongs: 2^32 / golden ratio spreads consecutive ids, the product maps them to the
// capacity.
inline std::size_t home(RowId row, std::size_t capacity) {
  return static_cast<std::size_t>((std::uint64_t{row * 0x9E3779B1u} * capacity) >> 32);
}
inline std::uint32_t load_id(const std::uint32_t& id) {
  return std::atomic_ref<std::uint32_t>(const_cast<std::uint32_t&>(id))
      .load(std::memory_order_acquire);
}
inline void store_id(std::uint32_t& id, std::uint32_t value) {
  std::atomic_ref<std::uint32_t>(id).store(value, std::memory_order_release);
}
inline void prefetch(const void* p) {
#if defined(__GNUC__) || defined(__clang__)
  __builtin_prefetch(p);
#else
  (void)p;
#endif
}

}  // namespace

RowId SparseWeights::add_row() {
  return static_cast<RowId>(rows_.add([](Row&) {}));
}

inline SparseWeights::Slot& SparseWeights::find(Table* table, RowId row) {
  Slot* slots = table->slots();
  const std::size_t capacity = table->capacity;
  for (std::size_t i = home(row, capacity);; i = i + 1 < capacity ? i + 1 : 0) {
    const std::uint32_t found = load_id(slots[i].row_plus_1);
    if (found == row + 1 || found == 0) return slots[i];
  }
}

// A table with room for `more` rows, at most four fifths full. The caller holds the column's lock;
// readers of the old table stay safe, since the arena keeps it until reclaim().
SparseWeights::Table* SparseWeights::with_room(Column& column, std::size_t more) {
  Table* old = column.table.load(std::memory_order_relaxed);
  const std::size_t needed = (old ? old->size : 0) + more;
  if (old && needed * 5 <= std::size_t{old->capacity} * 4) return old;
  return rebuild(column, needed + needed / 2 + 1);
}

// Moves a column to a table of another size, without the slots of retired rows.
SparseWeights::Table* SparseWeights::rebuild(Column& column, std::size_t capacity) {
  Table* old = column.table.load(std::memory_order_relaxed);
  auto* table = static_cast<Table*>(arena_.allocate(Table::bytes(capacity)));
  table->capacity = static_cast<std::uint32_t>(capacity);
  for (std::size_t i = 0; old && i < old->capacity; ++i) {
    const Slot& slot = old->slots()[i];
    if (slot.row_plus_1 == 0) continue;
    if (Row& row = rows_[slot.row_plus_1 - 1]; row.retired) {
      row.n_slots.fetch_sub(1, std::memory_order_relaxed);
      --retired_slots_;
      continue;
    }
    Slot& to = find(table, slot.row_plus_1 - 1);
    to.row_plus_1 = slot.row_plus_1;
    to.value = relaxed_load(slot.value);
    to.accumulator = relaxed_load(slot.accumulator);
    ++table->size;
  }
  column.table.store(table, std::memory_order_release);
  if (old) arena_.retire(old, Table::bytes(old->capacity));
  return table;
}

void SparseWeights::scores(const RowId* rows, std::size_t n, const Example& x, float* out) const {
  for (std::size_t i = 0; i < n; ++i) out[i] = bias_ ? relaxed_load(rows_[rows[i]].bias) : 0.0f;
  const std::size_t m = x.keys.size();
  // Two features ahead the table's head is fetched, one ahead the slots.
  const auto fetch_slots = [&](std::size_t k) {
    Table* next = k < m ? table(x.keys[k]) : nullptr;
    if (next == nullptr) return;
    for (std::size_t i = 0; i < n; ++i) prefetch(next->slots() + home(rows[i], next->capacity));
  };
  const auto fetch_head = [&](std::size_t k) {
    if (k < m) prefetch(table(x.keys[k]));
  };
  fetch_head(0), fetch_head(1), fetch_head(2);
  fetch_slots(0);
  for (std::size_t k = 0; k < m; ++k) {
    fetch_head(k + 3);
    fetch_slots(k + 1);
    Table* weights = table(x.keys[k]);
    if (weights == nullptr) continue;
    const float z = x.values[k];
    for (std::size_t i = 0; i < n; ++i)
      out[i] += relaxed_load(find(weights, rows[i]).value) * z;  // free slots hold 0
  }
}

void SparseWeights::accumulate(const RowId* rows, std::size_t n, const Example& x,
                               const float* weighted_g2, Steps& steps, double* c, bool shared) {
  const std::size_t m = x.keys.size();
  steps.r.reserve(m * kBlock);
  if (steps.targets.size() < m * kBlock) steps.targets.resize(m * kBlock);
  steps.tables.resize(m);
  std::size_t active = 0;
  float moved[kBlock] = {};
  for (std::size_t i = 0; i < n; ++i) active += weighted_g2[i] != 0.0f;
  if (active == 0) return;
  for (std::size_t k = 0; k < m; ++k) {
    Column& column = columns_.touch(x.keys[k]);
    const float z = x.values[k];
    float* r = steps.r.data() + k * kBlock;
    float** targets = steps.targets.data() + k * kBlock;
    SpinLock::Guard guard(column.lock, shared);
    Table* weights = column.table.load(std::memory_order_relaxed);
    if (weights == nullptr || (weights->size + active) * 5 > std::size_t{weights->capacity} * 4) {
      // Nearly full: make room for those that are really new.
      std::size_t missing = 0;
      for (std::size_t i = 0; i < n; ++i)
        missing += weighted_g2[i] != 0.0f &&
                   (weights == nullptr || find(weights, rows[i]).row_plus_1 == 0);
      if (missing > 0) weights = with_room(column, missing);
    }
    steps.tables[k] = weights;
    for (std::size_t i = 0; i < n; ++i) {
      if (weighted_g2[i] == 0.0f) continue;
      Slot& slot = find(weights, rows[i]);
      if (slot.row_plus_1 == 0) {
        store_id(slot.row_plus_1, rows[i] + 1);
        ++weights->size;
        rows_[rows[i]].n_slots.fetch_add(1, std::memory_order_relaxed);
      }
      const float G = relaxed_load(slot.accumulator) + weighted_g2[i] * (z * z);
      relaxed_store(slot.accumulator, G);
      r[i] = z / std::sqrt(G + kAccumulatorOffset);
      targets[i] = &slot.value;
      moved[i] += z * r[i];
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    if (weighted_g2[i] == 0.0f) continue;
    if (bias_) {
      Row& row = rows_[rows[i]];
      const float G = relaxed_load(row.bias_accumulator) + weighted_g2[i];
      relaxed_store(row.bias_accumulator, G);
      steps.bias_r[i] = 1.0f / std::sqrt(G + kAccumulatorOffset);
      moved[i] += steps.bias_r[i];
    }
    c[i] += moved[i];
  }
}

void SparseWeights::apply(const RowId* rows, std::size_t n, const Example& x,
                          const float* weighted_g2, const Steps& steps, const float* h,
                          const float* shrinkage, bool shared) {
  for (std::size_t k = 0; k < x.keys.size(); ++k) {
    // Another part of the same models, or another thread, may have moved the feature to a larger
    // table; while it moves, the lock keeps this step from getting lost.
    Column& column = columns_[x.keys[k]];
    SpinLock::Guard guard(column.lock, shared);
    Table* moved = column.table.load(std::memory_order_relaxed);
    if (moved == steps.tables[k]) moved = nullptr;
    for (std::size_t i = 0; i < n; ++i) {
      if (weighted_g2[i] == 0.0f) continue;
      const float r = steps.r.data()[k * kBlock + i];
      float* target = moved ? &find(moved, rows[i]).value : steps.targets[k * kBlock + i];
      float v = relaxed_load(*target);
      if (shrinkage[i] > 0.0f) v *= std::max(0.0f, 1.0f - shrinkage[i] * (r / x.values[k]));
      relaxed_store(*target, v + h[i] * r);
    }
  }
  for (std::size_t i = 0; bias_ && i < n; ++i) {
    if (weighted_g2[i] == 0.0f) continue;
    Row& row = rows_[rows[i]];
    relaxed_store(row.bias, relaxed_load(row.bias) + h[i] * steps.bias_r[i]);
  }
}

// A row's slots are spread over the features' tables, so that it is retired first and its slots are
// swept up together with those of others. Only for learners with one thread.
RowId SparseWeights::renew(RowId row) {
  rows_[row].retired = true;
  retired_.push_back(row);
  retired_slots_ += rows_[row].n_slots;
  if (retired_slots_ * Table::bytes(1) * 4 > arena_.used()) sweep();
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
    Column* column = columns_.peek(key);
    Table* old = column ? column->table.load(std::memory_order_relaxed) : nullptr;
    std::size_t dead = 0;
    for (std::size_t i = 0; old && i < old->capacity; ++i)
      dead += old->slots()[i].row_plus_1 != 0 && rows_[old->slots()[i].row_plus_1 - 1].retired;
    if (dead > 0) rebuild(*column, (old->size - dead) * 5 / 4 + 2);
  }
}

RowContents SparseWeights::contents(RowId id) const {
  RowContents all;
  all.bias = rows_[id].bias;
  all.bias_accumulator = rows_[id].bias_accumulator;
  for (std::uint32_t key = 0; key < columns_.size(); ++key) {
    Table* weights = table(key);
    if (weights == nullptr) continue;
    const Slot& slot = find(weights, id);
    if (slot.row_plus_1 == 0) continue;
    all.keys.push_back(key);
    all.weights.push_back(slot.value);
    all.accumulators.push_back(slot.accumulator);
  }
  return all;
}

// By feature, and by row within a feature.
void SparseWeights::save(const std::string& name, State& state) const {
  std::vector<std::uint64_t> offsets{0};
  std::vector<std::uint32_t> rows;
  std::vector<float> weights, accumulators, bias, bias_accumulators;
  std::vector<const Slot*> used;
  for (std::uint32_t key = 0; key < columns_.size(); ++key) {
    used.clear();
    if (Table* column = table(key))
      for (std::size_t i = 0; i < column->capacity; ++i)
        if (const Slot& slot = column->slots()[i];
            slot.row_plus_1 != 0 && !rows_[slot.row_plus_1 - 1].retired)
          used.push_back(&slot);
    std::sort(used.begin(), used.end(),
              [](const Slot* a, const Slot* b) { return a->row_plus_1 < b->row_plus_1; });
    for (const Slot* slot : used) {
      rows.push_back(slot->row_plus_1 - 1);
      weights.push_back(slot->value);
      accumulators.push_back(slot->accumulator);
    }
    offsets.push_back(rows.size());
  }
  for (std::size_t i = 0; i < size(); ++i) {
    bias.push_back(rows_[i].bias);
    bias_accumulators.push_back(rows_[i].bias_accumulator);
  }
  state.put(name + ".offsets", offsets);
  state.put(name + ".rows", rows);
  state.put(name + ".weights", weights);
  state.put(name + ".accumulators", accumulators);
  state.put(name + ".bias", bias);
  state.put(name + ".bias_accumulators", bias_accumulators);
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
    Table* column = with_room(columns_.touch(key), offsets[key + 1] - offsets[key]);
    for (std::size_t k = offsets[key]; k < offsets[key + 1]; ++k) {
      check(rows[k] < size(), ".rows' names a row that does not exist");
      Slot& slot = find(column, rows[k]);
      check(slot.row_plus_1 == 0, ".rows' repeats a row");
      slot = {rows[k] + 1, weights[k], accumulators[k]};
      rows_[rows[k]].n_slots.fetch_add(1, std::memory_order_relaxed);
      ++column->size;
    }
  }
}

}  // namespace recalltree
