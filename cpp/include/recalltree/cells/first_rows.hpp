// FirstRows: the first rows that were learned, as they came, and what classes learned from them.
//
// The whitening is learned again whenever the number of rows has doubled. Class vectors are sums of
// rows, so that they can be added up again from newly whitened rows: nothing that was learned is
// lost, and nothing is learned twice.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "recalltree/base/fields.hpp"
#include "recalltree/base/types.hpp"

namespace recalltree {

template <template <class> class List>
struct FirstRowArrays {
  std::size_t width;
  List<std::uint64_t> n = {};  // rows; how many are kept, 0 when the whitening stays as it is
  List<float> rows = {};
  // Steps: which row, which class, 1 for a row that was counted, and so on.
  List<std::uint32_t> step_rows = {}, step_labels = {};
  List<std::uint8_t> step_counts = {};
  List<float> step_sizes = {}, step_kept = {};

  template <class Self, class Visit>
  static void fields(Self& self, Visit visit) {
    visit("first_rows.n", self.n, {.length = 2, .for_learning = true});
    visit("first_rows.rows", self.rows, {.width = self.width, .for_learning = true});
    visit("first_rows.step_rows", self.step_rows, {.for_learning = true});
    const std::size_t n = self.step_rows.size();
    visit("first_rows.step_labels", self.step_labels, {.length = n, .for_learning = true});
    visit("first_rows.step_counts", self.step_counts, {.length = n, .for_learning = true});
    visit("first_rows.step_sizes", self.step_sizes, {.length = n, .for_learning = true});
    visit("first_rows.step_kept", self.step_kept, {.length = n, .for_learning = true});
  }
};

class FirstRows {
 public:
  // So many rows are kept, then the whitening stays as it is.
  static constexpr std::size_t kFewest = 8, kMost = 2048, kMostFloats = std::size_t{1} << 24;

  explicit FirstRows(std::size_t width) : width_(width), most_(most(width)) {}
  static std::size_t most(std::size_t width) {
    return width * kMost > kMostFloats ? kMost / 2 : kMost;
  }

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
  // Belongs to the row that was added last.
  void add_step(ClassId label, bool is_count, float size, float kept) {
    steps_.push_back({static_cast<std::uint32_t>(n_ - 1), label, is_count, size, kept});
  }
  // Called when the unit of counts changes. Old rows inform about their class as well as new ones.
  void rescale_counts(float factor) {
    constexpr float kSmallest = 1e-12f;
    for (Step& step : steps_)
      if (step.is_count) step.size = std::max(factor * step.size, kSmallest);
  }
  // Rows that can be added until the whitening changes.
  std::size_t until_renewal() const {
    std::size_t next = kFewest;
    while (next <= n_) next *= 2;
    return next - n_;
  }
  bool is_renewal_due() const { return n_ >= kFewest && (n_ & (n_ - 1)) == 0; }
  bool is_full() const { return n_ >= most_; }
  void close() { *this = FirstRows(width_, 0); }

  const float* rows() const { return rows_.data(); }
  const std::vector<Step>& steps() const { return steps_; }

  void save(State& state) const {
    FirstRowArrays<Owned> saved{width_, {n_, most_}, rows_};
    for (const Step& step : steps_) {
      saved.step_rows.push_back(step.row);
      saved.step_labels.push_back(step.label);
      saved.step_counts.push_back(step.is_count ? 1 : 0);
      saved.step_sizes.push_back(step.size);
      saved.step_kept.push_back(step.kept);
    }
    put_fields(std::move(saved), state);
  }
  // The state has been checked.
  void load(const State& state) {
    FirstRowArrays<Viewed> saved{width_};
    view_fields(saved, state);
    n_ = saved.n[0];
    most_ = saved.n[1];
    rows_.assign(saved.rows.begin(), saved.rows.end());
    for (std::size_t i = 0; i < saved.step_rows.size(); ++i)
      steps_.push_back({saved.step_rows[i], saved.step_labels[i], saved.step_counts[i] != 0,
                        saved.step_sizes[i], saved.step_kept[i]});
  }
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
