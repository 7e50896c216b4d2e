// A limit of the bytes that one-against-some takes. Pairs of a class and a key, and their entries
// in the histograms, are all that grows with the examples; those that matter least are forgotten.
#pragma once

#include <cstddef>
#include <cstdint>
#include <shared_mutex>
#include <vector>

#include "recalltree/base/spin_lock.hpp"
#include "recalltree/base/types.hpp"
#include "recalltree/voting/vote_store.hpp"

namespace recalltree {

class MemoryBudget {
 public:
  // limit: bytes, 0 for none. other_bytes: what the model takes beside its store.
  MemoryBudget(std::size_t limit, std::size_t other_bytes, VoteStore& store);

  bool is_limited() const { return limit_ > 0; }
  // While an example is learned, nothing is forgotten.
  std::shared_lock<std::shared_mutex> begin_example(Threads threads);
  // An example of these labels has been learned, in a batch that knows so many classes. Forgets as
  // many pairs as it must.
  void end_example(Labels labels, std::size_t n_classes, Threads threads);
  // Classes that count, whether they have been learned or not.
  void reach(std::size_t n_classes) { n_reached_ = n_classes; }

 private:
  // Worth of a key's pairs, by the parts of a score that they add to.
  struct KeyWorth {
    float affinity = 0.0f, share = 0.0f, weight = 0.0f;
  };

  std::size_t bytes(std::size_t n_classes) const { return store_.bytes(n_classes) + other_bytes_; }
  void hold(std::size_t n_reached, std::size_t n_classes);
  std::vector<KeyWorth> key_worths() const;
  // Forgets those n of all pairs that are worth least.
  void forget_pairs(std::size_t n, std::size_t n_pairs, const std::vector<KeyWorth>& key_worths);
  void forget_entries();

  std::size_t limit_, other_bytes_;
  VoteStore& store_;
  std::size_t n_reached_ = 0;  // classes up to the largest that was learned
  std::shared_mutex learning_;
};

}  // namespace recalltree
