// The label histogram of every key: of its labels, the M with the largest counts, in that order.
//
// A key is anything discrete that is active on an example. Here the keys are features: together
// the histograms are an inverted index that is learned online. Beside the roots of the counts are
// the weights of the labels' predictors, so that one walk through a histogram adds up all that it
// knows of the labels' scores. The counts and weights of all labels, those that are not among the M
// included, are in ClassPairs.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "recalltree/base/arena.hpp"
#include "recalltree/base/fields.hpp"
#include "recalltree/base/stable_vector.hpp"
#include "recalltree/base/types.hpp"
#include "recalltree/voting/adagrad.hpp"

namespace recalltree {

// The histograms of those keys that some example had, sorted by key.
template <template <class> class List>
struct KeyArrays {
  List<std::uint32_t> features;
  List<double> examples;
  List<float> weights, accumulators;
  List<std::uint64_t> offsets;
  List<std::uint32_t> labels;
  List<float> roots;
  List<Narrowable> predictors;

  template <class Self, class Visit>
  static void fields(Self& self, Visit visit) {
    visit("keys.features", self.features);
    const std::size_t n = self.features.size();
    visit("keys.examples", self.examples, {.length = n});
    visit("keys.weights", self.weights, {.length = n});
    visit("keys.accumulators", self.accumulators, {.length = n, .for_learning = true});
    visit("keys.offsets", self.offsets, {.length = n + 1});
    visit("keys.labels", self.labels);
    visit("keys.roots", self.roots, {.length = self.labels.size()});
    visit("keys.predictors", self.predictors, {.length = self.labels.size()});
  }
};

// Entries of a histogram that are read together, so that it is cheap to choose which.
inline constexpr std::size_t kReadTogether = 32;

class KeyHistograms {
 public:
  struct Entry {
    ClassId label;
    float root;    // square root of the label's count
    float weight;  // that the label's predictor gives to the key
  };

  struct Key {
    Entry* entries = nullptr;  // ranked
    double examples = 0.0;     // weight of the examples that had this key
    VoteWeight weight{1.0f};   // u: how much the key's vote counts
    std::uint32_t size = 0;

    std::span<const Entry> labels() const { return {entries, size}; }
  };

  explicit KeyHistograms(std::uint32_t max_labels) : max_labels_(max_labels) {}

  // A key that no example had yet has no histogram.
  const Key* find(std::uint32_t key) const {
    return key < keys_.size() ? keys_.peek(key) : nullptr;
  }
  Key& touch(std::uint32_t key) { return keys_.touch(key); }
  std::size_t size() const { return keys_.size(); }

  // The count of a label has grown, and its root with it; its weight may have changed. Returns how
  // many entries were touched.
  std::size_t raise(Key& key, ClassId label, float before, float after, float weight);
  // The weight of a label, if it is there, has changed.
  void set_weight(Key& key, ClassId label, float root, float weight);
  // All roots times a factor.
  void rescale(float factor);
  // Leaves only the entries for which keep(label) is true, in as much memory as suits them.
  template <class Keep>
  void filter(Key& key, Keep keep) {
    Entry* const end = std::remove_if(key.entries, key.entries + key.size,
                                      [&](const Entry& entry) { return !keep(entry.label); });
    resize(key, static_cast<std::uint32_t>(end - key.entries));
  }
  // Adds an entry at the end, if there is room for it.
  void append(Key& key, const Entry& entry);
  std::uint32_t max_labels() const { return max_labels_; }

  void save(State& state) const;
  // The state has been checked.
  void load(const State& state);
  std::size_t bytes() const { return keys_.bytes() + arena_.used(); }
  Arena& arena() { return arena_; }
  const Arena& arena() const { return arena_; }

 private:
  // Entries for which there is room in a histogram of this many: it follows from their number.
  std::uint32_t capacity(std::uint32_t size) const {
    const std::uint32_t step = size <= 2 ? 1 : std::max(4u, std::bit_floor(size) / 4);
    return std::min(max_labels_, (size + step - 1) / step * step);
  }
  // Changes the number of entries; those that stay are the first.
  void resize(Key& key, std::uint32_t size);

  std::uint32_t max_labels_;
  Arena arena_{16};  // most histograms are short
  StableVector<Key> keys_;
};

}  // namespace recalltree
