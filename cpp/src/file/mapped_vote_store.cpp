#include "recalltree/file/mapped_vote_store.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "recalltree/file/state_checks.hpp"

namespace recalltree {

MappedVoteStore::MappedVoteStore(const OneAgainstSomeConfig& config, const State& state,
                                 std::size_t n_classes, std::uint64_t n_examples)
    : rules(config),
      forest(rules.config, state, n_classes),
      predictors_(map_dense_weights("predictors", state, config.learner.n_features,
                                    DenseWeights::Rates::per_model)),
      centring_(config.learner, config.center) {
  if (rules.has_cells) cells_.emplace(rules.cells(), state, n_classes);
  require(predictors_->size() == (rules.has_dense_predictors ? n_classes : 0),
          "predictors and classes differ in number");
  pairs_.n_classes = classes_.n_classes = n_classes;
  moments_.n_features = config.learner.sparse ? 0 : config.learner.n_features;
  view_fields(keys_, state);
  view_fields(pairs_, state);
  view_fields(classes_, state);
  view_fields(moments_, state);
  is_complete_ = has_learning_fields(keys_, state) && has_learning_fields(pairs_, state) &&
                 has_learning_fields(classes_, state) && forest.is_complete() &&
                 predictors_->has_accumulators() && (!cells_ || cells_->is_complete());
  check_keys(config);
  check_offsets(pairs_.offsets, pairs_.keys.size(), "pairs.offsets");
  check_class_ids(classes_.frequent, n_classes, "frequent.labels");
  require(classes_.frequent.size() <= config.max_labels,
          "'frequent.labels' is longer than a histogram");
  const std::uint64_t n = classes_.n[0];
  require(n <= n_examples && (n > 0) == (n_examples > 0),
          "'counted.n' does not fit the number of examples");
  centring_.load(state);
  if (state.has(VoteStore::kLabels)) state.get<std::uint64_t>(VoteStore::kLabels, 1);
  decay_unit_ = rules.decay_unit(static_cast<double>(n), classes_.counted[1]);
}

void MappedVoteStore::check_keys(const OneAgainstSomeConfig& config) const {
  const auto& features = keys_.features;
  require(std::adjacent_find(features.begin(), features.end(), std::greater_equal<>()) ==
                  features.end() &&
              (features.empty() || features.back() < config.learner.n_features),
          "'keys.features' is not a sorted list of features");
  check_offsets(keys_.offsets, keys_.labels.size(), "keys.offsets");
  for (std::size_t i = 0; i < features.size(); ++i)
    require(keys_.offsets[i + 1] - keys_.offsets[i] <= config.max_labels,
            "'keys.offsets' describes a histogram that is too long");
}

void MappedVoteStore::check() const {
  forest.check();
  predictors_->check();
  if (cells_) cells_->check();
  check_finite_fields(keys_);
  check_finite_fields(pairs_);
  check_finite_fields(classes_);
  check_finite_fields(moments_);
  require(std::isfinite(decay_unit_) && decay_unit_ > 0.0, "'counted.examples' is out of range");
  check_class_ids(keys_.labels, n_classes(), "keys.labels");
  std::vector<std::size_t> listed_by(n_classes(), keys_.features.size());
  for (std::size_t k = 0; k < keys_.features.size(); ++k) {
    float last = std::numeric_limits<float>::infinity();
    for (std::size_t i = keys_.offsets[k]; i < keys_.offsets[k + 1]; ++i) {
      require(listed_by[keys_.labels[i]] != k, "a histogram repeats a class");
      listed_by[keys_.labels[i]] = k;
      require(keys_.roots[i] >= 0.0f && keys_.roots[i] <= last,
              "a histogram is not ranked by count");
      last = keys_.roots[i];
    }
  }
  for (ClassId y = 0; y < n_classes(); ++y)
    for (std::size_t i = pairs_.offsets[y]; i < pairs_.offsets[y + 1]; ++i)
      require(pairs_.keys[i] < rules.config.learner.n_features &&
                  (i == pairs_.offsets[y] || pairs_.keys[i - 1] < pairs_.keys[i]),
              "'pairs.keys' is not a sorted list of features");
  for (const float count : pairs_.counts)
    require(count >= 0.0f, "'pairs.counts' holds a count that is negative");
}

void MappedVoteStore::prepare_for(std::size_t n_rows) const {
  constexpr std::size_t kPairsPerRow = 256;  // indexed in the time that a row gains
  if (n_rows * kPairsPerRow < pairs_.keys.size()) return;
  std::call_once(made_index_, [this] {
    auto made = std::make_unique<VoteIndex>(keys_.features);
    for (ClassId y = 0; y < n_classes(); ++y) {
      const auto [begin, end] = range(pairs_.offsets, y, pairs_.keys.size());
      made->add_class(pairs_.keys.subspan(begin, end - begin), terms(y));
    }
    own_index_ = std::move(made);
    index_.store(own_index_.get(), std::memory_order_release);
  });
}

std::vector<std::pair<std::string, std::size_t>> MappedVoteStore::memory() const {
  return {{"histograms", bytes_of_fields(keys_) + forest.histogram_bytes()},
          {"pairs", bytes_of_fields(pairs_) + (index() ? index()->bytes() : 0)},
          {"predictors", predictors_->bytes()},
          {"cells", cells_ ? cells_->bytes() : 0},
          {"routers", forest.routers().bytes()},
          {"nodes", forest.node_bytes()},
          {"classes", bytes_of_fields(classes_)},
          {"feature_scale", centring_.bytes()}};
}

}  // namespace recalltree
