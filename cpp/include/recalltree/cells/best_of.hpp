// BestOf: the n largest of many scores; of equal ones those that came first.
//
// Scores come in parts. Those that exceed the bound are kept until they are many; then the n
// largest of them stay, and the n-th becomes the bound. Most scores never reach it and cost
// nothing.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "recalltree/kernels/int8_kernels.hpp"

namespace recalltree {

class BestOf {
 public:
  struct Found {
    float score;
    std::uint32_t id;
  };

  void begin(std::size_t n) {
    n_ = n;
    n_kept_ = 0;
    bound_ = -std::numeric_limits<float>::infinity();
  }
  // Scores that do not exceed it are not among the best.
  float bound() const { return bound_; }
  // Takes the scores of `count` ids that stand side by side, in blocks. Bit i of above[b] tells
  // that score i of block b exceeds the bound, which no NaN does. Returns whether one of them does.
  bool offer(const std::uint32_t* ids, const float* scores, const Int8Above* above,
             std::size_t count) {
    if (found_.size() < n_kept_ + count) {
      found_.resize(2 * (n_kept_ + count));
      ranks_.resize(2 * (n_kept_ + count));
    }
    const std::size_t n_before = n_kept_;
    for (std::size_t begin = 0; begin < count; begin += kInt8Block) {
      std::uint32_t bits = above[begin / kInt8Block];
      if (count - begin < kInt8Block) bits &= (1u << (count - begin)) - 1;
      for (; bits != 0; bits &= bits - 1) {
        const std::size_t at = begin + static_cast<std::size_t>(std::countr_zero(bits));
        found_[n_kept_] = {scores[at], ids[at]};
        ranks_[n_kept_++] = rank_of(scores[at]);
      }
    }
    const bool is_better = n_kept_ > n_before;
    if (n_kept_ >= 2 * n_ + kInt8Block) drop_small();
    return is_better;
  }
  // Lets the bound be the n-th largest score so far.
  void settle() {
    if (n_kept_ >= n_) drop_small();
  }
  // The best, in the order in which they came.
  std::span<const Found> finish() {
    if (n_kept_ > n_) drop_small();
    return {found_.data(), n_kept_};
  }
  // The same, the largest first.
  std::span<const Found> finish_in_order() {
    finish();
    order_.clear();
    for (std::uint32_t i = 0; i < n_kept_; ++i)
      order_.push_back((std::uint64_t{0x7fffffff} - static_cast<std::uint64_t>(ranks_[i])) << 32 |
                       i);
    std::sort(order_.begin(), order_.end());
    in_order_.clear();
    for (const std::uint64_t key : order_)
      in_order_.push_back(found_[static_cast<std::uint32_t>(key)]);
    return in_order_;
  }

 private:
  // Whole numbers in the order of scores, and back: many are compared at a time.
  static std::int32_t swap_order(std::int32_t bits) {
    return bits ^ static_cast<std::int32_t>(static_cast<std::uint32_t>(bits >> 31) >> 1);
  }
  static std::int32_t rank_of(float score) {
    return swap_order(std::bit_cast<std::int32_t>(score));
  }
  static float score_of(std::int32_t rank) { return std::bit_cast<float>(swap_order(rank)); }

  std::size_t count_from(std::int32_t rank) const {
    std::int32_t count = 0;
    for (std::size_t i = 0; i < n_kept_; ++i) count += ranks_[i] >= rank;
    return static_cast<std::size_t>(count);
  }
  // Halving the range of ranks finds the n-th: no branch depends on a single score.
  void drop_small() {
    std::int32_t low = ranks_[0], high = ranks_[0];
    for (std::size_t i = 0; i < n_kept_; ++i) {
      low = ranks_[i] < low ? ranks_[i] : low;
      high = ranks_[i] > high ? ranks_[i] : high;
    }
    std::size_t reach = n_kept_;  // this many reach low, at least n
    for (std::int64_t end = std::int64_t{high} + 1; reach > n_ && end - low > 1;) {
      const auto middle = static_cast<std::int32_t>(low + (end - low) / 2);
      const std::size_t count = count_from(middle);
      if (count < n_)
        end = middle;
      else
        low = middle, reach = count;
    }
    for (std::size_t i = n_kept_; reach > n_; --reach) {  // the last of those that are equal
      while (ranks_[--i] != low) continue;
      ranks_[i] = std::numeric_limits<std::int32_t>::min();
    }
    std::size_t n = 0;
    std::int32_t least = high;
    for (std::size_t i = 0; i < n_kept_; ++i) {
      const std::int32_t rank = ranks_[i];
      found_[n] = found_[i];
      ranks_[n] = rank;
      n += rank >= low;
      least = rank >= low && rank < least ? rank : least;
    }
    n_kept_ = n;
    bound_ = score_of(least);
  }

  std::size_t n_ = 1, n_kept_ = 0;
  float bound_ = -std::numeric_limits<float>::infinity();
  std::vector<Found> found_;
  std::vector<std::int32_t> ranks_;
  std::vector<std::uint64_t> order_;
  std::vector<Found> in_order_;
};

}  // namespace recalltree
