// Sums of votes by class, and the classes with the largest of them. Lives in a thread's workspace:
// as large as the entries that an example may read, whatever the number of classes.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "types.hpp"

namespace recalltree {

struct Candidate {
  ClassId label;
  float value;             // by which it was chosen
  float node_vote = 0.0f;  // what the nodes voted
};

class Votes {
 public:
  // Room for the votes of this many classes.
  void reserve(std::size_t classes) {
    const std::size_t slots = std::bit_ceil(2 * classes + 2);
    if (slots <= slots_.size()) return;
    slots_.assign(slots, {});
    shift_ = static_cast<std::uint32_t>(32 - std::countr_zero(slots));
  }

  void add_feature_vote(ClassId label, float vote) { slot(label).features += vote; }
  void add_node_vote(ClassId label, float vote) { slot(label).nodes += vote; }

  // Moves the n classes for which value(class, votes of features, votes of nodes) is largest into
  // `best`, the largest first, and forgets all votes. Equal ones: the smaller class first.
  template <class Value>
  void take_best(std::size_t n, std::vector<Candidate>& best, Value value) {
    best.clear();
    for (const std::uint32_t i : touched_) {
      Slot& slot = slots_[i];
      const ClassId label = slot.label_plus_1 - 1;
      const float vote = value(label, slot.features, slot.nodes);
      // A number that is none, as a damaged file may hold, must not upset the order.
      const Candidate found{label, std::isnan(vote) ? std::numeric_limits<float>::lowest() : vote,
                            slot.nodes};
      slot = {};
      if (best.size() < n) {
        best.push_back(found);
        if (best.size() == n) std::make_heap(best.begin(), best.end(), better);
      } else if (n > 0 && better(found, best.front())) {
        std::pop_heap(best.begin(), best.end(), better);
        best.back() = found;
        std::push_heap(best.begin(), best.end(), better);
      }
    }
    touched_.clear();
    std::sort(best.begin(), best.end(), better);
  }

 private:
  struct Slot {
    std::uint32_t label_plus_1 = 0;  // 0: free
    float features = 0.0f, nodes = 0.0f;
  };
  static bool better(const Candidate& a, const Candidate& b) {
    return a.value > b.value || (a.value == b.value && a.label < b.label);
  }

  Slot& slot(ClassId label) {
    std::uint32_t i = (label * 0x9E3779B1u) >> shift_;
    while (slots_[i].label_plus_1 != label + 1) {
      if (slots_[i].label_plus_1 == 0) {
        slots_[i].label_plus_1 = label + 1;
        touched_.push_back(i);
        break;
      }
      i = (i + 1) & static_cast<std::uint32_t>(slots_.size() - 1);
    }
    return slots_[i];
  }

  std::vector<Slot> slots_;
  std::vector<std::uint32_t> touched_;
  std::uint32_t shift_ = 32;
};

}  // namespace recalltree
