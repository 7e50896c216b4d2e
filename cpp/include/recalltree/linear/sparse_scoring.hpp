// Scores over sparse weights, wherever they are stored: of an example, or of many at a time. Every
// score is added up in the order of the example's features, so that it does not depend on what is
// scored beside it.
//
// Columns is the storage:
//   column(feature)   what it knows of a feature: a small handle, `empty()` if nothing
//   bias(model), size(), bytes()
// and of a column: size(), prefetch(model), find(model) (null if there is no weight), visit(f) with
// f(model, weight) for all, and is_read_whole(asked): whether so many questions are answered sooner
// by reading all of it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "recalltree/base/half.hpp"
#include "recalltree/base/hints.hpp"
#include "recalltree/linear/occurrences.hpp"
#include "recalltree/linear/weights.hpp"

namespace recalltree {

inline float read_weight(const float& weight) { return weight; }
template <class Stored>
float read_weight(const Stored& weight) {
  return widen(weight);
}

// Adds what n models know of an example to their scores, feature by feature. prefetch(k): the
// weights of the k-th feature will be asked for. with_column(k, use): calls use(column), if there
// is one. found(i, k, weight) is told where the weights are.
template <class Prefetch, class WithColumn, class Found>
RECALLTREE_INLINE void add_scores(const ModelId* models, std::size_t n, const Example& x,
                                  float* scores, Prefetch prefetch, WithColumn with_column,
                                  Found found) {
  // So many weights, at least, are on their way from memory while others are worked on.
  constexpr std::size_t kInFlight = 32;
  const std::size_t m = x.features.size(), ahead = n == 1 ? m : 1 + kInFlight / n;
  const float* const z = x.values.data();
  for (std::size_t k = 0; k < std::min(ahead, m); ++k) prefetch(k);
  for (std::size_t k = 0; k < m; ++k) {
    if (k + ahead < m) prefetch(k + ahead);
    with_column(k, [&](const auto& column) {
      for (std::size_t i = 0; i < n; ++i)
        if (auto* const weight = column.find(models[i])) {
          scores[i] += read_weight(*weight) * z[k];
          found(i, k, weight);
        }
    });
  }
}

template <class Columns>
class SparseExampleScorer final : public ExampleScorer {
 public:
  explicit SparseExampleScorer(const Columns& columns) : columns_(columns) {}

  void set(std::size_t e, const Example& x) override {
    if (examples_.size() <= e) examples_.resize(e + 1);
    examples_[e].clear();
    for (std::size_t k = 0; k < x.features.size(); ++k)
      if (const auto column = columns_.column(x.features[k]); !column.empty())
        examples_[e].push_back({column, x.values[k]});
  }

  void score(const ModelId* models, const std::uint32_t* which, std::size_t n,
             float* out) const override {
    constexpr std::size_t kAhead = 2;
    const auto fetch = [&](std::size_t i) {
      if (i >= n || models[i] == kNoModel) return;
      for (const Active& feature : examples_[which[i]]) feature.column.prefetch(models[i]);
    };
    for (std::size_t i = 0; i < kAhead; ++i) fetch(i);
    for (std::size_t i = 0; i < n; ++i) {
      fetch(i + kAhead);
      out[i] = 0.0f;
      if (models[i] == kNoModel) continue;
      float score = columns_.bias(models[i]);
      for (const Active& feature : examples_[which[i]])
        if (const auto* const weight = feature.column.find(models[i]))
          score += read_weight(*weight) * feature.value;
      out[i] = score;
    }
  }

 private:
  struct Active {
    decltype(std::declval<const Columns&>().column(0)) column;
    float value;
  };
  const Columns& columns_;
  std::vector<std::vector<Active>>
      examples_;  // of each, the features of which any model has a weight
};

// Groups of examples, feature by feature: all that is asked of a feature is asked one after the
// other, while its column is in the caches.
template <class Columns>
class SparseGroupScorer {
 public:
  explicit SparseGroupScorer(const Columns& columns) : columns_(columns) {}

  void score(const std::vector<ExampleGroup>& groups, const ReadExample& read, float* out) {
    // Kept occurrences, 24 bytes for each feature of an example, are little beside the weights.
    const std::size_t at_once = std::max(std::size_t{1} << 16, columns_.bytes() / (16 * 24));
    Example x;
    for (const ExampleGroup& group : groups)
      for (std::size_t e = group.begin; e < group.end; ++e, out += group.n) {
        for (std::size_t i = 0; i < group.n; ++i) out[i] = columns_.bias(group.models[i]);
        read(e, x);
        for (std::size_t k = 0; k < x.features.size(); ++k)
          occurrences_.add(
              {x.features[k], static_cast<std::uint32_t>(examples_.size()), x.values[k]});
        examples_.push_back({&group, out});
        if (occurrences_.size() >= at_once) finish();
      }
    finish();
  }

