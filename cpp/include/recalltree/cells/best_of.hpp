// BestOf: the n largest of many scores; of equal ones those that came first.
//
// Scores come in parts. Those that exceed the n-th best so far, the bound, are put in order and
// join the best. Most scores never reach it and cost nothing.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "recalltree/kernels/int8_kernels.hpp"
#include "recalltree/kernels/kernels.hpp"

namespace recalltree {

class BestOf {
 public:
  struct Found {
    float score;
    std::uint32_t id;
  };

  void begin(std::size_t n) {
    n_ = n;
    best_.clear();
    ids_.clear();
    bound_ = -std::numeric_limits<float>::infinity();
  }
  // Scores that do not exceed it are not among the best.
  float bound() const { return bound_; }
  // Takes the scores of `count` ids that stand side by side, in blocks. Bit i of above[b] tells
  // that score i of block b exceeds the bound, which no NaN does. Returns whether one of them does.
  bool offer(const std::uint32_t* ids, const float* scores, const Int8Above* above,
             std::size_t count) {
    ranks_.clear();
    visit_above(above, count, [&](std::size_t i) { take(scores[i], ids[i]); });
    return join();
  }
  // The same of those that exceeded an earlier bound.
  bool offer(std::span<const Found> some) {
    ranks_.clear();
    for (const Found& one : some)
      if (one.score > bound_) take(one.score, one.id);
    return join();
  }
  // Calls visit(i) for the scores of an offer that exceed the bound.
  template <class Visit>
  static void visit_above(const Int8Above* above, std::size_t count, Visit visit) {
    for (std::size_t begin = 0; begin < count; begin += kInt8Block) {
      std::uint32_t bits = above[begin / kInt8Block];
      if (count - begin < kInt8Block) bits &= (1u << (count - begin)) - 1;
      for (; bits != 0; bits &= bits - 1)
        visit(begin + static_cast<std::size_t>(std::countr_zero(bits)));
    }
  }

  // The best, in the order in which they came.
  std::span<const Found> finish() {
    ranks_.clear();
    for (const std::int64_t key : best_) ranks_.push_back(-static_cast<std::int32_t>(arrival(key)));
    sort_ranks();
    found_.resize(best_.size());
    for (std::size_t i = 0; i < best_.size(); ++i) found_[places_[i]] = found(best_[i]);
    return found_;
  }
  // The same, the largest first.
  std::span<const Found> finish_in_order() {
    found_.clear();
    for (const std::int64_t key : best_) found_.push_back(found(key));
    return found_;
  }

 private:
  // So many are sorted without branches that depend on single scores.
  static constexpr std::size_t kFew = 256;
  // So many join the best one by one.
  static constexpr std::size_t kInserted = 8;

  // Whole numbers in the order of scores, and back: many are compared at a time.
  static std::int32_t swap_order(std::int32_t bits) {
    return bits ^ static_cast<std::int32_t>(static_cast<std::uint32_t>(bits >> 31) >> 1);
  }
  static std::int32_t rank_of(float score) {
    return swap_order(std::bit_cast<std::int32_t>(score));
  }
  // Ordered by rank, and those of one rank by arrival.
  static std::int64_t key_of(std::int32_t rank, std::size_t arrival) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(static_cast<std::uint32_t>(rank))
                                         << 32 |
                                     (0x7fffffffu - static_cast<std::uint32_t>(arrival)));
  }
  static std::uint32_t arrival(std::int64_t key) {
    return 0x7fffffffu - static_cast<std::uint32_t>(key);
  }
  static float score_of(std::int64_t key) {
    return std::bit_cast<float>(swap_order(static_cast<std::int32_t>(key >> 32)));
  }
  Found found(std::int64_t key) const { return {score_of(key), ids_[arrival(key)]}; }

  void take(float score, std::uint32_t id) {
    ranks_.push_back(rank_of(score));
    ids_.push_back(id);
  }

  // Those that were taken join the best.
  bool join() {
    if (ranks_.empty()) return false;
    const std::size_t first = ids_.size() - ranks_.size();
    if (ranks_.size() <= kInserted) {
      for (std::size_t i = 0; i < ranks_.size(); ++i) insert(key_of(ranks_[i], first + i));
    } else {
      sort_ranks();
      sorted_.resize(ranks_.size());
      for (std::size_t i = 0; i < ranks_.size(); ++i)
        sorted_[places_[i]] = key_of(ranks_[i], first + i);
      merged_.resize(best_.size() + sorted_.size());
      std::merge(best_.begin(), best_.end(), sorted_.begin(), sorted_.end(), merged_.begin(),
                 std::greater<>());
      merged_.resize(std::min(n_, merged_.size()));
      best_.swap(merged_);
    }
    if (best_.size() == n_) bound_ = score_of(best_.back());
    return true;
  }
  void insert(std::int64_t key) {
    if (best_.size() < n_)
      best_.push_back(key);
    else if (key > best_.back())
      best_.back() = key;
    else
      return;
    std::size_t at = best_.size() - 1;
    for (; at > 0 && best_[at - 1] < key; --at) best_[at] = best_[at - 1];
    best_[at] = key;
  }
  // The place of each rank, the largest first; of equal ranks the first comes first.
  void sort_ranks() {
    const std::size_t n = ranks_.size();
    places_.resize(n);
    if (n > kFew) {
      order_.resize(n);
      for (std::size_t i = 0; i < n; ++i) order_[i] = key_of(ranks_[i], i);
      std::sort(order_.begin(), order_.end(), std::greater<>());
      for (std::size_t place = 0; place < n; ++place)
        places_[arrival(order_[place])] = static_cast<std::uint32_t>(place);
      return;
    }
    std::array<std::int32_t, kFew> larger;
    std::array<std::uint8_t, kFew> n_equal{};
    kernels().count_larger(ranks_.data(), n, larger.data());
    for (std::size_t i = 0; i < n; ++i) {
      const auto place = static_cast<std::uint32_t>(larger[i]);
      places_[i] = place + n_equal[place]++;
    }
  }

  std::size_t n_ = 1;
  float bound_ = -std::numeric_limits<float>::infinity();
  std::vector<std::int64_t> best_;  // the largest first
  std::vector<std::uint32_t> ids_;  // by arrival
  // Of those that join: their ranks, and where these stand in order.
  std::vector<std::int32_t> ranks_;
  std::vector<std::uint32_t> places_;
  std::vector<std::int64_t> order_, sorted_, merged_;
  std::vector<Found> found_;
};

}  // namespace recalltree
