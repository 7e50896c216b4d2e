// Memory for rows of weights: large blocks (huge pages where the system grants them), carved into
// 64-byte aligned pieces. Pieces given back are reused for pieces of the same size.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <unordered_map>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace recalltree {

class Arena {
 public:
  // Zeroed memory. The size is rounded up to a multiple of 64.
  void* allocate(std::size_t bytes) {
    bytes = rounded(bytes);
    std::lock_guard lock(mutex_);
    used_ += bytes;
    if (auto it = free_.find(bytes); it != free_.end() && !it->second.empty()) {
      void* piece = it->second.back();
      it->second.pop_back();
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
    used_ -= bytes;
    free_[bytes].push_back(piece);
  }

  // Bytes handed out and not given back.
  std::size_t used() const { return used_; }

 private:
  static std::size_t rounded(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

  struct Free {
    void operator()(void* p) const {
#if defined(_MSC_VER)
      _aligned_free(p);
#else
      std::free(p);
#endif
    }
  };

  void add_block(std::size_t bytes) {
    // Small models stay small; large ones get blocks that huge pages can back.
    constexpr std::size_t kHugePage = std::size_t{1} << 21;
    std::size_t size = std::bit_ceil(bytes > block_ ? bytes : block_);
    const std::size_t alignment = size >= kHugePage ? kHugePage : 64;
#if defined(_MSC_VER)
    void* block = _aligned_malloc(size, alignment);
#else
    void* block = std::aligned_alloc(alignment, size);
#endif
    if (block == nullptr) throw std::bad_alloc();
#if defined(__linux__)
    if (size >= kHugePage) madvise(block, size, MADV_HUGEPAGE);
#endif
    std::memset(block, 0, size);
    blocks_.emplace_back(block);
    next_ = static_cast<std::byte*>(block);
    left_ = size;
    if (block_ < kHugePage * 16) block_ *= 2;
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<void, Free>> blocks_;
  std::byte* next_ = nullptr;
  std::size_t left_ = 0, used_ = 0, block_ = std::size_t{1} << 16;
  std::unordered_map<std::size_t, std::vector<void*>> free_;
};

}  // namespace recalltree