 private:
  // An example whose scores are being added up.
  struct Scored {
    const ExampleGroup* group;
    float* scores;
  };
  // Some of the occurrences: those of a feature, or of a feature in one group.
  struct Stretch {
    std::size_t begin, end;
  };
  // A feature of which weights are asked.
  struct Asked {
    decltype(std::declval<const Columns&>().column(0)) column;
    Stretch occurrences;
    bool read_whole;
  };

  // Calls visit(group, range) for every group whose examples are among the occurrences.
  template <class Visit>
  RECALLTREE_INLINE void each_group(const Stretch& all, Visit visit) const {
    for (Stretch range{all.begin, all.begin}; range.begin < all.end; range.begin = range.end) {
      const ExampleGroup* const group = group_of(range.begin);
      while (range.end < all.end && group_of(range.end) == group) ++range.end;
      visit(*group, range);
    }
  }
  const ExampleGroup* group_of(std::size_t o) const {
    return examples_[(*sorted_)[o].example].group;
  }

  std::vector<Asked> asked_features() const {
    const std::vector<Occurrence>& sorted = *sorted_;
    std::vector<Asked> features;
    for (Stretch range{0, 0}; range.begin < sorted.size(); range.begin = range.end) {
      const std::uint32_t feature = sorted[range.begin].feature;
      while (range.end < sorted.size() && sorted[range.end].feature == feature) ++range.end;
      const auto column = columns_.column(feature);
      if (column.empty()) continue;
      std::size_t asked = 0;
      each_group(range, [&](const ExampleGroup& group, Stretch) { asked += group.n; });
      features.push_back({column, range, column.is_read_whole(asked)});
    }
    return features;
  }

  void finish() {
    // Scores that will be added to soon are fetched.
    constexpr std::size_t kScoresAhead = 16, kScoresFetched = 64;
    const std::vector<Occurrence>& sorted = occurrences_.by_feature();
    sorted_ = &sorted;
    const std::vector<Asked> features = asked_features();
    by_model_.resize(columns_.size());
    float* const by_model = by_model_.data();
    const Scored* const examples = examples_.data();
    const auto fetch = [&](std::size_t f) {
      if (f >= features.size() || features[f].read_whole) return;
      each_group(features[f].occurrences, [&](const ExampleGroup& group, Stretch) {
        for (std::size_t i = 0; i < group.n; ++i) features[f].column.prefetch(group.models[i]);
      });
    };
    fetch(0);
    for (std::size_t f = 0; f < features.size(); ++f) {
      fetch(f + 1);
      const Asked& feature = features[f];
      if (feature.read_whole)
        feature.column.visit([=](ModelId model, float weight) { by_model[model] = weight; });
      each_group(feature.occurrences, [&](const ExampleGroup& group, Stretch range) {
        weights_.resize(group.n);
        float* const weights = weights_.data();
        for (std::size_t i = 0; i < group.n; ++i)
          if (feature.read_whole) {
            weights[i] = by_model[group.models[i]];
          } else {
            const auto* const weight = feature.column.find(group.models[i]);
            weights[i] = weight != nullptr ? read_weight(*weight) : 0.0f;
          }
        for (std::size_t o = range.begin; o < range.end; ++o) {
          if (o + kScoresAhead < sorted.size()) {
            const Scored& later = examples[sorted[o + kScoresAhead].example];
            prefetch(later.scores, std::min(later.group->n, kScoresFetched));
          }
          float* const scores = examples[sorted[o].example].scores;
          for (std::size_t i = 0; i < group.n; ++i) scores[i] += weights[i] * sorted[o].value;
        }
      });
      if (!feature.read_whole) continue;
      if (feature.column.size() > by_model_.size() / 8)
        std::fill(by_model_.begin(), by_model_.end(), 0.0f);
      else
        feature.column.visit([=](ModelId model, float) { by_model[model] = 0.0f; });
    }
    occurrences_.clear();
    examples_.clear();
  }

  const Columns& columns_;
  Occurrences occurrences_;
  const std::vector<Occurrence>* sorted_ = nullptr;
  std::vector<Scored> examples_;
  std::vector<float> by_model_, weights_;
};

}  // namespace recalltree
