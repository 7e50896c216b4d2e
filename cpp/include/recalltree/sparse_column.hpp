// The weights of one feature: a hash table from rows to weights. A bucket is one cache line, so
// that reading a weight costs at most one miss.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "group_of_ids.hpp"
#include "intended_race.hpp"
#include "prefetch.hpp"
#include "spin_lock.hpp"
#include "types.hpp"

namespace recalltree {

// Whoever made it owns the buckets. Guarded by the lock while several threads learn.
struct SparseColumn {
  static constexpr std::size_t kSlots = kIdsInGroup;
  struct alignas(64) Bucket {
    std::uint32_t rows_plus_1[kSlots];  // filled from the front; 0: free
    float values[kSlots];               // 0 where free
  };
  struct Accumulators {
    float of[kSlots];
  };
  // A row's place, or the free one where it belongs.
  struct Place {
    Bucket* bucket;
    std::size_t at;
    bool found;
    float& value() const { return bucket->values[at]; }
  };

  Bucket* buckets = nullptr;  // followed by as many Accumulators
  std::uint32_t n_buckets = 0, size = 0;
  SpinLock lock;

  static std::size_t bytes(std::size_t n_buckets) {
    return n_buckets * (sizeof(Bucket) + sizeof(Accumulators));
  }
  // At most four fifths full: few rows are then found past the bucket where they belong.
  bool has_room_for(std::size_t rows) const {
    return rows * 5 <= std::size_t{n_buckets} * kSlots * 4;
  }
  // Buckets that have room for so many rows, a number of at most two significant bits: few sizes,
  // so that the arena can reuse what was outgrown, and few moves on the way to a large one.
  static std::size_t buckets_for(std::size_t rows) {
    const std::size_t n = rows * 5 / (4 * kSlots) + 1;
    const int shift = std::max(0, static_cast<int>(std::bit_width(n)) - 2);
    return ((n + (std::size_t{1} << shift) - 1) >> shift) << shift;
  }

  Accumulators* accumulators() const {
    return reinterpret_cast<Accumulators*>(buckets + n_buckets);
  }
  float& accumulator(const Place& place) const {
    return accumulators()[place.bucket - buckets].of[place.at];
  }

  // Where a row belongs: 2^32 / golden ratio spreads consecutive ids, the product maps them to the
  // buckets.
  std::size_t home(RowId row) const {
    return static_cast<std::size_t>((std::uint64_t{row * 0x9E3779B1u} * n_buckets) >> 32);
  }
  void prefetch_value(RowId row) const { prefetch(buckets + home(row)); }
  void prefetch_accumulator(RowId row) const { prefetch(accumulators() + home(row)); }

  Place find(RowId row) const {
    for (std::size_t b = home(row);; b = b + 1 < n_buckets ? b + 1 : 0) {
      Bucket& bucket = buckets[b];
      if (const unsigned here = matches(bucket.rows_plus_1, row + 1))
        return {&bucket, static_cast<std::size_t>(std::countr_zero(here)), true};
      if (bucket.rows_plus_1[kSlots - 1] == 0) {
        const unsigned free = matches(bucket.rows_plus_1, 0);
        return {&bucket, static_cast<std::size_t>(std::countr_zero(free)), false};
      }
    }
  }

  // A row that is not there yet, where there is room.
  void put(RowId row, float value, float accumulated) {
    std::size_t b = home(row);
    while (buckets[b].rows_plus_1[kSlots - 1] != 0) b = b + 1 < n_buckets ? b + 1 : 0;
    const unsigned free = matches(buckets[b].rows_plus_1, 0);
    const Place place{buckets + b, static_cast<std::size_t>(std::countr_zero(free)), false};
    place.bucket->rows_plus_1[place.at] = row + 1;
    place.value() = value;
    accumulator(place) = accumulated;
    ++size;
  }

  // Calls visit(row, value, accumulator) for all rows.
  template <class Visit>
  void visit(Visit visit) const {
    for (std::size_t b = 0; b < n_buckets; ++b) {
      const Bucket& bucket = buckets[b];
      for (std::size_t i = 0; i < kSlots && bucket.rows_plus_1[i] != 0; ++i)
        visit(bucket.rows_plus_1[i] - 1, relaxed_load(bucket.values[i]),
              relaxed_load(accumulators()[b].of[i]));
    }
  }
};

}  // namespace recalltree
