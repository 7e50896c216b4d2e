// The weights of one feature: a hash table from models to weights. A bucket is one cache line, so
// that reading a weight costs at most one miss.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "recalltree/base/hints.hpp"
#include "recalltree/base/probing.hpp"
#include "recalltree/base/types.hpp"
#include "recalltree/kernels/groups.hpp"

namespace recalltree {

// The table as it is read. Whoever made it owns the buckets.
struct SparseBuckets {
  static constexpr std::size_t kSlots = kIdsInGroup;
  // Number of consecutive models that lie together. More of them would crowd a bucket.
  static constexpr ModelId kNeighbours = 4;
  struct alignas(64) Bucket {
    std::uint32_t models_plus_1[kSlots];  // filled from the front; 0: free
    float values[kSlots];                 // 0 where free
  };

  Bucket* buckets = nullptr;
  std::uint32_t n_buckets = 0;
  std::uint32_t n_models = 0;

  bool empty() const { return buckets == nullptr; }
  std::size_t size() const { return n_models; }
  // Half a cache line for every question costs more than all lines, one after the other.
  bool is_read_whole(std::size_t asked) const { return asked > 2 * std::size_t{n_buckets}; }
  void prefetch(ModelId model) const { recalltree::prefetch(home(model)); }

  // Bucket of a model, which is also that of its neighbours.
  Bucket* home(ModelId model) const { return buckets + home_of(model / kNeighbours, n_buckets); }
  // The one that is tried when a bucket is full.
  Bucket* after(Bucket* bucket) const { return ++bucket == buckets + n_buckets ? buckets : bucket; }
  static bool is_full(const Bucket* bucket) { return bucket->models_plus_1[kSlots - 1] != 0; }

  // The weight of a model, or null. There are buckets.
  float* find(ModelId model) const {
    for (Bucket* bucket = home(model);; bucket = after(bucket)) {
      if (const unsigned here = matches(bucket->models_plus_1, model + 1))
        return bucket->values + std::countr_zero(here);
      if (!is_full(bucket)) return nullptr;
    }
  }

  // Calls visit(model, weight) for all models.
  template <class Visit>
  void visit(Visit visit) const {
    for (const Bucket* bucket = buckets; bucket != buckets + n_buckets; ++bucket)
      for (std::size_t i = 0; i < kSlots && bucket->models_plus_1[i] != 0; ++i)
        visit(bucket->models_plus_1[i] - 1, bucket->values[i]);
  }
};

// Models whose weights lie together have one owner: their lines of the cache stay with a thread.
inline std::uint32_t neighbourhood_of(ModelId model) { return model / SparseBuckets::kNeighbours; }

struct SparseColumn : SparseBuckets {
  // As when columns had a lock: models with a memory budget forget when they did then.
  static constexpr std::size_t kCountedBytes = 24;
  struct Accumulators {
    float of[kSlots];
  };

  static std::size_t bytes(std::size_t n_buckets) {
    return n_buckets * (sizeof(Bucket) + sizeof(Accumulators));
  }
  // At most two thirds full: hardly any model is then found past the bucket where it belongs.
  bool has_room_for(std::size_t models) const {
    return models * 3 <= std::size_t{n_buckets} * kSlots * 2;
  }
  // Buckets that have room for this many models, a power of two: few sizes, so that the arena can
  // reuse what was outgrown, and few moves on the way to a large one.
  static std::size_t buckets_for(std::size_t models) {
    return std::bit_ceil(models * 3 / (2 * kSlots) + 1);
  }

  // They follow the buckets.
  Accumulators* accumulators() const {
    return reinterpret_cast<Accumulators*>(buckets + n_buckets);
  }
  // Accumulator of a weight in one of the buckets.
  float* accumulator(const float* weight) const {
    constexpr std::size_t kStride = sizeof(Bucket) / sizeof(float);
    const auto at = static_cast<std::size_t>(weight - reinterpret_cast<const float*>(buckets));
    return accumulators()[at / kStride].of + (at % kStride - kSlots);
  }

  bool holds(const float* weight) const {
    const auto at = reinterpret_cast<std::uintptr_t>(weight);
    const auto begin = reinterpret_cast<std::uintptr_t>(buckets);
    return at >= begin && at < begin + n_buckets * sizeof(Bucket);
  }

  // The weight of a model that has none yet, where there is room: 0, with an accumulator of 0.
  float* add(ModelId model) {
    Bucket* bucket = home(model);
    while (is_full(bucket)) bucket = after(bucket);
    const int free = std::countr_zero(matches(bucket->models_plus_1, 0));
    bucket->models_plus_1[free] = model + 1;
    ++n_models;
    return bucket->values + free;
  }
  void put(ModelId model, float value, float accumulated) {
    float* const weight = add(model);
    *weight = value;
    *accumulator(weight) = accumulated;
  }

  // Calls visit(model, value, accumulator) for all models.
  template <class Visit>
  void visit(Visit visit) const {
    for (std::size_t b = 0; b < n_buckets; ++b) {
      const Bucket& bucket = buckets[b];
      for (std::size_t i = 0; i < kSlots && bucket.models_plus_1[i] != 0; ++i)
        visit(bucket.models_plus_1[i] - 1, bucket.values[i], accumulators()[b].of[i]);
    }
  }
};

}  // namespace recalltree
