// Lists of increasing numbers, one for each row, as pairs of a class and weights of a feature are
// stored: those of several models joined row by row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace recalltree {

// Rows of one model, in the order of the joined rows.
struct ListsOfModel {
  std::span<const std::uint64_t> begins, ends;  // in ids; the same where the model has no such row
  std::span<const std::uint32_t> ids;           // of all its rows
  std::span<const std::uint32_t> names;  // what the joined lists call each id; empty: the same
};

struct JoinedLists {
  std::vector<std::uint64_t> sizes;  // by row
  std::vector<std::uint32_t> ids;  // of all rows, one after another; empty if only sizes are wanted
  // Place in ids of each number in the rows of each model.
  std::vector<std::vector<std::uint32_t>> places;
};

// Throws std::invalid_argument where a list leaves its array, is not increasing, or holds an id
// that has no name; and where more is joined at once than places can count.
JoinedLists join_lists(std::span<const ListsOfModel> models, bool only_sizes);

}  // namespace recalltree
