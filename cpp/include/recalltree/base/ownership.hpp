// Owners of classes, keys and nodes while a team learns: each belongs to one owner, who applies all
// that changes it in the order of the rows. An owner is served by one thread at a time. Nothing is
// locked, and since the order does not depend on who the owner is, neither do the numbers depend on
// how many threads there are.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace recalltree {

inline constexpr std::uint32_t kNoItem = ~std::uint32_t{0};

// More than threads: a thread that is done with one takes another, so that all end together though
// some classes and keys are far more frequent than others.
inline constexpr std::size_t kOwners = 64;

inline std::uint32_t owner_of(std::uint32_t id, std::size_t n_owners) {
  const std::uint64_t hash = (id * 0x9E3779B97F4A7C15u) >> 32;
  return static_cast<std::uint32_t>(hash * n_owners >> 32);
}

// One owner of this many.
struct Owner {
  std::size_t number = 0, n_owners = 1;

  bool owns(std::uint32_t id) const { return n_owners == 1 || owner_of(id, n_owners) == number; }
};

// The order in which threads take owners: first those that took longest the last time, so that all
// threads end at about the same time. The longest take several times as long as the others.
class OwnersInTurn {
 public:
  OwnersInTurn() { std::iota(order_.begin(), order_.end(), std::uint32_t{0}); }

  // Before threads take owners.
  void begin() {
    std::stable_sort(order_.begin(), order_.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return took_[a] > took_[b]; });
    next_ = 0;
  }
  // Calls serve(owner) for all that no other thread has taken.
  template <class Serve>
  void take(Serve serve) {
    using Clock = std::chrono::steady_clock;
    for (std::size_t turn; (turn = next_.fetch_add(1, std::memory_order_relaxed)) < kOwners;) {
      const std::uint32_t owner = order_[turn];
      const auto began = Clock::now();
      serve(Owner{owner, kOwners});
      took_[owner] = Clock::now() - began;
    }
  }

 private:
  std::array<std::uint32_t, kOwners> order_;
  std::array<std::chrono::steady_clock::duration, kOwners> took_ = {};
  std::atomic<std::size_t> next_{0};
};

// The items 0, 1, 2, ... of a row, so that an owner finds its own without looking at the others.
class OwnedItems {
 public:
  void begin(std::size_t n_owners) {
    ends_.assign(n_owners > 1 ? n_owners : 0, {kNoItem, kNoItem});
    next_.clear();
    n_ = 0;
  }
  // The next item changes what has this number.
  void add(std::uint32_t id) {
    const std::uint32_t item = n_++;
    if (ends_.empty()) return;
    next_.push_back(kNoItem);
    Ends& own = ends_[owner_of(id, ends_.size())];
    (own.first == kNoItem ? own.first : next_[own.last]) = item;
    own.last = item;
  }
  // Calls use(item) for the items of an owner, one of as many as there were at the beginning.
  template <class Use>
  void visit(Owner owner, Use use) const {
    if (ends_.empty())
      for (std::uint32_t item = 0; item < n_; ++item) use(item);
    else
      for (std::uint32_t item = ends_[owner.number].first; item != kNoItem; item = next_[item])
        use(item);
  }

 private:
  struct Ends {
    std::uint32_t first, last;
  };
  std::vector<Ends> ends_;           // by owner; none if there is only one
  std::vector<std::uint32_t> next_;  // by item
  std::uint32_t n_ = 0;
};

}  // namespace recalltree
