// By feature, and by row within a feature: a weight is found by searching its feature's rows.
#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <mutex>

#include "recalltree/file/mapped_weights.hpp"
#include "recalltree/linear/sparse_scoring.hpp"

namespace recalltree {
namespace {

// Rows and weights of one feature. A directory, where there is one, says at which of them each
// stretch of 2^shift rows begins.
template <class Stored>
struct MappedColumn {
  const std::uint32_t* rows = nullptr;
  const Stored* values = nullptr;
  std::uint32_t n = 0, shift = 0;
  const std::uint32_t* directory = nullptr;
  std::size_t n_rows = 0;  // of all features

  bool empty() const { return n == 0; }
  std::size_t size() const { return n; }
  bool is_read_whole(std::size_t asked) const { return asked > n / 4; }
  void prefetch(ModelId row) const {
    if (directory != nullptr) {
      const std::uint32_t begin = directory[row >> shift];
      recalltree::prefetch(rows + begin);
      recalltree::prefetch(values + begin);
    }
  }
  const Stored* find(ModelId row) const {
    std::size_t begin = 0, length = n;
    if (directory != nullptr) {
      begin = directory[row >> shift];
      length = directory[(row >> shift) + 1] - begin;
    }
    // No branches to mispredict.
    while (length > 0) {
      const std::size_t half = length / 2;
      const bool below = rows[begin + half] < row;
      begin += below ? half + 1 : 0;
      length = below ? length - half - 1 : half;
    }
    return begin < n && rows[begin] == row ? values + begin : nullptr;
  }
  template <class Visit>
  void visit(Visit visit) const {
    for (std::size_t i = 0; i < n; ++i)
      if (rows[i] < n_rows) visit(rows[i], widen(values[i]));
  }
};

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

  void scores(const ModelId* rows, std::size_t n, const Example& x, float* out,
              Threads) const override {
    for (std::size_t i = 0; i < n; ++i) out[i] = bias_[rows[i]];
    for (std::size_t k = 0; k < x.keys.size(); ++k) {
      const auto here = column(x.keys[k]);
      for (std::size_t i = 0; i < n && !here.empty(); ++i)
        if (const Stored* const weight = here.find(rows[i])) out[i] += widen(*weight) * x.values[k];
    }
  }
  std::unique_ptr<ExampleScorer> example_scorer() const override {
    return std::make_unique<SparseExampleScorer<MappedSparseWeights>>(*this);
  }
  void score_groups(const std::vector<ExampleGroup>& groups, const ReadExample& read,
                    float* out) const override {
    SparseGroupScorer(*this).score(groups, read, out);
  }

  ModelContents contents(ModelId row) const override {
    ModelContents all = bias_contents(row);
    for (std::uint32_t feature = 0; feature + 1 < offsets_.size(); ++feature) {
      const auto here = column(feature);
      const Stored* const weight = here.find(row);
      if (weight == nullptr) continue;
      all.keys.push_back(feature);
      all.weights.push_back(widen(*weight));
      all.accumulators.push_back(accumulator(static_cast<std::size_t>(weight - values_.data())));
    }
    return all;
  }

  void check() const override {
    for (std::size_t feature = 0; feature + 1 < offsets_.size(); ++feature) {
      const auto [begin, end] = range(feature);
      for (std::size_t at = begin; at < end; ++at) {
        if (rows_[at] >= size()) fail("rows' names a row that does not exist");
        if (at > begin && rows_[at - 1] >= rows_[at])
          fail("rows' is not increasing within feature " + std::to_string(feature));
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

  MappedColumn<Stored> column(std::uint32_t feature) const {
    if (has_directory_.load(std::memory_order_acquire))
      return feature < columns_.size() ? columns_[feature] : MappedColumn<Stored>{};
    return column_in_file(feature);
  }

  // Many examples are worth a directory.
  void prepare_for(std::size_t n) const override {
    if (n * kWeightsPerExample < rows_.size()) return;
    std::call_once(made_directory_, [this] { make_directory(); });
  }

 private:
  // Columns of fewer rows have no directory.
  static constexpr std::uint32_t kIndexed = 32;
  // Rows that a stretch of the directory has, on average.
  static constexpr std::uint32_t kInStretch = 8;
  static constexpr std::size_t kWeightsPerExample = 1024;

  struct Range {
    std::size_t begin, end;
  };
  Range range(std::size_t feature) const {
    if (feature + 1 >= offsets_.size()) return {0, 0};
    const std::size_t end = std::min<std::size_t>(offsets_[feature + 1], rows_.size());
    return {std::min<std::size_t>(offsets_[feature], end), end};
  }

  MappedColumn<Stored> column_in_file(std::size_t feature) const {
    const auto [begin, end] = range(feature);
    MappedColumn<Stored> found;
    found.rows = rows_.data() + begin;
    found.values = values_.data() + begin;
    found.n = static_cast<std::uint32_t>(end - begin);
    found.n_rows = size();
    return found;
  }

  // The columns keep what the file said when the directory was made, whatever it says later.
  void make_directory() const {
    std::vector<std::size_t> starts;
    for (std::size_t feature = 0; feature + 1 < offsets_.size(); ++feature) {
      MappedColumn<Stored> column = column_in_file(feature);
      starts.push_back(directory_.size());
      if (column.n >= kIndexed) {
        const std::size_t rows_in_stretch =
            std::max<std::size_t>(1, size() * kInStretch / column.n);
        column.shift = static_cast<std::uint32_t>(std::bit_width(rows_in_stretch) - 1);
        const std::size_t n_stretches = ((size() - 1) >> column.shift) + 1;
        std::size_t next = 0;
        for (std::uint32_t i = 0; i < column.n; ++i)
          for (const std::size_t stretch = column.rows[i] >> column.shift;
               next < n_stretches && next <= stretch; ++next)
            directory_.push_back(i);
        for (; next <= n_stretches; ++next) directory_.push_back(column.n);
      }
      columns_.push_back(column);
    }
    for (std::size_t feature = 0; feature < columns_.size(); ++feature)
      if (columns_[feature].n >= kIndexed)
        columns_[feature].directory = directory_.data() + starts[feature];
    has_directory_.store(true, std::memory_order_release);
  }

  mutable std::once_flag made_directory_;
  mutable std::atomic<bool> has_directory_{false};
  mutable std::vector<std::uint32_t> directory_;
  mutable std::vector<MappedColumn<Stored>> columns_;
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
