#include "recalltree/voting/key_histograms.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "recalltree/voting/ranked_labels.hpp"

namespace recalltree {

void KeyHistograms::set_weight(Key& key, ClassId label, float root, float weight) {
  if (const std::size_t at = find_ranked(key.labels(), max_labels_, label, root); at < key.size)
    key.entries[at].weight = weight;
}

std::size_t KeyHistograms::raise(Key& key, ClassId label, float before, float after, float weight) {
  return raise_ranked(std::span(key.entries, key.size), max_labels_, before,
                      Entry{label, after, weight}, [&] {
                        resize(key, key.size + 1);
                        return std::span(key.entries, key.size);
                      });
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
    key.entries = entries;
  }
  key.size = size;
}

void KeyHistograms::append(Key& key, const Entry& entry) {
  if (key.size == max_labels_) return;
  resize(key, key.size + 1);
  key.entries[key.size - 1] = entry;
}

void KeyHistograms::save(State& state) const {
  KeyArrays<Owned> saved;
  saved.offsets = {0};
  for (std::size_t k = 0; k < keys_.size(); ++k) {
    const Key* key = keys_.peek(k);
    if (key == nullptr || key->examples == 0.0) continue;
    saved.features.push_back(static_cast<std::uint32_t>(k));
    saved.examples.push_back(key->examples);
    saved.weights.push_back(key->weight.value);
    saved.accumulators.push_back(key->weight.accumulator);
    for (const Entry& entry : key->labels()) {
      saved.labels.push_back(entry.label);
      saved.roots.push_back(entry.root);
      saved.predictors.push_back(entry.weight);
    }
    saved.offsets.push_back(saved.labels.size());
  }
  put_fields(std::move(saved), state);
}

void KeyHistograms::load(const State& state) {
  KeyArrays<Viewed> saved;
  view_fields(saved, state);
  with_weights(saved.predictors, [&](const auto* predictors) {
    for (std::size_t i = 0; i < saved.features.size(); ++i) {
      Key& key = keys_.touch(saved.features[i]);
      key.examples = saved.examples[i];
      key.weight = {saved.weights[i], saved.accumulators[i]};
      for (std::size_t j = saved.offsets[i]; j < saved.offsets[i + 1]; ++j)
        append(key, {saved.labels[j], saved.roots[j], widen(predictors[j])});
    }
  });
}

}  // namespace recalltree
