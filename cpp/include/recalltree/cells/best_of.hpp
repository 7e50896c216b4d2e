// BestOf: the n largest of many scores; of equal ones those that came first.
//
// Scores come in blocks. The n-th largest of the blocks' maxima is a bound that at least n scores
// reach, and only blocks that reach it are looked at again.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
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
    n_scores_ = 0;
    ids_.clear();
    maxima_.clear();
  }
  // Room for the scores of `count` ids that stand side by side. It is for whole blocks.
  float* room(std::size_t count) {
    const std::size_t end = n_scores_ + blocks(count) * kInt8Block;
    if (scores_.size() < end) scores_.resize(2 * end);
    return scores_.data() + n_scores_;
  }
  // The room has been filled with the scores of these ids.
  void offer(const std::uint32_t* ids, std::size_t count) {
    float* const scores = scores_.data() + n_scores_;
    std::fill(scores + count, scores + blocks(count) * kInt8Block, kNothing);
    for (std::size_t b = 0; b < blocks(count); ++b) {
      ids_.push_back(ids + b * kInt8Block);
      // Numbers of a damaged file may be none, which cannot be sorted.
      const float maximum = largest(scores + b * kInt8Block);
      maxima_.push_back(maximum >= kNothing ? maximum : kNothing);
    }
    n_scores_ += blocks(count) * kInt8Block;
  }
  // The best, in the order in which they came.
  const std::vector<Found>& finish() {
    const float bound = maxima_.size() > n_ ? nth_largest(maxima_, sorted_) : kNothing;
    // Whether a score reaches the bound cannot be foreseen, so that nothing branches on it.
    std::size_t n = 0;
    for (std::size_t b = 0; b < maxima_.size(); ++b) {
      if (maxima_[b] < bound) continue;
      keys_.resize(std::max(keys_.size(), n + kInt8Block));
      for (std::size_t at = b * kInt8Block; at < (b + 1) * kInt8Block; ++at) {
        keys_[n] = key_of(scores_[at], at);
        n += scores_[at] >= bound && scores_[at] > kNothing;
      }
    }
    keys_.resize(n);
    const std::uint64_t least = n > n_ ? nth_largest(keys_, sorted_keys_) : 0;
    found_.resize(n);
    n = 0;
    for (const std::uint64_t key : keys_) {
      const std::size_t at = 0xffffffffu - static_cast<std::uint32_t>(key);
      found_[n] = {scores_[at], ids_[at / kInt8Block][at % kInt8Block]};
      n += key >= least;
    }
    found_.resize(n);
    return found_;
  }

 private:
  static constexpr float kNothing = -std::numeric_limits<float>::infinity();

  static std::size_t blocks(std::size_t count) { return (count + kInt8Block - 1) / kInt8Block; }
  static float largest(const float* scores) {
    float lanes[4];
    for (std::size_t i = 0; i < 4; ++i)
      lanes[i] =
          std::max(std::max(scores[i], scores[i + 4]), std::max(scores[i + 8], scores[i + 12]));
    return std::max(std::max(lanes[0], lanes[1]), std::max(lanes[2], lanes[3]));
  }
  // Whole numbers in the order of scores, then of arrival: they are compared fast.
  static std::uint64_t key_of(float score, std::size_t order) {
    const auto bits = std::bit_cast<std::uint32_t>(score);
    const std::uint32_t rank = (bits >> 31) != 0 ? ~bits : bits | 0x80000000u;
    return std::uint64_t{rank} << 32 | (0xffffffffu - static_cast<std::uint32_t>(order));
  }
  template <class T>
  T nth_largest(const std::vector<T>& values, std::vector<T>& copy) const {
    copy = values;
    const auto nth = copy.begin() + static_cast<std::ptrdiff_t>(n_ - 1);
    std::nth_element(copy.begin(), nth, copy.end(), std::greater<>());
    return *nth;
  }

  std::size_t n_ = 1, n_scores_ = 0;
  std::vector<float> scores_, maxima_, sorted_;
  std::vector<const std::uint32_t*> ids_;  // of each block
  std::vector<std::uint64_t> keys_, sorted_keys_;
  std::vector<Found> found_;
};

}  // namespace recalltree
