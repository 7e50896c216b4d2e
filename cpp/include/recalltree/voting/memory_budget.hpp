// A limit of the bytes that one-against-some takes. Pairs of a class and a key, and their entries
// in the histograms, are all that grows with the examples; those that matter least are forgotten.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "recalltree/base/types.hpp"
#include "recalltree/voting/vote_store.hpp"

namespace recalltree {

class MemoryBudget {
 public:
  // limit: bytes, 0 for none. other_bytes: what the model takes beside its store.
  MemoryBudget(std::size_t limit, std::size_t other_bytes, VoteStore& store);

  bool is_limited() const { return limit_ > 0; }
  // An example of these labels has been learned, in a batch that knows this many classes. Forgets
  // as many pairs as it must.
  void end_example(Labels labels, std::size_t n_classes) {
    if (!is_limited()) return;
    reach_labels(labels);
    hold(n_classes);
  }
  // The same in parts. Classes of a batch that have not been learned yet do not count, so that it
  // does not matter how examples are batched.
  void reach_labels(Labels labels) {
    for (const ClassId y : labels)
      n_reached_ = std::max<std::size_t>(n_reached_, std::size_t{y} + 1);
  }
  void hold(std::size_t n_classes);
  // Classes that count, whether they have been learned or not.
  void reach(std::size_t n_classes) { n_reached_ = n_classes; }

 private:
  // Worth of a key's pairs, by the parts of a score that they add to.
  struct KeyWorth {
    float affinity = 0.0f, share = 0.0f, weight = 0.0f;
  };

  std::size_t bytes(std::size_t n_classes) const { return store_.bytes(n_classes) + other_bytes_; }
  std::vector<KeyWorth> key_worths() const;
  // Forgets those n of all pairs that are worth least.
  void forget_pairs(std::size_t n, std::size_t n_pairs, const std::vector<KeyWorth>& key_worths);
  void forget_entries();

  std::size_t limit_, other_bytes_;
  VoteStore& store_;
  std::size_t n_reached_ = 0;  // classes up to the largest that was learned
};

}  // namespace recalltree
