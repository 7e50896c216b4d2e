#include "recalltree/file/joined_lists.hpp"

#include <algorithm>
#include <limits>

#include "recalltree/file/state_checks.hpp"

namespace recalltree {
namespace {

// One row of a model by the names of the joined lists, sorted. `order` says where each came from;
// it is empty where the order did not change.
struct NamedRow {
  std::vector<std::uint32_t> ids, order;

  void read(const ListsOfModel& model, std::size_t row) {
    const std::size_t begin = model.begins[row], end = model.ends[row];
    require(begin <= end && end <= model.ids.size(), "a list ends beyond its array");
    const auto list = model.ids.subspan(begin, end - begin);
    for (std::size_t i = 1; i < list.size(); ++i)
      require(list[i - 1] < list[i], "a list is not increasing");
    ids.assign(list.begin(), list.end());
    order.clear();
    if (model.names.empty()) return;
    require(list.empty() || list.back() < model.names.size(), "a list holds a number too large");
    for (std::uint32_t& id : ids) id = model.names[id];
    if (!std::is_sorted(ids.begin(), ids.end())) sort();
  }

 private:
  void sort() {
    keyed_.clear();
    for (std::size_t i = 0; i < ids.size(); ++i)
      keyed_.push_back(std::uint64_t{ids[i]} << 32 | static_cast<std::uint32_t>(i));
    std::sort(keyed_.begin(), keyed_.end());
    for (std::size_t i = 0; i < ids.size(); ++i) {
      ids[i] = static_cast<std::uint32_t>(keyed_[i] >> 32);
      order.push_back(static_cast<std::uint32_t>(keyed_[i]));
    }
  }
  std::vector<std::uint64_t> keyed_;
};

}  // namespace

JoinedLists join_lists(std::span<const ListsOfModel> models, bool only_sizes) {
  JoinedLists joined;
  joined.places.resize(models.size());
  const std::size_t n_rows = models.empty() ? 0 : models.front().begins.size();
  for (const ListsOfModel& model : models)
    require(model.begins.size() == n_rows && model.ends.size() == n_rows,
            "models have different numbers of rows");
  std::vector<NamedRow> rows(models.size());
  std::vector<std::uint32_t> all, merged;
  for (std::size_t row = 0; row < n_rows; ++row) {
    all.clear();
    for (std::size_t m = 0; m < models.size(); ++m) {
      rows[m].read(models[m], row);
      const auto& ids = rows[m].ids;
      if (ids.empty() || ids == all) continue;
      merged.resize(all.size() + ids.size());
      merged.erase(std::set_union(all.begin(), all.end(), ids.begin(), ids.end(), merged.begin()),
                   merged.end());
      all.swap(merged);
    }
    joined.sizes.push_back(all.size());
    if (only_sizes) continue;
    const std::size_t start = joined.ids.size();
    require(start + all.size() <= std::numeric_limits<std::uint32_t>::max(),
            "too much is joined at once");
    joined.ids.insert(joined.ids.end(), all.begin(), all.end());
    for (std::size_t m = 0; m < models.size(); ++m) {
      auto& places = joined.places[m];
      const std::size_t first = places.size();
      places.resize(first + rows[m].ids.size());
      std::size_t at = 0;
      for (std::size_t i = 0; i < rows[m].ids.size(); ++i) {
        while (all[at] != rows[m].ids[i]) ++at;
        const std::size_t from = rows[m].order.empty() ? i : rows[m].order[i];
        places[first + from] = static_cast<std::uint32_t>(start + at);
      }
    }
  }
  return joined;
}

}  // namespace recalltree
