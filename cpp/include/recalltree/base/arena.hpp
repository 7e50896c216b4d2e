// Memory for weights: large blocks (huge pages where the system grants them), carved into
// pieces that are multiples of a small size, cache lines unless told otherwise. Pieces given back
// are used again: one of the same size as it is, otherwise a part of the smallest that is large
// enough. The threads of a team carve blocks of their own, so that they do not wait for each other.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "recalltree/base/thread_number.hpp"

namespace recalltree {

class Arena {
 public:
  // Pieces are multiples of this many bytes, a power of two, and aligned to them.
  explicit Arena(std::size_t granule = 64) : granule_(granule) {}

  // Blocks of at most this many bytes, for a model that is not to take much more than it needs.
  // Called before anything is allocated.
  void limit_blocks(std::size_t bytes) {
    max_block_ = std::clamp(std::bit_floor(bytes), kSmallestBlock, kLargestBlock);
  }

  // Zeroed memory. The size is rounded up.
  void* allocate(std::size_t bytes) {
    bytes = rounded(bytes);
    Shard& own = own_shard();
    std::lock_guard lock(own.mutex);
    own.used += bytes;
    if (void* piece = own.take_free(bytes)) {
      std::memset(piece, 0, bytes);
      return piece;
    }
    if (bytes > own.left) {
      own.keep_rest();
      if (std::byte* const piece = take_from_others(own, bytes)) {
        std::memset(piece, 0, bytes);
        return piece;
      }
      add_block(own, bytes);
    }
    void* piece = own.next;
    own.next += bytes;
    own.left -= bytes;
    return piece;
  }

  // Gives a piece back; nobody may use it any more.
  void release(void* piece, std::size_t bytes) {
    bytes = rounded(bytes);
    Shard& own = own_shard();
    std::lock_guard lock(own.mutex);
    own.used -= bytes;
    own.free[bytes].push_back(static_cast<std::byte*>(piece));
  }

  // Joins neighbouring pieces that were given back, and gives blocks of which nothing is used back
  // to the system. Takes time proportional to the number of these pieces. While one thread works
  // alone.
  void tidy() {
    std::vector<std::pair<std::byte*, std::size_t>> pieces;
    for (Shard& shard : shards_) {
      shard.keep_rest();
      for (const auto& [size, same] : shard.free)
        for (std::byte* piece : same) pieces.emplace_back(piece, size);
      shard.free.clear();
    }
    std::sort(pieces.begin(), pieces.end());
    std::sort(blocks_.begin(), blocks_.end(),
              [](const Block& a, const Block& b) { return a.memory.get() < b.memory.get(); });
    std::vector<Block> used;
    std::size_t at = 0;
    for (Block& block : blocks_) {
      auto* const begin = static_cast<std::byte*>(block.memory.get());
      std::byte* const end = begin + block.size;
      bool is_free = false;
      while (at < pieces.size() && pieces[at].first < end) {
        auto [piece, size] = pieces[at++];
        for (; at < pieces.size() && pieces[at].first == piece + size && piece + size != end; ++at)
          size += pieces[at].second;
        is_free = size == block.size;
        if (!is_free) shards_[0].free[size].push_back(piece);
      }
      if (is_free)
        held_ -= block.size;
      else
        used.push_back(std::move(block));
    }
    blocks_ = std::move(used);
  }

  // Bytes handed out and not given back. While nobody learns, or one thread works alone.
  std::size_t used() const {
    std::size_t sum = 0;  // one thread may give back what another took
    for (const Shard& shard : shards_) sum += shard.used;
    return sum;
  }
  // The most bytes that were taken from the system at one time.
  std::size_t most_held() const { return most_held_; }

 private:
  static constexpr std::size_t kHugePage = std::size_t{1} << 21;
  static constexpr std::size_t kAlignment = 64;
  static constexpr std::size_t kSmallestBlock = std::size_t{1} << 16;
  static constexpr std::size_t kLargestBlock = kHugePage * 16;

  std::size_t rounded(std::size_t bytes) const { return (bytes + granule_ - 1) & ~(granule_ - 1); }

  struct Free {
    std::size_t mapped = 0;  // bytes of a mapping; 0 for memory of the C library

