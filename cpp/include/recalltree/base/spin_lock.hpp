// A one-byte lock for critical sections of a few dozen instructions.
#pragma once

#include <atomic>
#include <thread>

namespace recalltree {

// Threads that may learn at the same time: the caller alone, or several.
enum class Threads { one, several };

class SpinLock {
 public:
  SpinLock() = default;
  SpinLock(const SpinLock&) {}
  SpinLock& operator=(const SpinLock&) { return *this; }
  void lock() {
    for (int spins = 0; locked_.exchange(true, std::memory_order_acquire); ++spins)
      if (spins > 64) std::this_thread::yield();
  }
  void unlock() { locked_.store(false, std::memory_order_release); }

  // Holds the lock while in scope; one thread needs none.
  class Guard {
   public:
    Guard(SpinLock& lock, Threads threads) : lock_(threads == Threads::several ? &lock : nullptr) {
      if (lock_) lock_->lock();
    }
    ~Guard() {
      if (lock_) lock_->unlock();
    }
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;

   private:
    SpinLock* lock_;
  };

 private:
  std::atomic<bool> locked_{false};
};

}  // namespace recalltree
