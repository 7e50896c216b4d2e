#include "recalltree/file/merged_lists.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "recalltree/file/state_checks.hpp"

namespace recalltree {
namespace {

constexpr std::uint32_t kEnd = std::numeric_limits<std::uint32_t>::max();  // no id is as large

// Goes through one row of a model, by the names of the merged lists.
class Cursor {
 public:
  void start(const ListsOfModel& model, std::size_t row) {
    const std::size_t begin = model.begins[row], end = model.ends[row];
    require(begin <= end && end <= model.ids.size(), "a list ends beyond its array");
    ids_ = model.ids.data() + begin;
    size_ = end - begin;
    bool is_increasing = true;
    for (std::size_t i = 1; i < size_; ++i) is_increasing &= ids_[i - 1] < ids_[i];
    require(is_increasing, "a list is not increasing");
    first_ = begin;
    order_ = nullptr;
    if (!model.names.empty()) name(model.names);
    require(size_ == 0 || ids_[size_ - 1] != kEnd, "a list holds a number too large");
    at_ = 0;
    id = size_ == 0 ? kEnd : ids_[0];
  }
  // Where the model has its counts and weights of the id.
  std::size_t entry() const { return first_ + (order_ ? order_[at_] : at_); }
  void next() { id = ++at_ == size_ ? kEnd : ids_[at_]; }

  std::uint32_t id = kEnd;  // where the cursor stands; kEnd after the last

 private:
  void name(std::span<const std::uint32_t> names) {
    require(size_ == 0 || ids_[size_ - 1] < names.size(), "a list holds a number too large");
    named_.resize(size_);
    for (std::size_t i = 0; i < size_; ++i) named_[i] = names[ids_[i]];
    if (!std::is_sorted(named_.begin(), named_.end())) sort();
    ids_ = named_.data();
  }
  void sort() {
    keyed_.resize(size_);
    places_.resize(size_);
    for (std::size_t i = 0; i < size_; ++i) keyed_[i] = std::uint64_t{named_[i]} << 32 | i;
    std::sort(keyed_.begin(), keyed_.end());
    for (std::size_t i = 0; i < size_; ++i) {
      named_[i] = static_cast<std::uint32_t>(keyed_[i] >> 32);
      places_[i] = static_cast<std::uint32_t>(keyed_[i]);
    }
    order_ = places_.data();
  }

  const std::uint32_t* ids_ = nullptr;
  const std::uint32_t* order_ = nullptr;  // of the ids; null: their own
  std::size_t size_ = 0, first_ = 0, at_ = 0;
  std::vector<std::uint32_t> named_, places_;
  std::vector<std::uint64_t> keyed_;
};

// Calls use(id) for each id of a merged row. The cursors of rows that have it stand at it; use
// moves them on.
template <class Use>
void for_each_id(std::span<const ListsOfModel> models, std::vector<Cursor>& cursors,
                 std::size_t row, Use&& use) {
  for (std::size_t m = 0; m < models.size(); ++m) cursors[m].start(models[m], row);
  for (;;) {
    std::uint32_t id = kEnd;
    for (const Cursor& cursor : cursors) id = std::min(id, cursor.id);
    if (id == kEnd) return;
    use(id);
  }
}

std::size_t check_rows(std::span<const ListsOfModel> models) {
  const std::size_t n_rows = models.empty() ? 0 : models.front().begins.size();
  for (const ListsOfModel& model : models) {
    require(model.begins.size() == n_rows && model.ends.size() == n_rows,
            "models have different numbers of rows");
    const ListsOfModel& first = models.front();
    for (const auto part :
         {&ListsOfModel::counts, &ListsOfModel::weights, &ListsOfModel::accumulators}) {
      require((model.*part).data() == nullptr || (model.*part).size() == model.ids.size(),
              "ids and what stands beside them differ in number");
      require(((model.*part).data() == nullptr) == ((first.*part).data() == nullptr),
              "one model has values that another lacks");
    }
    require((model.weights.data() == nullptr) == (model.accumulators.data() == nullptr),
            "weights and accumulators come together");
  }
  return n_rows;
}

double root(double G0, double g) { return std::sqrt(G0 + g) + std::sqrt(G0); }

constexpr double kTiny = 1e-30;  // keeps quotients finite where nothing was learned

template <MergeRule rule>
double importance(double G0, double g, double share) {
  if constexpr (rule == MergeRule::kReplay) return root(G0, g);
  if constexpr (rule == MergeRule::kMass) return g + kTiny;
  if constexpr (rule == MergeRule::kRoot) return std::sqrt(g + kTiny);
  if constexpr (rule == MergeRule::kMean) return share;
  return 1.0;
}

template <MergeRule rule>
double norm(double G0, double g) {
  if constexpr (rule == MergeRule::kReplay) return root(G0, g) + kTiny;
  if constexpr (rule == MergeRule::kMass) return g + kTiny;
  if constexpr (rule == MergeRule::kRoot) return std::sqrt(g + kTiny);
  return 1.0;
}

// Base + sum of (model - base), of the models that have a number: what one of them forgot stays as
// it was in the base.
class Count {
 public:
  Count(double base, double now) : base_(base), total_(now * base) {}
  void add(const ListsOfModel& model, float count) {
    const float today = static_cast<float>(model.now) * count;
    total_ += today - model.then * base_;
  }
  float merged() const { return static_cast<float>(std::max(total_, 0.0)); }

