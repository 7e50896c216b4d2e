// FirstRows: the first rows that were learned, as they came, and what classes learned from them.
//
// The whitening is learned again whenever the number of rows has doubled. Class vectors are sums of
// rows, so that they can be added up again from newly whitened rows: nothing that was learned is
// lost, and nothing is learned twice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "recalltree/base/types.hpp"

namespace recalltree {

class FirstRows {
 public:
  // So many rows are kept, then the whitening stays as it is.
  static constexpr std::size_t kFewest = 8, kMost = 2048, kMostFloats = std::size_t{1} << 24;

  explicit FirstRows(std::size_t width)
      : width_(width), most_(width * kMost > kMostFloats ? kMost / 2 : kMost) {}

  struct Step {
    std::uint32_t row;
    ClassId label;
    bool is_count;     // a row of the class, or a step of its weights
    float size, kept;  // the multiple of the row, and the share of the weights that stays
  };

  bool is_open() const { return most_ > 0; }
  std::size_t size() const { return n_; }
  void add(const float* row) {
    rows_.insert(rows_.end(), row, row + width_);
    ++n_;
  }
  // Of the row that was added last.
  void add_step(ClassId label, bool is_count, float size, float kept) {
    steps_.push_back({static_cast<std::uint32_t>(n_ - 1), label, is_count, size, kept});
  }
  // Rows that can be added until the whitening changes.
  std::size_t until_renewal() const {
    std::size_t next = kFewest;
    while (next <= n_) next *= 2;
    return next - n_;
  }
  bool is_renewal_due() const { return n_ >= kFewest && (n_ & (n_ - 1)) == 0; }
  bool is_full() const { return n_ >= most_; }
  void close() { *this = FirstRows(0, 0); }

  const float* rows() const { return rows_.data(); }
  const std::vector<Step>& steps() const { return steps_; }
  std::size_t bytes() const {
    return rows_.capacity() * sizeof(float) + steps_.capacity() * sizeof(Step);
  }

 private:
  FirstRows(std::size_t width, std::size_t most) : width_(width), most_(most) {}

  std::size_t width_, most_, n_ = 0;
  std::vector<float> rows_;
  std::vector<Step> steps_;
};

}  // namespace recalltree
