// By feature, and by row within a feature: a weight is found by searching its feature's rows.
#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "recalltree/file/mapped_weights.hpp"

namespace recalltree {
namespace {

template <class Stored>
class MappedSparseWeights final : public MappedWeights {
 public:
  MappedSparseWeights(const std::string& name, const State& state, std::size_t n_features)
      : MappedWeights(name, state, true),
        offsets_(state.get<std::uint64_t>(name + ".offsets")),
        rows_(state.get<std::uint32_t>(name + ".rows")),
        values_(state.get<Stored>(name + ".weights", rows_.size())) {
    if (has_accumulators_)
      State::check_length(name + ".accumulators", accumulators_.size(), rows_.size());
    if (offsets_.empty() || offsets_.front() != 0 || offsets_.back() != rows_.size())
      fail("offsets' does not begin with 0 and end with the number of weights");
    if (!std::is_sorted(offsets_.begin(), offsets_.end())) fail("offsets' is not increasing");
    if (offsets_.size() - 1 > n_features) fail("offsets' has more features than the model");
  }

  void scores(const RowId* rows, std::size_t n, const Example& x, float* out) const override {
    if (n * 4 >= size() && n > 1)
      score_all(rows, n, x, out);
    else
      search(rows, n, x, out);
  }

  RowContents contents(RowId row) const override {
    RowContents all = bias_contents(row);
    for (std::size_t key = 0; key + 1 < offsets_.size(); ++key) {
      const Column c = column(key);
      const std::size_t at = find(c.begin, c.end, row);
      if (at == c.end || rows_[at] != row) continue;
      all.keys.push_back(static_cast<std::uint32_t>(key));
      all.weights.push_back(widen(values_[at]));
      all.accumulators.push_back(accumulator(at));
    }
    return all;
  }

  void check() const override {
    for (std::size_t key = 0; key + 1 < offsets_.size(); ++key) {
      const Column c = column(key);
      for (std::size_t at = c.begin; at < c.end; ++at) {
        if (rows_[at] >= size()) fail("rows' names a row that does not exist");
        if (at > c.begin && rows_[at - 1] >= rows_[at])
          fail("rows' is not increasing within feature " + std::to_string(key));
        if (!std::isfinite(widen(values_[at])))
          fail("weights' holds " + std::to_string(widen(values_[at])) + " at position " +
               std::to_string(at));
      }
    }
    check_finite("accumulators", accumulators_);
    check_finite("bias", bias_);
    check_finite("bias_accumulators", bias_accumulators_);
  }

  std::size_t bytes() const override {
    return offsets_.size_bytes() + rows_.size_bytes() + values_.size_bytes() +
           accumulators_.size_bytes() + bias_.size_bytes() + bias_accumulators_.size_bytes();
  }

 private:
  struct Column {
    std::size_t begin, end;
  };
  Column column(std::size_t key) const {
    if (key + 1 >= offsets_.size()) return {0, 0};
    const std::size_t end = std::min<std::size_t>(offsets_[key + 1], rows_.size());
    return {std::min<std::size_t>(offsets_[key], end), end};
  }

  // The first place in [begin, end) whose row is not below `row`. No branches to mispredict.
  std::size_t find(std::size_t begin, std::size_t end, RowId row) const {
    std::size_t length = end - begin;
    while (length > 0) {
      const std::size_t half = length / 2;
      const bool below = rows_[begin + half] < row;
      begin += below ? half + 1 : 0;
      length = below ? length - half - 1 : half;
    }
    return begin;
  }

  // A few rows: each is searched for in every feature, in the order of the rows, so that a search
  // begins where the last one ended.
  void search(const RowId* rows, std::size_t n, const Example& x, float* out) const {
    thread_local std::vector<std::uint32_t> order;
    order.resize(n);
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(),
              [&](std::uint32_t a, std::uint32_t b) { return rows[a] < rows[b]; });
    for (std::size_t i = 0; i < n; ++i) out[i] = bias_[rows[i]];
    for (std::size_t k = 0; k < x.keys.size(); ++k) {
      const Column c = column(x.keys[k]);
      const float z = x.values[k];
      std::size_t at = c.begin;
      for (const std::uint32_t i : order) {
        at = gallop(at, c.end, rows[i]);
        if (at == c.end) break;
        if (rows_[at] == rows[i]) out[i] += widen(values_[at]) * z;
      }
    }
  }
  std::size_t gallop(std::size_t begin, std::size_t end, RowId row) const {
    for (std::size_t step = 1;; step *= 2) {
      if (step >= end - begin) return find(begin, end, row);
      if (rows_[begin + step] >= row) return find(begin, begin + step, row);
      begin += step + 1;
      if (begin == end) return end;
    }
  }

  // Most rows: the features are read from end to end, which is quicker than searching.
  void score_all(const RowId* rows, std::size_t n, const Example& x, float* out) const {
    thread_local std::vector<float> sums;
    sums.assign(bias_.begin(), bias_.end());
    for (std::size_t k = 0; k < x.keys.size(); ++k) {
      const Column c = column(x.keys[k]);
      const float z = x.values[k];
      for (std::size_t at = c.begin; at < c.end; ++at)
        if (const std::uint32_t row = rows_[at]; row < sums.size())
          sums[row] += widen(values_[at]) * z;
    }
    for (std::size_t i = 0; i < n; ++i) out[i] = sums[rows[i]];
  }

  std::span<const std::uint64_t> offsets_;
  std::span<const std::uint32_t> rows_;
  std::span<const Stored> values_;
};

}  // namespace

std::unique_ptr<MappedWeights> map_sparse_weights(const std::string& name, const State& state,
                                                  std::size_t n_features) {
  switch (state.array(name + ".weights").kind) {
    case 'e':
      return std::make_unique<MappedSparseWeights<Float16>>(name, state, n_features);
    case 'H':
      return std::make_unique<MappedSparseWeights<BFloat16>>(name, state, n_features);
    default:
      return std::make_unique<MappedSparseWeights<float>>(name, state, n_features);
  }
}

}  // namespace recalltree
