#include "recalltree/voting/class_pairs.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace recalltree {
namespace {

bool everything(const ClassPairs::Pair&) { return true; }

}  // namespace

std::uint32_t ClassPairs::find_or_add(Table& table, std::uint32_t key) {
  if (const std::uint32_t known = table.find(key); known != kNone) return known;
  const std::uint32_t capacity = TaggedSlots::capacity_for(table.size_ + 1);
  if (capacity > table.capacity_) rebuild(table, capacity, everything);
  return table.insert(key);
}

void ClassPairs::rescale(float factor) {
  for (std::size_t y = 0; y < size(); ++y) {
    Table& table = tables_[y];
    table.visit([&](const Pair&, std::uint32_t slot) { table[slot].count *= factor; });
  }
}

void ClassPairs::save(State& state) const {
  PairArrays<Owned> saved;
  saved.offsets = {0};
  std::vector<std::pair<std::uint32_t, std::uint32_t>> order;
  for (std::size_t y = 0; y < size(); ++y) {
    const Table& table = tables_[y];
    order.clear();
    table.visit(
        [&](const Pair& pair, std::uint32_t slot) { order.emplace_back(pair.key(), slot); });
    std::sort(order.begin(), order.end());
    for (const auto& [key, slot] : order) {
      saved.keys.push_back(key);
      saved.counts.push_back(table[slot].count);
      saved.weights.push_back(table[slot].weight);
      saved.accumulators.push_back(table[slot].accumulator);
    }
    saved.offsets.push_back(saved.keys.size());
  }
  put_fields(std::move(saved), state);
}

void ClassPairs::load(const State& state) {
  PairArrays<Viewed> saved;
  saved.n_classes = size();
  view_fields(saved, state);
  with_weights(saved.weights, [&](const auto* weights) {
    for (std::size_t y = 0; y < size(); ++y) {
      Table& table = tables_[y];
      const std::size_t begin = saved.offsets[y], end = saved.offsets[y + 1];
      rebuild(table, TaggedSlots::capacity_for(static_cast<std::uint32_t>(end - begin)),
              everything);
      for (std::size_t i = begin; i < end; ++i)
        table[table.insert(saved.keys[i])] = {saved.keys[i] + 1, saved.counts[i], widen(weights[i]),
                                              saved.accumulators[i]};
    }
  });
}

}  // namespace recalltree
