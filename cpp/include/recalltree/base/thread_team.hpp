// Threads for the length of one call. Nothing outlives the call: no pool to clash with another
// library's, and forked processes inherit no locks.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace recalltree {

// Runs work(thread, n_threads) on every thread of the team, the caller's included. The first
// exception is rethrown.
template <class F>
void run_team(std::size_t n_threads, F work) {
  if (n_threads <= 1) {
    work(std::size_t{0}, std::size_t{1});
    return;
  }
  std::exception_ptr error;
  std::mutex mutex;
  const auto guarded = [&](std::size_t t) {
    try {
      work(t, n_threads);
    } catch (...) {
      std::lock_guard lock(mutex);
      if (!error) error = std::current_exception();
    }
  };
  {
    std::vector<std::thread> threads;
    for (std::size_t t = 1; t < n_threads; ++t) threads.emplace_back(guarded, t);
    guarded(0);
    for (auto& thread : threads) thread.join();
  }
  if (error) std::rethrow_exception(error);
}

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
