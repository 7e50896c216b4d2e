// Scores of many examples at a time. Every score is added up in the same order as by scores(), so
// that it does not depend on what is scored beside it.
#include <algorithm>

#include "recalltree/base/hints.hpp"
#include "recalltree/linear/sparse_weights.hpp"

namespace recalltree {
namespace {

constexpr std::size_t kOccurrencesAtOnce = std::size_t{1} << 16;  // at least
// Scores that will be added to soon are fetched.
constexpr std::size_t kScoresAhead = 16, kScoresFetched = 64;

}  // namespace

void SparseWeights::look_up(const Example& x, ActiveFeatures& active) const {
  active.example = &x;
  active.features.clear();
  for (std::size_t k = 0; k < x.keys.size(); ++k)
    if (const SparseColumn* const here = column(x.keys, k))
      active.features.push_back({*here, x.values[k]});
}

void SparseWeights::score_each(const RowId* rows, const ActiveFeatures* const* xs, std::size_t n,
                               float* out) const {
  constexpr std::size_t kAhead = 2;
  const auto fetch = [&](std::size_t i) {
    if (i >= n || rows[i] == kNoRow) return;
    for (const auto& feature : xs[i]->features) prefetch(feature.home(rows[i]));
  };
  for (std::size_t i = 0; i < kAhead; ++i) fetch(i);
  for (std::size_t i = 0; i < n; ++i) {
    fetch(i + kAhead);
    out[i] = 0.0f;
    if (rows[i] == kNoRow) continue;
    float score = bias_ ? rows_[rows[i]].bias : 0.0f;
    for (const auto& feature : xs[i]->features)
      if (const float* const weight = feature.find(rows[i])) score += *weight * feature.value;
    out[i] = score;
  }
}

// --- Groups of examples, feature by feature

// An example whose scores are being added up.
struct SparseWeights::Scored {
  const ExampleGroup* group;
  float* scores;
};

namespace {

// Some of the occurrences: those of a feature, or of a feature in one group.
struct Stretch {
  std::size_t begin, end;
};

// A feature of which weights are asked.
struct AskedFeature {
  SparseBuckets column;
  std::uint32_t size;
  Stretch occurrences;
  bool all_at_once;  // so many that it is quicker to read the whole column
};

// Calls visit(group, range) for every group whose examples are among the occurrences.
template <class GroupOf, class Visit>
RECALLTREE_INLINE void each_group(const Stretch& all, GroupOf group_of, Visit visit) {
  for (Stretch range{all.begin, all.begin}; range.begin < all.end; range.begin = range.end) {
    const ExampleGroup* const group = group_of(range.begin);
    while (range.end < all.end && group_of(range.end) == group) ++range.end;
    visit(*group, range);
  }
}

}  // namespace

void SparseWeights::score_groups(const std::vector<ExampleGroup>& groups, const ReadExample& read,
                                 float* out) const {
  // What is kept of examples meanwhile, 24 bytes for each feature of them, is little beside the
  // weights.
  const std::size_t at_once = std::max(kOccurrencesAtOnce, bytes() / (16 * 24));
  Occurrences occurrences;
  std::vector<Scored> examples;
  Example x;
  const auto finish = [&] {
    add_scores(occurrences.by_feature(), examples);
    occurrences.clear();
    examples.clear();
  };
  for (const ExampleGroup& group : groups)
    for (std::size_t e = group.begin; e < group.end; ++e, out += group.n) {
      for (std::size_t i = 0; i < group.n; ++i) out[i] = bias_ ? rows_[group.rows[i]].bias : 0.0f;
      read(e, x);
      for (std::size_t k = 0; k < x.keys.size(); ++k)
        occurrences.add({x.keys[k], static_cast<std::uint32_t>(examples.size()), x.values[k]});
      examples.push_back({&group, out});
      if (occurrences.size() >= at_once) finish();
    }
  finish();
}

// All that is asked of a feature is asked one after the other, while its column is in the caches.
void SparseWeights::add_scores(const std::vector<Occurrence>& occurrences,
                               const std::vector<Scored>& examples) const {
  const auto group_of = [&](std::size_t o) { return examples[occurrences[o].example].group; };
  std::vector<AskedFeature> features;
  for (Stretch range{0, 0}; range.begin < occurrences.size(); range.begin = range.end) {
    const std::uint32_t feature = occurrences[range.begin].feature;
    while (range.end < occurrences.size() && occurrences[range.end].feature == feature) ++range.end;
    const SparseColumn* const column = columns_.peek(feature);
    if (column == nullptr || column->buckets == nullptr) continue;
    std::size_t asked = 0;
    each_group(range, group_of, [&](const ExampleGroup& group, Stretch) { asked += group.n; });
    features.push_back({*column, column->size, range, asked > 2 * std::size_t{column->n_buckets}});
  }

  std::vector<float> by_row(rows_.size()), weights;
  const auto fetch = [&](std::size_t f) {
    if (f >= features.size() || features[f].all_at_once) return;
    each_group(features[f].occurrences, group_of, [&](const ExampleGroup& group, Stretch) {
      for (std::size_t i = 0; i < group.n; ++i) prefetch(features[f].column.home(group.rows[i]));
    });
  };
  fetch(0);
  for (std::size_t f = 0; f < features.size(); ++f) {
    fetch(f + 1);
    const AskedFeature& feature = features[f];
    if (feature.all_at_once)
      feature.column.visit([&](RowId row, float weight) { by_row[row] = weight; });
    each_group(feature.occurrences, group_of, [&](const ExampleGroup& group, Stretch range) {
      weights.resize(group.n);
      for (std::size_t i = 0; i < group.n; ++i)
        if (feature.all_at_once) {
          weights[i] = by_row[group.rows[i]];
        } else {
          const float* const weight = feature.column.find(group.rows[i]);
          weights[i] = weight != nullptr ? *weight : 0.0f;
        }
      for (std::size_t o = range.begin; o < range.end; ++o) {
        if (o + kScoresAhead < occurrences.size()) {
          const Scored& later = examples[occurrences[o + kScoresAhead].example];
          prefetch(later.scores, std::min(later.group->n, kScoresFetched));
        }
        float* const scores = examples[occurrences[o].example].scores;
        for (std::size_t i = 0; i < group.n; ++i) scores[i] += weights[i] * occurrences[o].value;
      }
    });
    if (!feature.all_at_once) continue;
    if (feature.size > by_row.size() / 8)
      std::fill(by_row.begin(), by_row.end(), 0.0f);
    else
      feature.column.visit([&](RowId row, float) { by_row[row] = 0.0f; });
  }
}

}  // namespace recalltree
