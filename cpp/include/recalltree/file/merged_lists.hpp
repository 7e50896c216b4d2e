// Lists of increasing numbers, one for each row, as pairs of a class and weights of a feature are
// stored: those of several models merged row by row, with the counts and weights beside them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace recalltree {

// Rows of one model, in the order of the merged rows.
struct ListsOfModel {
  std::span<const std::uint64_t> begins, ends;  // in ids; the same where the model has no such row
  std::span<const std::uint32_t> ids;           // of all its rows
  std::span<const std::uint32_t> names;  // what the merged lists call each id; empty: the same
  // Beside the ids. All models have them, or none: then they have no data.
  std::span<const float> counts, weights, accumulators;
  // How counts fade (merging/plan.py): today's unit of the model's counts, and of the base's within
  // the model. Of the base, `now` alone is used.
  double now = 1.0, then = 1.0;
  double share = 1.0;  // of the rows that all models learned
};

// How the steps of several models become one, as in merging/rules.py.
enum class MergeRule { kReplay, kMass, kRoot, kMean, kSum };
// Throws std::invalid_argument where there is no such rule.
MergeRule merge_rule(std::string_view name);

struct MergedLists {
  std::vector<std::uint32_t> ids;  // of all rows, one after another
  std::vector<float> counts, weights, accumulators;
};

// How long each merged row is. The functions throw std::invalid_argument where a list leaves its
// array, is not increasing, or holds an id that has no name.
std::vector<std::uint64_t> merged_sizes(std::span<const ListsOfModel> models);

// The rows of a base, which comes first, and of the models that went on from it. `offset` is what
// AdaGrad adds to its sums.
MergedLists merge_lists(std::span<const ListsOfModel> models, MergeRule rule, double offset);

}  // namespace recalltree
