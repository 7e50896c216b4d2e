// BestOf: the n largest of many scores; of equal ones those that came first.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace recalltree {

class BestOf {
 public:
  struct Found {
    float score;
    std::uint32_t id, order;
  };

  void begin(std::size_t n) {
    n_ = n;
    found_.clear();
    least_ = -std::numeric_limits<float>::infinity();
    order_ = 0;
  }
  // Offers the scores of ids that stand side by side.
  void offer(const float* scores, const std::uint32_t* ids, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
      if (scores[i] > least_) add(scores[i], ids[i]);
  }
  // The best, in order.
  const std::vector<Found>& finish() {
    shorten();
    std::sort(found_.begin(), found_.end(), is_before);
    return found_;
  }

 private:
  static bool is_before(const Found& a, const Found& b) {
    return a.score != b.score ? a.score > b.score : a.order < b.order;
  }
  void add(float score, std::uint32_t id) {
    found_.push_back({score, id, order_++});
    if (found_.size() >= 3 * n_ + 16) shorten();
  }
  // Later scores have to be larger than the n-th: of equal ones the first stay.
  void shorten() {
    if (found_.size() <= n_) return;
    std::nth_element(found_.begin(), found_.begin() + static_cast<std::ptrdiff_t>(n_ - 1),
                     found_.end(), is_before);
    found_.resize(n_);
    least_ = found_.back().score;
  }

  std::size_t n_ = 1;
  std::vector<Found> found_;
  float least_ = 0.0f;
  std::uint32_t order_ = 0;
};

}  // namespace recalltree
