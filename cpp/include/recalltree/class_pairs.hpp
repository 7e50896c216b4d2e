// What a class knows of its keys: of every pair (class, key) that an example had, the exact count,
// the weight of the class's linear predictor and the AdaGrad accumulator of that weight.
//
// One small open-addressing table per class, in one piece of memory: an example asks each of its
// few candidates for the same few keys, so that a class costs a few neighbouring cache lines. Keys,
// then counts with weights, then accumulators, so that prediction reads no accumulators and a key
// that is not there costs one line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "arena.hpp"
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
      const std::uint32_t* keys = this->keys();
      for (std::uint32_t i = home(key);; i = (i + 1) & (capacity_ - 1)) {
        if (keys[i] == key + 1) return i;
        if (keys[i] == 0) return kNone;
      }
    }
    Values& values(std::uint32_t slot) { return this->values()[slot]; }
    const Values& values(std::uint32_t slot) const { return this->values()[slot]; }
    float& accumulator(std::uint32_t slot) { return this->accumulators()[slot]; }
    float accumulator(std::uint32_t slot) const { return this->accumulators()[slot]; }

    void prefetch(std::uint32_t key) const {
      if (capacity_ != 0) recalltree::prefetch(keys() + home(key));
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
    std::uint32_t home(std::uint32_t key) const { return (key * 0x9E3779B1u) >> shift_; }
    std::uint32_t* keys() const { return reinterpret_cast<std::uint32_t*>(block_); }
    Values* values() const { return reinterpret_cast<Values*>(keys() + capacity_); }
    float* accumulators() const { return reinterpret_cast<float*>(values() + capacity_); }
    std::uint32_t insert(std::uint32_t key) {
      std::uint32_t i = home(key);
      while (keys()[i] != 0) i = (i + 1) & (capacity_ - 1);
      keys()[i] = key + 1;
      ++size_;
      return i;
    }

    std::byte* block_ = nullptr;
    std::uint32_t capacity_ = 0, shift_ = 32, size_ = 0;
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

  // By class, sorted by key.
  void save(State& state) const;
  // Of a state that has been checked.
  void load(const State& state);

  std::size_t bytes() const { return tables_.bytes() + arena_.used(); }

 private:
  static std::uint32_t capacity_for(std::uint32_t pairs);
  // Moves the pairs of a table into one of another size.
  void rebuild(Table& table, std::uint32_t capacity);

  Arena arena_;
  StableVector<Table> tables_;
};

}  // namespace recalltree
