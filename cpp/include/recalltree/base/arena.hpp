// Memory for weights: large blocks (huge pages where the system grants them), carved into
// pieces that are multiples of a small size, cache lines unless told otherwise. Pieces given back
// are used again: one of the same size as it is, otherwise a part of the smallest that is large
// enough.
#pragma once

#include <algorithm>
#include <atomic>
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

namespace recalltree {

class Arena {
 public:
  // Pieces are multiples of so many bytes, a power of two, and aligned to them.
  explicit Arena(std::size_t granule = 64) : granule_(granule) {}

  // Blocks of at most so many bytes, for a model that is not to take much more than it needs.
  // Before anything is allocated.
  void limit_blocks(std::size_t bytes) {
    max_block_ = std::clamp(std::bit_floor(bytes), kSmallestBlock, kLargestBlock);
  }

  // Zeroed memory. The size is rounded up.
  void* allocate(std::size_t bytes) {
    bytes = rounded(bytes);
    std::lock_guard lock(mutex_);
    used_.fetch_add(bytes, std::memory_order_relaxed);
    if (void* piece = take_free(bytes)) {
      std::memset(piece, 0, bytes);
      return piece;
    }
    if (bytes > left_) add_block(bytes);
    void* piece = next_;
    next_ += bytes;
    left_ -= bytes;
    return piece;
  }

  // Gives a piece back; nobody may use it any more.
  void release(void* piece, std::size_t bytes) {
    bytes = rounded(bytes);
    std::lock_guard lock(mutex_);
    used_.fetch_sub(bytes, std::memory_order_relaxed);
    free_[bytes].push_back(static_cast<std::byte*>(piece));
  }

  // Joins neighbouring pieces that were given back, and gives blocks of which nothing is used back
  // to the system. Takes time proportional to the number of these pieces.
  void tidy() {
    std::lock_guard lock(mutex_);
    keep_rest();
    std::vector<std::pair<std::byte*, std::size_t>> pieces;
    for (const auto& [size, same] : free_)
      for (std::byte* piece : same) pieces.emplace_back(piece, size);
    free_.clear();
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
        if (!is_free) free_[size].push_back(piece);
      }
      if (is_free)
        held_ -= block.size;
      else
        used.push_back(std::move(block));
    }
    blocks_ = std::move(used);
  }

  // Bytes handed out and not given back.
  std::size_t used() const { return used_.load(std::memory_order_relaxed); }
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

  std::byte* take_free(std::size_t bytes) {
    const auto found = free_.lower_bound(bytes);
    if (found == free_.end()) return nullptr;
    const std::size_t size = found->first;
    std::byte* const piece = found->second.back();
    found->second.pop_back();
    if (found->second.empty()) free_.erase(found);
    if (size > bytes) free_[size - bytes].push_back(piece + bytes);
    return piece;
  }

  // The rest of the current block becomes a piece like those that were given back.
  void keep_rest() {
    if (left_ > 0) free_[left_].push_back(next_);
    left_ = 0;
  }

  void add_block(std::size_t bytes) {
    keep_rest();
    // Small models stay small; large ones get blocks that huge pages can back.
    std::size_t size = std::bit_ceil(bytes > block_ ? bytes : block_);
    Memory block = new_block(size);
    next_ = static_cast<std::byte*>(block.get());
    blocks_.push_back({std::move(block), size});
    left_ = size;
    held_ += size;
    most_held_ = std::max(most_held_, held_);
    if (block_ < max_block_) block_ *= 2;
  }

  const std::size_t granule_;
  std::mutex mutex_;
  std::vector<Block> blocks_;
  std::byte* next_ = nullptr;
  std::atomic<std::size_t> used_{0};
  std::size_t left_ = 0, block_ = kSmallestBlock, max_block_ = kLargestBlock;
  std::size_t held_ = 0, most_held_ = 0;
  std::map<std::size_t, std::vector<std::byte*>> free_;  // by size; none is empty
};

}  // namespace recalltree
