#include <algorithm>
#include <cmath>
#include <numeric>

#include "recalltree/intended_race.hpp"
#include "recalltree/weights.hpp"

namespace recalltree {
namespace {

constexpr std::uint32_t kGolden = 0x9E3779B1u;  // 2^32 / golden ratio: spreads consecutive keys

inline std::uint32_t load_key(const std::uint32_t& key) {
  return std::atomic_ref<std::uint32_t>(const_cast<std::uint32_t&>(key)).load(std::memory_order_acquire);
}
inline void store_key(std::uint32_t& key, std::uint32_t value) {
  std::atomic_ref<std::uint32_t>(key).store(value, std::memory_order_release);
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

std::size_t SparseWeights::find(Table* table, std::uint32_t key) {
  const Slot* slots = table->slots();
  const std::size_t mask = table->capacity - 1;
  std::size_t i = (key * kGolden) >> table->shift;
  for (;;) {
    const std::uint32_t found = load_key(slots[i].key_plus_1);
    if (found == key + 1 || found == 0) return i;
    i = (i + 1) & mask;
  }
}

// At most three quarters full after `more` insertions. The caller holds the row's lock; readers of the old table stay safe, since the arena
// keeps it until reclaim().
SparseWeights::Table* SparseWeights::with_room(Row& row, std::size_t more) {
  Table* old = row.table.load(std::memory_order_relaxed);
  const std::size_t needed = (old ? old->size : 0) + more;
  if (old && needed * 4 <= std::size_t{old->capacity} * 3) return old;
  const std::size_t capacity = std::bit_ceil(std::max<std::size_t>(8, (needed * 4 + 2) / 3));
  auto* table = static_cast<Table*>(arena_.allocate(Table::bytes(capacity)));
  table->shift = 32 - static_cast<std::uint32_t>(std::countr_zero(capacity));
  table->capacity = static_cast<std::uint32_t>(capacity);
  if (old) {
    table->size = old->size;
    for (std::size_t i = 0; i < old->capacity; ++i) {
      const Slot& slot = old->slots()[i];
      if (slot.key_plus_1 == 0) continue;
      const std::size_t to = find(table, slot.key_plus_1 - 1);
      table->slots()[to].key_plus_1 = slot.key_plus_1;
      table->slots()[to].value = relaxed_load(slot.value);
      table->accumulators()[to] = relaxed_load(old->accumulators()[i]);
    }
  }
  row.table.store(table, std::memory_order_release);
  if (old) arena_.retire(old, Table::bytes(old->capacity));
  return table;
}

void SparseWeights::scores(const RowId* rows, std::size_t n, const Example& x, float* out) const {
  const std::size_t m = x.keys.size();
  const std::uint32_t* keys = x.keys.data();
  const float* values = x.values.data();
  const auto fetch = [&](std::size_t i) {
    Table* table = rows_[rows[i]].table.load(std::memory_order_acquire);
    if (table == nullptr) return;
    for (std::size_t k = 0; k < m; ++k) prefetch(table->slots() + ((keys[k] * kGolden) >> table->shift));
  };
  for (std::size_t i = 0; i < std::min<std::size_t>(n, 8); ++i)
    prefetch(rows_[rows[i]].table.load(std::memory_order_acquire));
  if (n > 0) fetch(0);
  for (std::size_t i = 0; i < n; ++i) {
    if (i + 8 < n) prefetch(rows_[rows[i + 8]].table.load(std::memory_order_acquire));
    if (i + 1 < n) fetch(i + 1);
    const Row& row = rows_[rows[i]];
    float sum = bias_ ? relaxed_load(row.bias) : 0.0f;
    if (Table* table = row.table.load(std::memory_order_acquire)) {
      for (std::size_t k = 0; k < m; ++k) {
        const Slot& slot = table->slots()[find(table, keys[k])];
        sum += relaxed_load(slot.value) * values[k];  // a free slot holds zero
      }
    }
    out[i] = sum;
  }
}

float SparseWeights::accumulate(RowId id, const Example& x, float weighted_g2, Step& step, bool shared) {
  Row& row = rows_[id];
  const std::size_t m = x.keys.size();
  step.r.reserve(m);
  step.targets.resize(m);
  float c = 0.0f;
  {
    SpinLock::Guard guard(row.lock, shared);
    Table* table = with_room(row, m);
    for (std::size_t k = 0; k < m; ++k) {
      const std::size_t i = find(table, x.keys[k]);
      Slot& slot = table->slots()[i];
      if (slot.key_plus_1 == 0) {
        store_key(slot.key_plus_1, x.keys[k] + 1);
        ++table->size;
      }
      const float z = x.values[k];
      float& accumulator = table->accumulators()[i];
      const float G = relaxed_load(accumulator) + weighted_g2 * (z * z);
      relaxed_store(accumulator, G);
      const float r = z / std::sqrt(G + kAccumulatorOffset);
      step.r.data()[k] = r;
      step.targets[k] = &slot.value;
      c += z * r;
    }
  }
  if (bias_) {
    const float G = relaxed_load(row.bias_accumulator) + weighted_g2;
    relaxed_store(row.bias_accumulator, G);
    step.bias_r = 1.0f / std::sqrt(G + kAccumulatorOffset);
    c += step.bias_r;
  }
  return c;
}

void SparseWeights::apply(RowId id, const Example& x, const Step& step, float h, float shrinkage) {
  Row& row = rows_[id];
  for (std::size_t k = 0; k < x.keys.size(); ++k) {
    const float r = step.r.data()[k];
    float v = relaxed_load(*step.targets[k]);
    if (shrinkage > 0.0f) v *= std::max(0.0f, 1.0f - shrinkage * (r / x.values[k]));
    relaxed_store(*step.targets[k], v + h * r);
  }
  if (bias_) relaxed_store(row.bias, relaxed_load(row.bias) + h * step.bias_r);
}

void SparseWeights::clear_row(RowId id) {
  Row& row = rows_[id];
  if (Table* table = row.table.exchange(nullptr)) arena_.retire(table, Table::bytes(table->capacity));
  row.bias = row.bias_accumulator = 0.0f;
}

RowContents SparseWeights::contents(RowId id) const {
  const Row& row = rows_[id];
  RowContents all;
  all.bias = row.bias;
  all.bias_accumulator = row.bias_accumulator;
  Table* table = row.table.load(std::memory_order_acquire);
  if (table == nullptr) return all;
  std::vector<std::size_t> used;
  for (std::size_t i = 0; i < table->capacity; ++i)
    if (table->slots()[i].key_plus_1 != 0) used.push_back(i);
  std::sort(used.begin(), used.end(), [&](std::size_t a, std::size_t b) {
    return table->slots()[a].key_plus_1 < table->slots()[b].key_plus_1;
  });
  for (std::size_t i : used) {
    all.keys.push_back(table->slots()[i].key_plus_1 - 1);
    all.weights.push_back(table->slots()[i].value);
    all.accumulators.push_back(table->accumulators()[i]);
  }
  return all;
}

void SparseWeights::save(const std::string& name, State& state) const {
  std::vector<std::uint64_t> offsets{0};
  std::vector<std::uint32_t> keys;
  std::vector<float> weights, accumulators, bias, bias_accumulators;
  for (std::size_t i = 0; i < size(); ++i) {
    const RowContents row = contents(static_cast<RowId>(i));
    keys.insert(keys.end(), row.keys.begin(), row.keys.end());
    weights.insert(weights.end(), row.weights.begin(), row.weights.end());
    accumulators.insert(accumulators.end(), row.accumulators.begin(), row.accumulators.end());
    bias.push_back(row.bias);
    bias_accumulators.push_back(row.bias_accumulator);
    offsets.push_back(keys.size());
  }
  state.put(name + ".offsets", offsets);
  state.put(name + ".keys", keys);
  state.put(name + ".weights", weights);
  state.put(name + ".accumulators", accumulators);
  state.put(name + ".bias", bias);
  state.put(name + ".bias_accumulators", bias_accumulators);
}

void SparseWeights::load(const std::string& name, const State& state) {
  const auto bias = state.get<float>(name + ".bias");
  const auto bias_accumulators = state.get<float>(name + ".bias_accumulators", bias.size());
  const auto offsets = state.get<std::uint64_t>(name + ".offsets", bias.size() + 1);
  const auto keys = state.get<std::uint32_t>(name + ".keys");
  const auto weights = state.get<float>(name + ".weights", keys.size());
  const auto accumulators = state.get<float>(name + ".accumulators", keys.size());
  for (std::size_t i = 0; i < bias.size(); ++i) {
    Row& row = rows_[add_row()];
    row.bias = bias[i];
    row.bias_accumulator = bias_accumulators[i];
    if (offsets[i + 1] < offsets[i] || offsets[i + 1] > keys.size())
      throw std::invalid_argument("state: array '" + name + ".offsets' is not increasing");
    if (offsets[i + 1] == offsets[i]) continue;
    Table* table = with_room(row, offsets[i + 1] - offsets[i]);
    for (std::size_t k = offsets[i]; k < offsets[i + 1]; ++k) {
      const std::size_t at = find(table, keys[k]);
      if (table->slots()[at].key_plus_1 != 0)
        throw std::invalid_argument("state: array '" + name + ".keys' repeats a key");
      table->slots()[at] = {keys[k] + 1, weights[k]};
      table->accumulators()[at] = accumulators[k];
      ++table->size;
    }
  }
}

}  // namespace recalltree
