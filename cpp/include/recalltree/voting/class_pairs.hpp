// Pairs (class, key) that examples had: the exact count, the weight of the class's linear predictor
// and the AdaGrad accumulator of that weight.
//
// One small table per class, in one piece of memory: an example asks each of its few candidates for
// the same few keys. First come the tags, then the pairs, of which four are a cache line and which
// are read where a tag fits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "recalltree/base/arena.hpp"
#include "recalltree/base/fields.hpp"
#include "recalltree/base/hints.hpp"
#include "recalltree/base/stable_vector.hpp"
#include "recalltree/base/types.hpp"
#include "recalltree/voting/tagged_slots.hpp"

namespace recalltree {

// Pairs by class, sorted by key.
template <template <class> class List>
struct PairArrays {
  std::size_t n_classes = 0;
  List<std::uint64_t> offsets;
  List<std::uint32_t> keys;
  List<float> counts;
  List<Narrowable> weights;
  List<float> accumulators;

  template <class Self, class Visit>
  static void fields(Self& self, Visit visit) {
    visit("pairs.offsets", self.offsets, {.length = self.n_classes + 1});
    visit("pairs.keys", self.keys);
    const std::size_t n = self.keys.size();
    visit("pairs.counts", self.counts, {.length = n});
    visit("pairs.weights", self.weights, {.length = n});
    visit("pairs.accumulators", self.accumulators, {.length = n, .for_learning = true});
  }
};

class ClassPairs {
 public:
  static constexpr std::uint32_t kNone = TaggedSlots::kNone;

  struct Pair {
    std::uint32_t key_plus_1 = 0;  // 0: none
    float count = 0.0f, weight = 0.0f, accumulator = 0.0f;

    std::uint32_t key() const { return key_plus_1 - 1; }
  };

  // The pairs of one class.
  class Table {
   public:
    // As when tables had a lock: models with a memory budget forget when they did then.
    static constexpr std::size_t kCountedBytes = 24;

    std::size_t size() const { return size_; }

    // Slot of a key, or kNone.
    std::uint32_t find(std::uint32_t key) const {
      return slots().find(key,
                          [&](std::uint32_t slot) { return pairs()[slot].key_plus_1 == key + 1; });
    }
    // Place of a key if it is here, or kNone, which is certain. No pair is read.
    std::uint32_t guess(std::uint32_t key) const { return slots().guess(key); }
    // Slot of a key that was found or guessed, perhaps before the pairs moved; or kNone.
    std::uint32_t find(std::uint32_t key, std::uint32_t guessed) const {
      if (guessed < capacity_ && pairs()[guessed].key_plus_1 == key + 1) return guessed;
      return find(key);
    }
    Pair& operator[](std::uint32_t slot) { return pairs()[slot]; }
    const Pair& operator[](std::uint32_t slot) const { return pairs()[slot]; }

    void prefetch_tags() const { recalltree::prefetch(block_, capacity_); }
    // Prefetches a guessed pair. Where nothing was guessed, the tags, which are in the cache.
    void prefetch(std::uint32_t guessed) const {
      const auto tags = reinterpret_cast<std::uintptr_t>(block_);
      const auto pair = reinterpret_cast<std::uintptr_t>(pairs()) + sizeof(Pair) * guessed;
      recalltree::prefetch(reinterpret_cast<const std::byte*>(guessed == kNone ? tags : pair));
    }

    // Calls visit(pair, slot) for all pairs.
    template <class Visit>
    void visit(Visit visit) const {
      for (std::uint32_t i = 0; i < capacity_; ++i)
        if (pairs()[i].key_plus_1 != 0) visit(pairs()[i], i);
    }

   private:
    friend class ClassPairs;
    static std::size_t bytes(std::uint32_t capacity) {
      return TaggedSlots::tag_bytes(capacity) + capacity * sizeof(Pair);
    }
    TaggedSlots slots() const { return {reinterpret_cast<std::uint8_t*>(block_), capacity_}; }
    Pair* pairs() const {
      return reinterpret_cast<Pair*>(block_ + TaggedSlots::tag_bytes(capacity_));
    }
    std::uint32_t insert(std::uint32_t key) {
      const std::uint32_t slot = slots().insert(key);
      pairs()[slot].key_plus_1 = key + 1;
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
  // Leaves only the pairs for which keep(pair) is true, in a table of the size that suits them.
  template <class Keep>
  void filter(Table& table, Keep keep);

  void save(State& state) const;
  // The state has been checked.
  void load(const State& state);

  std::size_t bytes() const { return bytes(size()); }
  // Bytes for this many classes, of which the new ones have no pair.
  std::size_t bytes(std::size_t classes) const {
    return StableVector<Table>::bytes(classes) + arena_.used();
  }
  Arena& arena() { return arena_; }
  const Arena& arena() const { return arena_; }

 private:
  // Moves the pairs of a table for which keep(pair) is true into one of another size.
  template <class Keep>
  void rebuild(Table& table, std::uint32_t capacity, Keep keep);

  Arena arena_;
  StableVector<Table> tables_;
};

template <class Keep>
void ClassPairs::filter(Table& table, Keep keep) {
  std::uint32_t kept = 0;
  table.visit([&](const Pair& pair, std::uint32_t) { kept += keep(pair); });
  if (kept < table.size_) rebuild(table, TaggedSlots::capacity_for(kept), keep);
}

template <class Keep>
void ClassPairs::rebuild(Table& table, std::uint32_t capacity, Keep keep) {
  Table old;
  old.block_ = table.block_;
  old.capacity_ = table.capacity_;
  void* const block = capacity ? arena_.allocate(Table::bytes(capacity)) : nullptr;
  table.block_ = static_cast<std::byte*>(block);
  table.capacity_ = capacity;
  table.size_ = 0;
  old.visit([&](const Pair& pair, std::uint32_t) {
    if (keep(pair)) table[table.insert(pair.key())] = pair;
  });
  if (old.block_ != nullptr) arena_.release(old.block_, Table::bytes(old.capacity_));
}

}  // namespace recalltree
