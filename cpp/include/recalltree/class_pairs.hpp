// What a class knows of its keys: of every pair (class, key) that an example had, the exact count,
// the weight of the class's linear predictor and the AdaGrad accumulator of that weight.
//
// One small open-addressing table per class, in one piece of memory: an example asks each of its
// few candidates for the same few keys, so that a class costs a few neighbouring cache lines.
// Counts with weights, then keys, then accumulators, so that prediction reads no accumulators.
// Slots come in groups of eight, filled from the first on: what a group knows is one cache line,
// and its keys are compared at once.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "arena.hpp"
#include "group_of_ids.hpp"
#include "intended_race.hpp"
#include "prefetch.hpp"
#include "spin_lock.hpp"
#include "stable_vector.hpp"
#include "state.hpp"
#include "types.hpp"

namespace recalltree {

class ClassPairs {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  struct Values {
    float count = 0.0f, weight = 0.0f;
  };

  // The pairs of one class. Guarded by the lock while several threads learn.
  class Table {
   public:
    std::size_t size() const { return size_; }

    // Slot of a key, or kNone.
    std::uint32_t find(std::uint32_t key) const {
      if (capacity_ == 0) return kNone;
      const auto [group, here] = look_up(key);
      return here != 0 ? group + static_cast<std::uint32_t>(std::countr_zero(here)) : kNone;
    }
    // What is known of a key, all 0 if nothing is. Whether something is cannot be foreseen, so that
    // nothing branches on it.
    Values known(std::uint32_t key) const {
      static constexpr Values kNothing{};
      if (capacity_ == 0) return kNothing;
      const auto [group, here] = look_up(key);
      const auto all = std::uintptr_t{0} - static_cast<std::uintptr_t>(here != 0);
      const Values* const pair = values() + group + std::countr_zero(here | 1u << kIdsInGroup);
      return *reinterpret_cast<const Values*>((reinterpret_cast<std::uintptr_t>(pair) & all) |
                                              (reinterpret_cast<std::uintptr_t>(&kNothing) & ~all));
    }
    Values& values(std::uint32_t slot) { return this->values()[slot]; }
    const Values& values(std::uint32_t slot) const { return this->values()[slot]; }
    float& accumulator(std::uint32_t slot) { return this->accumulators()[slot]; }
    float accumulator(std::uint32_t slot) const { return this->accumulators()[slot]; }

    // Needs no lock: where another thread moves the pairs meanwhile, it is of no use, and no harm.
    void prefetch(std::uint32_t key) const {
      const std::uint32_t capacity = relaxed_load(capacity_);
      if (capacity == 0) return;
      const std::byte* const block = relaxed_load(block_);
      const std::uint32_t group = home(key, capacity);
      recalltree::prefetch(block + sizeof(Values) * capacity + sizeof(std::uint32_t) * group);
      recalltree::prefetch(block + sizeof(Values) * group);
    }

    // Calls visit(key, slot) for all pairs.
    template <class Visit>
    void visit(Visit visit) const {
      for (std::uint32_t i = 0; i < capacity_; ++i)
        if (keys()[i] != 0) visit(keys()[i] - 1, i);
    }

    SpinLock lock;

