// By feature, and by model within a feature: a weight is found by searching its feature's models.
#include <algorithm>
#include <atomic>
#include <bit>
#include <mutex>

#include "recalltree/base/hints.hpp"
#include "recalltree/file/mapped_weights.hpp"
#include "recalltree/kernels/groups.hpp"
#include "recalltree/linear/sparse_scoring.hpp"
#include "recalltree/linear/sparse_weights.hpp"

namespace recalltree {
namespace {

// Models and weights of one feature. The directory says at which of them each stretch of 2^shift
// models begins; without one, which takes a pass over the file, a column is searched by halves.
template <class Stored>
struct MappedColumn {
  const std::uint32_t* models = nullptr;
  const Stored* values = nullptr;
  const std::uint32_t* directory = nullptr;
  std::uint32_t n = 0, shift = 0;
  std::size_t n_readable = 0;  // ids from `models` to the end of the array
  std::size_t n_models = 0;    // of all features

  bool empty() const { return n == 0; }
  std::size_t size() const { return n; }
  bool is_read_whole(std::size_t asked) const { return asked > n / 4; }
  void prefetch(ModelId model) const {
    if (directory == nullptr) return;
    const std::uint32_t begin = directory[model >> shift];
    recalltree::prefetch(models + begin);
    recalltree::prefetch(values + begin);
  }
  // Most questions have the answer that there is no weight, and a stretch has rarely more models
  // than are compared at once: no branch is hard to foresee.
  const Stored* find(ModelId model) const {
    if (directory == nullptr) return search(model, 0, n);
    const std::size_t begin = directory[model >> shift], end = directory[(model >> shift) + 1];
    if (end - begin > kIdsInGroup || n_readable < begin + kIdsInGroup)
      return search(model, begin, end);
    const unsigned here = matches(models + begin, model) & ((1u << (end - begin)) - 1);
    return here != 0 ? values + begin + std::countr_zero(here) : nullptr;
  }
  template <class Visit>
  void visit(Visit visit) const {
    for (std::size_t i = 0; i < n; ++i)
      if (models[i] < n_models) visit(models[i], widen(values[i]));
  }

 private:
  const Stored* search(ModelId model, std::size_t begin, std::size_t end) const {
    const auto at = std::lower_bound(models + begin, models + end, model);
    return at != models + end && *at == model ? values + (at - models) : nullptr;
  }
};

template <class Stored>
class MappedSparseWeights final : public MappedArrays<SparseArrays<Viewed, Stored>> {
 public:
  using MappedArrays<SparseArrays<Viewed, Stored>>::arrays_;

  MappedSparseWeights(const std::string& name, const State& state, std::size_t n_features)
      : MappedArrays<SparseArrays<Viewed, Stored>>(name, state, {}) {
    check_offsets(arrays_.offsets, arrays_.models.size(), (name + ".offsets").c_str());
    if (arrays_.offsets.size() - 1 > n_features)
      this->fail("offsets' has more features than the model");
  }

  void scores(const ModelId* models, std::size_t n, const Example& x, float* out) const override {
    if (n == 0) return;
    for (std::size_t i = 0; i < n; ++i) out[i] = this->bias(models[i]);
    add_scores(
        models, n, x, out, [](std::size_t) {},
        [&](std::size_t k, auto use) {
          if (const auto here = column(x.features[k]); !here.empty()) use(here);
        },
        [](std::size_t, std::size_t, const Stored*) {});
  }
  std::unique_ptr<ExampleScorer> example_scorer() const override {
    if (has_tables_.load(std::memory_order_acquire)) return tables_->example_scorer();
    return std::make_unique<SparseExampleScorer<MappedSparseWeights>>(*this);
  }
  void score_groups(const std::vector<ExampleGroup>& groups, const ReadExample& read,
                    float* out) const override {
    SparseGroupScorer(*this).score(groups, read, out);
  }

  ModelContents contents(ModelId model) const override {
    ModelContents all = this->bias_contents(model);
    for (std::uint32_t feature = 0; feature + 1 < arrays_.offsets.size(); ++feature) {
      const Stored* const weight = column(feature).find(model);
      if (weight == nullptr) continue;
      const auto at = static_cast<std::size_t>(weight - arrays_.weights.data());
      all.features.push_back(feature);
      all.weights.push_back(widen(*weight));
      all.accumulators.push_back(this->has_accumulators_ ? arrays_.accumulators[at] : 0.0f);
    }
    return all;
  }

  void check() const override {
    check_finite_fields(arrays_, this->prefix_);
    for (std::size_t feature = 0; feature + 1 < arrays_.offsets.size(); ++feature) {
      const auto here = column_in_file(feature);
      for (std::uint32_t i = 0; i < here.n; ++i) {
        if (here.models[i] >= this->size()) this->fail("rows' names a row that does not exist");
        if (i > 0 && here.models[i - 1] >= here.models[i])
          this->fail("rows' is not increasing within feature " + std::to_string(feature));
      }
    }
  }