    void operator()(void* p) const {
#if defined(__linux__)
      if (mapped > 0) {
        munmap(p, mapped);
        return;
      }
#endif
#if defined(_MSC_VER)
      _aligned_free(p);
#else
      std::free(p);
#endif
    }
  };
  using Memory = std::unique_ptr<void, Free>;
  struct Block {
    Memory memory;
    std::size_t size;
  };

  // Zeroed. A large block is one of huge pages, which the system zeroes when they are first
  // touched: the threads that learn touch them, not whoever holds the lock.
  static Memory new_block(std::size_t size) {
#if defined(__linux__)
    if (size >= kHugePage) {
      void* const mapping = mmap(nullptr, size + kHugePage, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (mapping == MAP_FAILED) throw std::bad_alloc();
      auto* const begin = static_cast<std::byte*>(mapping);
      const std::size_t before = -reinterpret_cast<std::uintptr_t>(begin) & (kHugePage - 1);
      if (before > 0) munmap(begin, before);
      munmap(begin + before + size, kHugePage - before);
      madvise(begin + before, size, MADV_HUGEPAGE);
      return {begin + before, Free{size}};
    }
#endif
#if defined(_MSC_VER)
    void* const block = _aligned_malloc(size, kAlignment);
#else
    void* const block = std::aligned_alloc(kAlignment, size);
#endif
    if (block == nullptr) throw std::bad_alloc();
    std::memset(block, 0, size);
    return {block, Free{}};
  }

  struct alignas(64) Shard {
    std::mutex mutex;  // hardly ever waited for
    std::byte* next = nullptr;
    std::size_t left = 0, next_block = kSmallestBlock;
    std::size_t used = 0;
    std::map<std::size_t, std::vector<std::byte*>> free;  // by size; none is empty

    // The smallest piece that is large enough, and its size; null if there is none.
    std::pair<std::byte*, std::size_t> take_whole(std::size_t bytes) {
      const auto found = free.lower_bound(bytes);
      if (found == free.end()) return {nullptr, 0};
      const std::pair whole{found->second.back(), found->first};
      found->second.pop_back();
      if (found->second.empty()) free.erase(found);
      return whole;
    }
    std::byte* cut(std::pair<std::byte*, std::size_t> whole, std::size_t bytes) {
      if (whole.second > bytes) free[whole.second - bytes].push_back(whole.first + bytes);
      return whole.first;
    }
    std::byte* take_free(std::size_t bytes) { return cut(take_whole(bytes), bytes); }
    // The rest of the current block becomes a piece like those that were given back.
    void keep_rest() {
      if (left > 0) free[left].push_back(next);
      left = 0;
    }
  };
  static constexpr std::size_t kShards = 16;

  Shard& own_shard() { return shards_[thread_number % kShards]; }

  // Takes a free piece from another shard, before memory is taken from the system.
  std::byte* take_from_others(Shard& own, std::size_t bytes) {
    for (Shard& other : shards_) {
      if (&other == &own) continue;
      std::unique_lock lock(other.mutex, std::try_to_lock);
      if (!lock.owns_lock()) continue;
      const auto whole = other.take_whole(bytes);
      if (whole.first != nullptr) return own.cut(whole, bytes);
    }
    return nullptr;
  }

  void add_block(Shard& own, std::size_t bytes) {
    // Small models stay small; large ones get blocks that huge pages can back.
    const std::size_t size = std::bit_ceil(std::max(bytes, own.next_block));
    Memory block = new_block(size);
    own.next = static_cast<std::byte*>(block.get());
    own.left = size;
    if (own.next_block < max_block_) own.next_block *= 2;
    std::lock_guard lock(blocks_mutex_);
    blocks_.push_back({std::move(block), size});
    held_ += size;
    most_held_ = std::max(most_held_, held_);
  }

  const std::size_t granule_;
  std::size_t max_block_ = kLargestBlock;
  std::array<Shard, kShards> shards_;
  std::mutex blocks_mutex_;
  std::vector<Block> blocks_;
  std::size_t held_ = 0, most_held_ = 0;
};

}  // namespace recalltree