   private:
    friend class ClassPairs;
    static std::size_t bytes(std::uint32_t capacity) {
      return capacity * (sizeof(std::uint32_t) + sizeof(Values) + sizeof(float));
    }
    // First slot of the group in which a key is looked for first, and of the one after it.
    static std::uint32_t home(std::uint32_t key, std::uint32_t capacity) {
      const std::uint32_t groups = capacity / kIdsInGroup;
      return static_cast<std::uint32_t>(std::uint64_t{key * 0x9E3779B1u} * groups >> 32) *
             kIdsInGroup;
    }
    std::uint32_t home(std::uint32_t key) const { return home(key, capacity_); }
    std::uint32_t next(std::uint32_t group) const {
      return group + kIdsInGroup == capacity_ ? 0 : group + kIdsInGroup;
    }
    // The group in which the search for a key ends, and as bits where the key is in it, if it is.
    struct Place {
      std::uint32_t group;
      unsigned here;
    };
    Place look_up(std::uint32_t key) const {
      for (std::uint32_t group = home(key);; group = next(group)) {
        const std::uint32_t* const keys = this->keys() + group;
        const unsigned here = matches(keys, key + 1), is_full = keys[kIdsInGroup - 1] != 0;
        if ((here | (is_full ^ 1u)) != 0) return {group, here};
      }
    }
    Values* values() const { return reinterpret_cast<Values*>(block_); }
    std::uint32_t* keys() const { return reinterpret_cast<std::uint32_t*>(values() + capacity_); }
    float* accumulators() const { return reinterpret_cast<float*>(keys() + capacity_); }
    std::uint32_t insert(std::uint32_t key) {
      std::uint32_t group = home(key);
      while (keys()[group + kIdsInGroup - 1] != 0) group = next(group);
      const std::uint32_t slot =
          group + static_cast<std::uint32_t>(std::countr_zero(matches(keys() + group, 0)));
      keys()[slot] = key + 1;
      ++size_;
      return slot;
    }

    std::byte* block_ = nullptr;
    std::uint32_t capacity_ = 0, size_ = 0;
  };

  std::size_t size() const { return tables_.size(); }
  void grow_to(std::size_t classes) {
    while (tables_.size() < classes) tables_.add([](Table&) {});
  }
  Table& operator[](ClassId y) { return tables_[y]; }
  const Table& operator[](ClassId y) const { return tables_[y]; }

  // Slot of a key, made if need be. Slots found before are then not valid any more.
  std::uint32_t find_or_add(Table& table, std::uint32_t key);
  // All counts times a factor.
  void rescale(float factor);
  // Leaves only the pairs for which keep(key, values) is true, in a table of the size that suits
  // them.
  template <class Keep>
  void filter(Table& table, Keep keep);

  // By class, sorted by key.
  void save(State& state) const;
  // Of a state that has been checked.
  void load(const State& state);

  std::size_t bytes() const { return bytes(size()); }
  // If there were so many classes, none of the others having a pair.
  std::size_t bytes(std::size_t classes) const {
    return StableVector<Table>::bytes(classes) + arena_.used();
  }
  Arena& arena() { return arena_; }
  const Arena& arena() const { return arena_; }

 private:
  static std::uint32_t capacity_for(std::uint32_t pairs);
  // Moves the pairs of a table for which keep(key, values) is true into one of another size.
  template <class Keep>
  void rebuild(Table& table, std::uint32_t capacity, Keep keep);

  Arena arena_;
  StableVector<Table> tables_;
};

template <class Keep>
void ClassPairs::filter(Table& table, Keep keep) {
  std::uint32_t kept = 0;
  table.visit(
      [&](std::uint32_t key, std::uint32_t slot) { kept += keep(key, table.values(slot)); });
  if (kept < table.size_) rebuild(table, capacity_for(kept), keep);
}

template <class Keep>
void ClassPairs::rebuild(Table& table, std::uint32_t capacity, Keep keep) {
  Table old;
  old.block_ = table.block_;
  old.capacity_ = table.capacity_;
  void* const block = capacity ? arena_.allocate(Table::bytes(capacity)) : nullptr;
  relaxed_store(table.block_, static_cast<std::byte*>(block));
  relaxed_store(table.capacity_, capacity);
  table.size_ = 0;
  old.visit([&](std::uint32_t key, std::uint32_t slot) {
    if (!keep(key, old.values(slot))) return;
    const std::uint32_t to = table.insert(key);
    table.values(to) = old.values(slot);
    table.accumulator(to) = old.accumulator(slot);
  });
  if (old.block_ != nullptr) arena_.release(old.block_, Table::bytes(old.capacity_));
}

}  // namespace recalltree
