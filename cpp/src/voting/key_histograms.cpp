#include "recalltree/voting/key_histograms.hpp"

#include <algorithm>
#include <cstring>

#include "recalltree/base/intended_race.hpp"

namespace recalltree {
namespace {

bool larger(const KeyHistograms::Entry& entry, float root) { return entry.root > root; }

// The root of the smallest float that has all its digits: the counts of smaller ones may be 0.
constexpr float kFaded = 0x1p-63f;

}  // namespace

// Where a label with this root stands, or the size if it is not there.
std::size_t KeyHistograms::position(const Key& key, ClassId label, float root) const {
  const Entry* const begin = key.entries;
  const Entry* const end = begin + key.size;
  const auto is_label = [label](const Entry& entry) { return entry.label == label; };
  // Without a count it is new, unless its count has faded away; its root is then not far from it.
  if (root == 0.0f && (key.size == 0 || begin[key.size - 1].root > kFaded)) return key.size;
  // The histogram is sorted, so that only the labels with the same count need a look.
  const Entry* to = std::lower_bound(begin, end, root, larger);
  while (to != end && to->root == root && !is_label(*to)) ++to;
  if (to != end && to->root == root) return static_cast<std::size_t>(to - begin);
  // Another thread may have been between the count and its root.
  return static_cast<std::size_t>(std::find_if(begin, end, is_label) - begin);
}

void KeyHistograms::set_weight(Key& key, ClassId label, float root, float weight) {
  // A label that fell behind the last of a full histogram is not there.
  if (key.size == max_labels_ && root < key.entries[key.size - 1].root) return;
  if (const std::size_t at = position(key, label, root); at < key.size)
    key.entries[at].weight = weight;
}

std::size_t KeyHistograms::raise(Key& key, ClassId label, float before, float after, float weight) {
  std::size_t at = key.size;
  // A label that fell behind the last of a full histogram is not there.
  if (key.size < max_labels_ || before >= key.entries[key.size - 1].root)
    at = position(key, label, before);
  if (at == key.size) {
    if (key.size == max_labels_) {
      if (after <= key.entries[key.size - 1].root) return 1;
      at = key.size - 1;
    } else {
      resize(key, key.size + 1);
    }
  } else if (after <= key.entries[at].root) {
    return 1;  // another thread was quicker
  }
  Entry* to = std::lower_bound(key.entries, key.entries + at, after,
                               [](const Entry& entry, float root) { return entry.root >= root; });
  const std::size_t moved = static_cast<std::size_t>(key.entries + at - to);
  std::memmove(to + 1, to, moved * sizeof(Entry));
  *to = {label, after, weight};
  return moved + 1;
}

void KeyHistograms::rescale(float factor) {
  for (std::size_t k = 0; k < keys_.size(); ++k)
    if (Key* key = keys_.peek(k)) {
      key->examples *= double(factor) * double(factor);
      for (std::size_t i = 0; i < key->size; ++i) key->entries[i].root *= factor;
    }
}

void KeyHistograms::resize(Key& key, std::uint32_t size) {
  const std::uint32_t before = capacity(key.size), after = capacity(size);
  if (before != after) {
    Entry* const entries =
        after ? static_cast<Entry*>(arena_.allocate(after * sizeof(Entry))) : nullptr;
    if (const std::uint32_t kept = std::min(key.size, size); kept > 0)
      std::memcpy(entries, key.entries, kept * sizeof(Entry));
    if (before > 0) arena_.release(key.entries, before * sizeof(Entry));
    relaxed_store(key.entries, entries);
  }
  key.size = size;
}

void KeyHistograms::append(Key& key, const Entry& entry) {
  if (key.size == max_labels_) return;
  resize(key, key.size + 1);
  key.entries[key.size - 1] = entry;
}

void KeyHistograms::save(State& state) const {
  std::vector<std::uint32_t> keys, labels;
  std::vector<std::uint64_t> offsets{0};
  std::vector<double> examples;
  std::vector<float> weights, accumulators, roots, predictors;
  for (std::size_t k = 0; k < keys_.size(); ++k) {
    const Key* key = keys_.peek(k);
    if (key == nullptr || key->examples == 0.0) continue;
    keys.push_back(static_cast<std::uint32_t>(k));
    examples.push_back(key->examples);
    weights.push_back(key->weight);
    accumulators.push_back(key->accumulator);
    for (const Entry& entry : key->top(key->size)) {
      labels.push_back(entry.label);
      roots.push_back(entry.root);
      predictors.push_back(entry.weight);
    }
    offsets.push_back(labels.size());
  }
  state.put("keys.features", keys);
  state.put("keys.examples", examples);
  state.put("keys.weights", weights);
  state.put("keys.accumulators", accumulators);
  state.put("keys.offsets", offsets);
  state.put("keys.labels", labels);
  state.put("keys.roots", roots);
  state.put("keys.predictors", predictors);
}

void KeyHistograms::load(const State& state) {
  const auto keys = state.get<std::uint32_t>("keys.features");
  const auto examples = state.get<double>("keys.examples");
  const auto weights = state.get<float>("keys.weights");
  const auto accumulators = state.get<float>("keys.accumulators");
  const auto offsets = state.get<std::uint64_t>("keys.offsets");
  const auto labels = state.get<std::uint32_t>("keys.labels");
  const auto roots = state.get<float>("keys.roots");
  const auto predictors = state.get<float>("keys.predictors");
  for (std::size_t i = 0; i < keys.size(); ++i) {
    Key& key = keys_.touch(keys[i]);
    key.examples = examples[i];
    key.weight = weights[i];
    key.accumulator = accumulators[i];
    for (std::size_t j = offsets[i]; j < offsets[i + 1]; ++j)
      append(key, {labels[j], roots[j], predictors[j]});
  }
}

}  // namespace recalltree