  // Bytes of the file and of the indexes that were built.
  std::size_t bytes() const override {
    std::size_t all = MappedArrays<SparseArrays<Viewed, Stored>>::bytes();
    if (has_directory_.load(std::memory_order_acquire))
      all +=
          directory_.capacity() * sizeof(directory_[0]) + columns_.capacity() * sizeof(columns_[0]);
    if (has_tables_.load(std::memory_order_acquire)) all += tables_->bytes();
    return all;
  }

  MappedColumn<Stored> column(std::uint32_t feature) const {
    if (has_directory_.load(std::memory_order_acquire))
      return feature < columns_.size() ? columns_[feature] : MappedColumn<Stored>{};
    return column_in_file(feature);
  }

  // Many examples are worth a directory, if their models are asked for together. If they are asked
  // one by one, anywhere in the file, a copy in tables is worth its memory.
  void prepare_for(std::size_t n, ReadWeights::Asked asked) const override {
    if (n * kWeightsPerExample < arrays_.models.size()) return;
    if (asked == ReadWeights::Asked::together)
      std::call_once(made_directory_, [this] { make_directory(); });
    else
      std::call_once(made_tables_, [this] { make_tables(); });
  }

 private:
  // Models that a stretch of the directory has, at most on average.
  static constexpr std::size_t kInStretch = 4;
  static constexpr std::size_t kWeightsPerExample = 1024;

  MappedColumn<Stored> column_in_file(std::size_t feature) const {
    const auto& offsets = arrays_.offsets;
    if (feature + 1 >= offsets.size()) return {};
    const std::size_t size = arrays_.models.size();
    const std::size_t end = std::min<std::size_t>(offsets[feature + 1], size);
    const std::size_t begin = std::min<std::size_t>(offsets[feature], end);
    MappedColumn<Stored> found;
    found.models = arrays_.models.data() + begin;
    found.values = arrays_.weights.data() + begin;
    found.n = static_cast<std::uint32_t>(end - begin);
    found.n_readable = size - begin;
    found.n_models = this->size();
    return found;
  }

  // The columns keep what the file said when the directory was made, whatever it says later.
  void make_directory() const {
    const std::size_t n_models = this->size();
    std::vector<std::size_t> starts;
    for (std::size_t feature = 0; feature + 1 < arrays_.offsets.size(); ++feature) {
      MappedColumn<Stored>& column = columns_.emplace_back(column_in_file(feature));
      starts.push_back(directory_.size());
      if (column.empty()) continue;
      const std::size_t in_stretch = std::max<std::size_t>(1, n_models * kInStretch / column.n);
      column.shift = static_cast<std::uint32_t>(std::bit_width(in_stretch) - 1);
      const std::size_t n_stretches = ((n_models - 1) >> column.shift) + 1;
      std::size_t next = 0;
      for (std::uint32_t i = 0; i < column.n; ++i)
        for (const std::size_t stretch = column.models[i] >> column.shift;
             next < n_stretches && next <= stretch; ++next)
          directory_.push_back(i);
      directory_.resize(starts.back() + n_stretches + 1, column.n);
    }
    for (std::size_t feature = 0; feature < columns_.size(); ++feature)
      if (!columns_[feature].empty())
        columns_[feature].directory = directory_.data() + starts[feature];
    has_directory_.store(true, std::memory_order_release);
  }

  void make_tables() const {
    tables_ = std::make_unique<SparseWeights>(true, SparseWeights::Use::predict);
    for (const float bias : arrays_.bias) tables_->add_model(bias, 0.0f);
    for (std::uint32_t feature = 0; feature + 1 < arrays_.offsets.size(); ++feature) {
      const auto column = column_in_file(feature);
      tables_->fill(feature, column.n, [&](auto put) {
        column.visit([&](ModelId model, float weight) { put(model, weight, 0.0f); });
      });
    }
    has_tables_.store(true, std::memory_order_release);
  }

  mutable std::once_flag made_directory_, made_tables_;
  mutable std::atomic<bool> has_directory_{false}, has_tables_{false};
  mutable std::unique_ptr<SparseWeights> tables_;
  mutable std::vector<std::uint32_t> directory_;
  mutable std::vector<MappedColumn<Stored>> columns_;
};

}  // namespace

std::unique_ptr<MappedWeights> map_sparse_weights(const std::string& name, const State& state,
                                                  std::size_t n_features) {
  return map_stored<MappedSparseWeights>(name, state, n_features);
}

}  // namespace recalltree
