// A vector whose elements never move, so that threads may use old elements while a new one is
// added.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <stdexcept>

#include "recalltree/base/hints.hpp"

namespace recalltree {

template <class T>
class StableVector {
  // Two levels of directories over small chunks: at most kInner elements are allocated ahead of
  // need.
  static constexpr std::size_t kChunk = 32, kInner = 4096, kOuter = 4096;
  struct Directory {
    std::array<std::atomic<T*>, kInner> chunks{};
    ~Directory() {
      for (auto& c : chunks) delete[] c.load(std::memory_order_relaxed);
    }
  };

 public:
  ~StableVector() {
    for (auto& d : outer_) delete d.load(std::memory_order_relaxed);
  }

  std::size_t size() const { return size_.load(std::memory_order_acquire); }

  RECALLTREE_INLINE T& operator[](std::size_t i) { return *find(i); }
  RECALLTREE_INLINE const T& operator[](std::size_t i) const { return *find(i); }

  // Default-constructs one more element and returns its index. `prepare` runs before others can see
  // it.
  template <class Prepare>
  std::size_t add(Prepare prepare) {
    std::lock_guard lock(mutex_);
    const std::size_t i = size_.load(std::memory_order_relaxed);
    prepare(chunk_or_new(i / kChunk)[i % kChunk]);
    size_.store(i + 1, std::memory_order_release);
    return i;
  }

  // For use as a sparse array: element i, made if need be (size() is then past it); or null if it
  // was not made.
  T& touch(std::size_t i) {
    if (i < size())
      if (T* known = peek(i)) return *known;
    std::lock_guard lock(mutex_);
    if (size_.load(std::memory_order_relaxed) <= i) size_.store(i + 1, std::memory_order_release);
    return chunk_or_new(i / kChunk)[i % kChunk];
  }
  T* peek(std::size_t i) const {
    const std::size_t chunk = i / kChunk;
    if (chunk / kInner >= kOuter) return nullptr;
    const Directory* directory = outer_[chunk / kInner].load(std::memory_order_acquire);
    T* elements =
        directory ? directory->chunks[chunk % kInner].load(std::memory_order_acquire) : nullptr;
    return elements ? elements + i % kChunk : nullptr;
  }

  std::size_t bytes() const {
    return n_chunks_.load(std::memory_order_relaxed) * kChunk * counted_bytes();
  }
  // Bytes of a vector of n elements, all of them constructed.
  static std::size_t bytes(std::size_t n) {
    return (n + kChunk - 1) / kChunk * kChunk * counted_bytes();
  }

 private:
  // Elements may count for other than their size.
  static constexpr std::size_t counted_bytes() {
    if constexpr (requires { T::kCountedBytes; })
      return T::kCountedBytes;
    else
      return sizeof(T);
  }

  T* chunk_or_new(std::size_t chunk) {
    if (chunk / kInner >= kOuter)
      throw std::length_error("a model holds at most 2^29 rows, nodes or features");
    auto& directory = outer_[chunk / kInner];
    if (directory.load(std::memory_order_relaxed) == nullptr)
      directory.store(new Directory, std::memory_order_release);
    auto& slot = directory.load(std::memory_order_relaxed)->chunks[chunk % kInner];
    if (slot.load(std::memory_order_relaxed) == nullptr) {
      slot.store(new T[kChunk], std::memory_order_release);
      n_chunks_.fetch_add(1, std::memory_order_relaxed);
    }
    return slot.load(std::memory_order_relaxed);
  }

  RECALLTREE_INLINE T* find(std::size_t i) const {
    const std::size_t chunk = i / kChunk;
    return outer_[chunk / kInner]
               .load(std::memory_order_acquire)
               ->chunks[chunk % kInner]
               .load(std::memory_order_acquire) +
           i % kChunk;
  }

  std::array<std::atomic<Directory*>, kOuter> outer_{};
  std::atomic<std::size_t> size_{0}, n_chunks_{0};
  std::mutex mutex_;
};

}  // namespace recalltree