 private:
  double base_, total_;
};

template <MergeRule rule>
class Weight {
 public:
  Weight(double weight, double squares) : w0_(weight), G0_(squares) {}
  void add(double weight, double squares, double share) {
    const double change = squares - G0_, step = weight - w0_;
    if (change == 0.0 && step == 0.0) return;
    const double gain = std::max(change, 0.0);
    moved_ += importance<rule>(G0_, gain, share) * step;
    gained_ += gain;
    changed_ += change;
    is_changed_ = true;
  }
  float merged() const {
    return static_cast<float>(is_changed_ ? w0_ + moved_ / norm<rule>(G0_, gained_) : w0_ + 0.0);
  }
  float squares(double offset) const {
    return static_cast<float>(std::max(std::max(G0_ + changed_, 0.0) - offset, 0.0));
  }

 private:
  double w0_, G0_, moved_ = 0.0, gained_ = 0.0, changed_ = 0.0;
  bool is_changed_ = false;
};

template <MergeRule rule>
void merge_by(std::span<const ListsOfModel> models, double offset, MergedLists& merged) {
  const std::size_t n_rows = check_rows(models);
  if (models.empty()) return;
  const ListsOfModel& base = models.front();
  const bool has_counts = base.counts.data() != nullptr;
  const bool has_weights = base.weights.data() != nullptr;
  std::vector<Cursor> cursors(models.size());
  for (std::size_t row = 0; row < n_rows; ++row)
    for_each_id(models, cursors, row, [&](std::uint32_t id) {
      double count0 = 0.0, w0 = 0.0, G0 = offset;
      if (cursors[0].id == id) {
        const std::size_t entry = cursors[0].entry();
        cursors[0].next();
        if (has_counts) count0 = base.counts[entry];
        if (has_weights) w0 = base.weights[entry], G0 = base.accumulators[entry] + offset;
      }
      Count count(count0, base.now);
      Weight<rule> weight(w0, G0);
      for (std::size_t m = 1; m < cursors.size(); ++m) {
        if (cursors[m].id != id) continue;
        const std::size_t entry = cursors[m].entry();
        cursors[m].next();
        const ListsOfModel& model = models[m];
        if (has_counts) count.add(model, model.counts[entry]);
        if (has_weights)
          weight.add(model.weights[entry], model.accumulators[entry] + offset, model.share);
      }
      merged.ids.push_back(id);
      if (has_counts) merged.counts.push_back(count.merged());
      if (!has_weights) return;
      merged.weights.push_back(weight.merged());
      merged.accumulators.push_back(weight.squares(offset));
    });
}

}  // namespace

MergeRule merge_rule(std::string_view name) {
  constexpr std::array names{
      std::pair{"replay", MergeRule::kReplay}, std::pair{"mass", MergeRule::kMass},
      std::pair{"root", MergeRule::kRoot}, std::pair{"mean", MergeRule::kMean},
      std::pair{"sum", MergeRule::kSum}};
  for (const auto& [known, rule] : names)
    if (name == known) return rule;
  throw std::invalid_argument("there is no rule '" + std::string(name) + "'");
}

std::vector<std::uint64_t> merged_sizes(std::span<const ListsOfModel> models) {
  const std::size_t n_rows = check_rows(models);
  std::vector<std::uint64_t> sizes(n_rows, 0);
  std::vector<Cursor> cursors(models.size());
  for (std::size_t row = 0; row < n_rows; ++row)
    for_each_id(models, cursors, row, [&](std::uint32_t id) {
      ++sizes[row];
      for (Cursor& cursor : cursors)
        if (cursor.id == id) cursor.next();
    });
  return sizes;
}

MergedLists merge_lists(std::span<const ListsOfModel> models, MergeRule rule, double offset) {
  MergedLists merged;
  switch (rule) {
    case MergeRule::kReplay:
      merge_by<MergeRule::kReplay>(models, offset, merged);
      break;
    case MergeRule::kMass:
      merge_by<MergeRule::kMass>(models, offset, merged);
      break;
    case MergeRule::kRoot:
      merge_by<MergeRule::kRoot>(models, offset, merged);
      break;
    case MergeRule::kMean:
      merge_by<MergeRule::kMean>(models, offset, merged);
      break;
    case MergeRule::kSum:
      merge_by<MergeRule::kSum>(models, offset, merged);
      break;
  }
  return merged;
}

}  // namespace recalltree
