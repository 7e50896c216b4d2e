// Many readers of a model or one writer. Readers that keep coming do not starve a writer: while it
// waits, they queue behind it. A thread that holds the lock may take it again.
#pragma once

#include <algorithm>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>
#include <vector>

namespace recalltree {

class ModelLock {
 public:
  void lock() {
    if (again(true)) return;
    std::lock_guard turn(turn_);
    held_.lock();
    note(true);
  }
  bool try_lock() {
    if (again(true)) return true;
    std::unique_lock turn(turn_, std::try_to_lock);
    if (!turn || !held_.try_lock()) return false;
    note(true);
    return true;
  }
  void unlock() {
    if (left()) held_.unlock();
  }

  void lock_shared() {
    if (again(false)) return;
    std::lock_guard turn(turn_);
    held_.lock_shared();
    note(false);
  }
  bool try_lock_shared() {
    if (again(false)) return true;
    std::unique_lock turn(turn_, std::try_to_lock);
    if (!turn || !held_.try_lock_shared()) return false;
    note(false);
    return true;
  }
  void unlock_shared() {
    if (left()) held_.unlock_shared();
  }

 private:
  struct Holding {
    const ModelLock* lock;
    bool alone;
    int depth;
  };
  // The locks that this thread holds: one or two.
  static std::vector<Holding>& holdings() {
    thread_local std::vector<Holding> all;
    return all;
  }
  auto holding() const {
    return std::find_if(holdings().begin(), holdings().end(),
                        [this](const Holding& h) { return h.lock == this; });
  }

  // True if this thread holds the lock already; then it holds it once more.
  bool again(bool alone) {
    const auto mine = holding();
    if (mine == holdings().end()) return false;
    if (alone && !mine->alone)
      throw std::logic_error("a thread that reads a model cannot change it meanwhile");
    ++mine->depth;
    return true;
  }
  void note(bool alone) { holdings().push_back({this, alone, 1}); }
  // True if this was the last time that this thread held it.
  bool left() {
    const auto mine = holding();
    if (--mine->depth > 0) return false;
    holdings().erase(mine);
    return true;
  }

  std::mutex turn_;
  std::shared_mutex held_;
};

}  // namespace recalltree
