// Threads for the length of one call. Nothing outlives the call: no pool to clash with another
// library's, and forked processes inherit no locks.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "recalltree/base/thread_number.hpp"

namespace recalltree {

// Threads that do one piece of work after the other. Between two pieces the caller is alone.
class ThreadTeam {
 public:
  explicit ThreadTeam(std::size_t n_threads)
      : spins_(n_threads <= std::thread::hardware_concurrency()) {
    for (std::size_t t = 1; t < n_threads; ++t) threads_.emplace_back([this, t] { serve(t); });
  }
  ~ThreadTeam() {
    do_work_ = nullptr;
    ++turn_;
    wake();
    for (auto& thread : threads_) thread.join();
  }
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  std::size_t size() const { return threads_.size() + 1; }

  // Runs work(thread) on every thread, the caller's being 0, and returns when all of them are done.
  // Writes of one piece of work are visible to the next. The first exception is rethrown.
  template <class Work>
  void run(Work work) {
    if (threads_.empty()) return work(std::size_t{0});
    do_work_ = [](void* w, std::size_t thread) { (*static_cast<Work*>(w))(thread); };
    work_ = &work;
    n_working_ = threads_.size();
    ++turn_;
    wake();
    guarded(0);
    wait_until([&] { return n_working_ == 0; });
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  }

 private:
  void serve(std::size_t thread) {
    thread_number = thread;
    for (std::uint64_t turn = 1;; ++turn) {
      wait_until([&] { return turn_ >= turn; });
      if (do_work_ == nullptr) return;
      guarded(thread);
      if (--n_working_ == 0) wake();
    }
  }
  void guarded(std::size_t thread) {
    try {
      do_work_(work_, thread);
    } catch (...) {
      std::lock_guard lock(mutex_);
      if (!error_) error_ = std::current_exception();
    }
  }
  // Pieces of work are short: a thread that slept at once would come late to the next one. One that
  // never slept would keep a core from threads that have work, if there are more of them than
  // cores.
  template <class Condition>
  void wait_until(Condition is_true) {
    constexpr auto kSpinning = std::chrono::microseconds(100);
    if (spins_)
      for (const auto begin = std::chrono::steady_clock::now();
           std::chrono::steady_clock::now() - begin < kSpinning;)
        for (int i = 0; i < 64; ++i)
          if (is_true()) return;
    std::unique_lock lock(mutex_);
    ++n_sleeping_;
    awake_.wait(lock, is_true);
    --n_sleeping_;
  }
  // Called when a condition has become true. Threads that missed it were counted before they
  // looked.
  void wake() {
    if (n_sleeping_ == 0) return;
    {
      std::lock_guard lock(mutex_);
    }
    awake_.notify_all();
  }

  const bool spins_;
  void (*do_work_)(void*, std::size_t) = nullptr;  // null at the end
  void* work_ = nullptr;
  // A line of the cache each: the threads wait for the first, the caller for the second.
  alignas(64) std::atomic<std::uint64_t> turn_{0};
  alignas(64) std::atomic<std::size_t> n_working_{0};
  alignas(64) std::atomic<std::size_t> n_sleeping_{0};
  std::mutex mutex_;
  std::condition_variable awake_;
  std::exception_ptr error_;
  std::vector<std::thread> threads_;
};

// Hands out consecutive pieces of [0, n) to whoever asks next.
class Pieces {
 public:
  Pieces(std::size_t n, std::size_t piece) : n_(n), least_(piece), most_(piece), shares_(1) {}
  // For a team of so many that is to end together: smaller pieces towards the end.
  Pieces(std::size_t n, std::size_t most, std::size_t n_threads)
      : n_(n), least_(1), most_(most), shares_(4 * n_threads) {}

  bool next(std::size_t& begin, std::size_t& end) {
    begin = next_.load(std::memory_order_relaxed);
    do {
      if (begin >= n_) return false;
      const std::size_t left = n_ - begin;
      end = begin + std::min(left, std::clamp(left / shares_, least_, most_));
    } while (!next_.compare_exchange_weak(begin, end, std::memory_order_relaxed));
    return true;
  }

 private:
  std::size_t n_, least_, most_, shares_;
  std::atomic<std::size_t> next_{0};
};

}  // namespace recalltree
