#include "recalltree/voting/class_pairs.hpp"

#include <algorithm>
#include <bit>

namespace recalltree {
namespace {

bool everything(const ClassPairs::Pair&) { return true; }

}  // namespace

// A table of which a quarter is free, and little more, so that keys are near where they are looked
// for. In less than a group all may be taken, and what it takes fills cache lines.
std::uint32_t ClassPairs::capacity_for(std::uint32_t pairs) {
  if (pairs == 0) return 0;
  if (pairs < kTagsInGroup) return pairs | 3;
  const std::uint32_t slots = pairs + pairs / 3;
  const std::uint32_t step = std::max<std::uint32_t>(kTagsInGroup, std::bit_floor(slots) / 4);
  return (slots + step - 1) / step * step;
}

std::uint32_t ClassPairs::find_or_add(Table& table, std::uint32_t key) {
  if (const std::uint32_t known = table.find(key); known != kNone) return known;
  const std::uint32_t capacity = capacity_for(table.size_ + 1);
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
  std::vector<std::uint64_t> offsets{0};
  std::vector<std::uint32_t> keys;
  std::vector<float> counts, weights, accumulators;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> order;
  for (std::size_t y = 0; y < size(); ++y) {
    const Table& table = tables_[y];
    order.clear();
    table.visit(
        [&](const Pair& pair, std::uint32_t slot) { order.emplace_back(pair.key(), slot); });
    std::sort(order.begin(), order.end());
    for (const auto& [key, slot] : order) {
      keys.push_back(key);
      counts.push_back(table[slot].count);
      weights.push_back(table[slot].weight);
      accumulators.push_back(table[slot].accumulator);
    }
    offsets.push_back(keys.size());
  }
  state.put("pairs.offsets", offsets);
  state.put("pairs.keys", keys);
  state.put("pairs.counts", counts);
  state.put("pairs.weights", weights);
  state.put("pairs.accumulators", accumulators);
}

void ClassPairs::load(const State& state) {
  const auto offsets = state.get<std::uint64_t>("pairs.offsets");
  const auto keys = state.get<std::uint32_t>("pairs.keys");
  const auto counts = state.get<float>("pairs.counts");
  const auto weights = state.get<float>("pairs.weights");
  const auto accumulators = state.get<float>("pairs.accumulators");
  grow_to(offsets.size() - 1);
  for (std::size_t y = 0; y < size(); ++y) {
    Table& table = tables_[y];
    rebuild(table, capacity_for(static_cast<std::uint32_t>(offsets[y + 1] - offsets[y])),
            everything);
    for (std::size_t i = offsets[y]; i < offsets[y + 1]; ++i) {
      table[table.insert(keys[i])] = {keys[i] + 1, counts[i], weights[i], accumulators[i]};
    }
  }
}

}  // namespace recalltree
