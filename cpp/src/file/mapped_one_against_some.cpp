#include "recalltree/file/mapped_one_against_some.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

namespace recalltree {

MappedOneAgainstSome::MappedOneAgainstSome(const OneAgainstSomeConfig& config, State state)
    : MappedModel(config.learner, std::move(state)),
      given_(config),
      rules_(config),
      forest_(rules_.config, state_, n_classes()),
      predictors_(map_dense_weights("predictors", state_, config.learner.n_features,
                                    DenseWeights::Rates::per_model)),
      centring_(config.learner, config.center) {
  require(predictors_->size() == (rules_.weights_in_pairs ? 0 : n_classes()),
          "predictors and classes differ in number");

  keys_ = state_.get<std::uint32_t>("keys.features");
  document_counts_ = state_.get<double>("keys.examples", keys_.size());
  key_weights_ = state_.get<float>("keys.weights", keys_.size());
  key_offsets_ = state_.get<std::uint64_t>("keys.offsets", keys_.size() + 1);
  labels_ = state_.get<std::uint32_t>("keys.labels");
  roots_ = state_.get<float>("keys.roots", labels_.size());
  entry_weights_ = weights_array("keys.predictors", labels_.size());
  check_keys();

  pair_offsets_ = state_.get<std::uint64_t>("pairs.offsets", n_classes() + 1);
  pair_keys_ = state_.get<std::uint32_t>("pairs.keys");
  counts_ = state_.get<float>("pairs.counts", pair_keys_.size());
  pair_weights_ = weights_array("pairs.weights", pair_keys_.size());
  check_offsets(pair_offsets_, pair_keys_.size(), "pairs.offsets");

  class_sums_ = state_.get<double>("classes.sums", 2 * n_classes());
  bias_ = state_.get<float>("classes.bias", n_classes());
  frequent_ = state_.get<std::uint32_t>("frequent.labels");
  state_.get<float>("frequent.roots", frequent_.size());
  check_class_ids(frequent_, n_classes(), "frequent.labels");
  require(frequent_.size() <= config.max_labels, "'frequent.labels' is longer than a histogram");

  centring_.load(state_);
  scales_ = state_.get<float>("vote.scales", 6);
  const auto counted = state_.get<double>("counted.examples", 2);
  const auto n = state_.get<std::uint64_t>("counted.n", 1)[0];
  require(n <= n_examples_ && (n > 0) == (n_examples_ > 0),
          "'counted.n' does not fit the number of examples");
  examples_ = counted[0];
  unit_ = rules_.unit(static_cast<double>(n), counted[1]);

  if (state_.has("keys.accumulators")) state_.get<float>("keys.accumulators", keys_.size());
  if (state_.has("pairs.accumulators"))
    accumulators_ = state_.get<float>("pairs.accumulators", pair_keys_.size());
  if (state_.has("classes.bias_accumulators"))
    state_.get<float>("classes.bias_accumulators", n_classes());
  state_.check_all_read();
}

Array MappedOneAgainstSome::weights_array(const char* name, std::size_t size) const {
  const Array weights = state_.array(name);
  if (weights.kind != 'f' && weights.kind != 'e' && weights.kind != 'H')
    throw std::invalid_argument(std::string("state: array '") + name + "' has the wrong type");
  State::check_length(name, weights.size, size);
  return weights;
}

bool MappedOneAgainstSome::is_complete() const {
  return state_.has("keys.accumulators") && state_.has("pairs.accumulators") &&
         state_.has("classes.bias_accumulators") && forest_.is_complete() &&
         predictors_->has_accumulators();
}

void MappedOneAgainstSome::check_keys() const {
  require(std::adjacent_find(keys_.begin(), keys_.end(), std::greater_equal<>()) == keys_.end() &&
              (keys_.empty() || keys_.back() < config_.n_features),
          "'keys.features' is not a sorted list of features");
  check_offsets(key_offsets_, labels_.size(), "keys.offsets");
  for (std::size_t i = 0; i < keys_.size(); ++i)
    require(key_offsets_[i + 1] - key_offsets_[i] <= given_.max_labels,
            "'keys.offsets' describes a histogram that is too long");
}

void MappedOneAgainstSome::check() const {
  MappedModel::check();
  forest_.check();
  predictors_->check();
  check_class_ids(labels_, n_classes(), "keys.labels");
  std::vector<std::size_t> listed_by(n_classes(), keys_.size());
  for (std::size_t k = 0; k < keys_.size(); ++k) {
    float last = std::numeric_limits<float>::infinity();
    for (std::size_t i = key_offsets_[k]; i < key_offsets_[k + 1]; ++i) {
      require(listed_by[labels_[i]] != k, "a histogram repeats a class");
      listed_by[labels_[i]] = k;
      require(roots_[i] >= 0.0f && roots_[i] <= last, "a histogram is not ranked by count");
      last = roots_[i];
    }
  }
  check_finite(roots_, "keys.roots");
  with_weights(entry_weights_, [&](const auto* weights) {
    for (std::size_t i = 0; i < labels_.size(); ++i)
      require(std::isfinite(widen(weights[i])),
              "'keys.predictors' holds a number that is not finite");
  });
  check_pairs();
  check_finite(document_counts_, "keys.examples");
  check_finite(key_weights_, "keys.weights");
  check_finite(class_sums_, "classes.sums");
  for (const char* name : {"classes.bias", "frequent.roots", "vote.scales", "keys.accumulators",
                           "pairs.accumulators", "classes.bias_accumulators"})
    if (state_.has(name)) check_finite(state_.get<float>(name), name);
  check_finite(state_.get<double>("centring.moments"), "centring.moments");
  check_finite(state_.get<double>("centring.sums"), "centring.sums");
  check_finite(state_.get<double>("counted.examples"), "counted.examples");
  require(std::isfinite(unit_) && unit_ > 0.0, "'counted.examples' is out of range");
}

void MappedOneAgainstSome::check_pairs() const {
  for (ClassId y = 0; y < n_classes(); ++y)
    for (std::size_t i = pair_offsets_[y]; i < pair_offsets_[y + 1]; ++i)
      require(pair_keys_[i] < config_.n_features &&
                  (i == pair_offsets_[y] || pair_keys_[i - 1] < pair_keys_[i]),
              "'pairs.keys' is not a sorted list of features");
  with_weights(pair_weights_, [&](const auto* weights) {
    for (std::size_t i = 0; i < pair_keys_.size(); ++i)
      require(std::isfinite(widen(weights[i])),
              "'pairs.weights' holds a number that is not finite");
  });
  for (const float count : counts_)
    require(std::isfinite(count) && count >= 0.0f,
            "'pairs.counts' holds a count that is negative or not finite");
}

void MappedOneAgainstSome::score(const Rows& rows, std::size_t i, Workspace& base) const {
  auto& ws = static_cast<OneAgainstSomeWorkspace&>(base);
  score_by_votes(*this, rows, i, n_classes_seen(), ws);
  ws.scores = ws.voting.score;
}

void MappedOneAgainstSome::score_rows(const Rows& rows, std::size_t begin, std::size_t end,
                                      Workspace& ws, const Emit& emit) const {
  if (!rules_.weights_in_pairs) return MappedModel::score_rows(rows, begin, end, ws, emit);
  score_rows_by_votes(*this, rows, begin, end, n_classes_seen(),
                      static_cast<OneAgainstSomeWorkspace&>(ws), emit);
}

ClassView MappedOneAgainstSome::class_view(ClassId y) const {
  const char* accumulators = "classes.bias_accumulators";
  return {class_sums_[2 * y] / unit_, class_sums_[2 * y + 1] / unit_, bias_[y],
          state_.has(accumulators) ? state_.get<float>(accumulators)[y] : 0.0f};
}

std::vector<std::pair<ClassId, double>> MappedOneAgainstSome::frequent_classes() const {
  std::vector<std::pair<ClassId, double>> all;
  visit_frequent(Threads::one, [&](ClassId label) {
    all.emplace_back(label, class_sums_[2 * label] / unit_);
    return false;
  });
  return all;
}

std::vector<std::pair<std::string, std::size_t>> MappedOneAgainstSome::memory() const {
  const auto bytes = [this](const char* name, std::size_t each) {
    return state_.has(name) ? state_.array(name).size * each : 0;
  };
  const auto weights_bytes = [](const Array& weights) {
    return weights.size * (weights.kind == 'f' ? 4 : 2);
  };
  return {{"histograms",
           keys_.size_bytes() + document_counts_.size_bytes() + key_weights_.size_bytes() +
               bytes("keys.accumulators", 4) + key_offsets_.size_bytes() + labels_.size_bytes() +
               roots_.size_bytes() + weights_bytes(entry_weights_) + forest_.histogram_bytes()},
          {"pairs", pair_offsets_.size_bytes() + pair_keys_.size_bytes() + counts_.size_bytes() +
                        weights_bytes(pair_weights_) + bytes("pairs.accumulators", 4)},
          {"predictors", predictors_->bytes()},
          {"routers", forest_.routers().bytes()},
          {"nodes", forest_.node_bytes()},
          {"classes", class_sums_.size_bytes() + bias_.size_bytes() +
                          bytes("classes.bias_accumulators", 4) + 2 * frequent_.size_bytes()},
          {"feature_scale", scale_.size_bytes() + centring_.bytes()}};
}

}  // namespace recalltree
