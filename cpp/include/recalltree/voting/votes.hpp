// Votes of an example's keys for the classes they name, and the classes with the most votes. Lives
// in a thread's workspace: as large as the entries that an example may read, whatever the number of
// classes, and small enough for the nearest cache.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <vector>

#include "recalltree/base/types.hpp"
#include "recalltree/voting/key_histograms.hpp"

namespace recalltree {

// Votes for a class.
struct Sums {
  float affinity = 0.0f;  // of the features' counts, to be divided by the root of the class's own
  float rest = 0.0f;      // of what else its features add to its score
  float nodes = 0.0f;     // of the nodes' votes
};

// The part of a class that ranking candidates needs.
struct ClassTerms {
  float inverse_norm = 0.0f;
  float bias = 0.0f;
};

// Weights of votes: A, S and B.
struct VoteScales {
  float affinity, share, nodes;

  float score(const Sums& sums, const ClassTerms& terms) const {
    return affinity * sums.affinity * terms.inverse_norm + sums.rest + nodes * sums.nodes +
           terms.bias;
  }
};

struct Candidate {
  ClassId label;
  float value;  // by which it was chosen
  Sums sums = {};
};

class Votes {
  struct Tally {
    ClassId label = 0;
    Sums sums;
  };

 public:
  // Room for the votes of this many classes.
  void reserve(std::size_t classes) {
    if (classes + 2 <= tallies_.size()) return;
    tallies_.assign(classes + 2, {});
    // So many that few labels meet: no processor foresees which do. They fit the nearest cache.
    slots_.assign(std::bit_ceil(8 * classes), 0);
    shift_ = static_cast<std::uint32_t>(32 - std::countr_zero(slots_.size()));
  }

  // Gives the sums of a label. What changes with every label that is new is in copies until it
  // goes, so that the compiler can keep them in registers.
  class Adding {
   public:
    explicit Adding(Votes& votes)
        : votes_(votes),
          slots_(votes.slots_.data()),
          tallies_(votes.tallies_.data()),
          last_slot_(static_cast<std::uint32_t>(votes.slots_.size() - 1)),
          shift_(votes.shift_),
          end_(votes.end_) {}
    ~Adding() { votes_.end_ = end_; }
    Adding(const Adding&) = delete;
    Adding& operator=(const Adding&) = delete;

    // Nothing branches on a label's being new, which no processor foresees: a new one takes the
    // place after the last, where label and sums are 0. `all` has all bits where it is new.
    Sums& operator[](ClassId label) {
      std::uint32_t i = (label * 0x9E3779B1u) >> shift_;
      for (;;) {
        const std::uint32_t at = slots_[i], all = at == 0 ? ~0u : 0u;
        const std::uint32_t place = at | (end_ & all);
        Tally& found = tallies_[place];
        const ClassId there = found.label | (label & all);
        found.label = there;
        if (there == label) {
          slots_[i] = place;
          end_ -= all;
          return found.sums;
        }
        i = (i + 1) & last_slot_;
      }
    }

   private:
    Votes& votes_;
    std::uint32_t* const slots_;
    Tally* const tallies_;
    const std::uint32_t last_slot_, shift_;
    std::uint32_t end_;
  };

  // The entries [begin, end) of the histogram of a feature that pulls so much, that adds `share`
  // times a label's root, and has this value.
  template <class Entries>
  void add(const Entries& entries, std::size_t begin, std::size_t end, float pull, float share,
           float value) {
    Adding adding(*this);
    for (std::size_t i = begin; i < end; ++i) {
      const auto& [label, root, weight] = entries[i];
      Sums& sums = adding[label];
      sums.affinity += pull * root;
      sums.rest += share * root + value * weight;
    }
  }

  // Sums of the votes for a class.
  Sums of(ClassId label) const {
    for (std::uint32_t i = (label * 0x9E3779B1u) >> shift_;; i = (i + 1) & (slots_.size() - 1)) {
      const Tally& found = tallies_[slots_[i]];
      if (slots_[i] == 0 || found.label == label) return slots_[i] == 0 ? Sums{} : found.sums;
    }
  }

  // Moves the n classes for which value(class, sums) is largest into `best`, in the order in which
  // they were named first, and forgets all votes. Of equal ones the smaller classes go.
  template <class Value>
  void take_best(std::size_t n, std::vector<Candidate>& best, Value value) {
    const std::uint32_t n_voted = end_ - 1;
    const Tally* const tallies = tallies_.data() + 1;
    values_.resize(n_voted);
    for (std::uint32_t i = 0; i < n_voted; ++i)
      values_[i] = value(tallies[i].label, tallies[i].sums);
    const float least = at_most_nth(n);
    ranked_.clear();
    for (std::uint32_t i = 0; i < n_voted; ++i)
      if (values_[i] >= least) ranked_.push_back({values_[i], i});
    const auto better = [tallies](const Ranked& a, const Ranked& b) {
      return a.value > b.value ||
             (a.value == b.value && tallies[a.place].label < tallies[b.place].label);
    };
    const bool too_many = ranked_.size() > n;
    if (too_many) {
      sorted_.assign(ranked_.begin(), ranked_.end());
      std::nth_element(sorted_.begin(), sorted_.begin() + static_cast<std::ptrdiff_t>(n - 1),
                       sorted_.end(), better);
    }
    best.clear();
    for (const Ranked& r : ranked_)
      if (!too_many || !better(sorted_[n - 1], r))
        best.push_back({tallies[r.place].label, r.value, tallies[r.place].sums});
    std::memset(static_cast<void*>(tallies_.data()), 0, end_ * sizeof(Tally));
    std::memset(slots_.data(), 0, slots_.size() * sizeof(slots_[0]));
    end_ = 1;
  }

 private:
  struct Ranked {
    float value;
    std::uint32_t place;  // among the tallies of this example
  };

  // A number that at least n of the values reach, or all of them: the n-th largest maximum of 2 n
  // groups, which not many more reach. Where values are few, it is not worth its time. What is no
  // number, as in a damaged file, reaches nothing.
  float at_most_nth(std::size_t n) {
    const std::size_t groups = 2 * n;
    constexpr float kLeast = -std::numeric_limits<float>::infinity();
    if (values_.size() < 2 * groups) return kLeast;
    largest_.assign(groups, kLeast);
    // Neighbours, which were named together, are in different groups.
    const float* value = values_.data();
    for (const float* end = values_.data() + values_.size(); value + groups <= end; value += groups)
      for (std::size_t g = 0; g < groups; ++g)
        largest_[g] = value[g] > largest_[g] ? value[g] : largest_[g];
    const auto nth = largest_.begin() + static_cast<std::ptrdiff_t>(n - 1);
    std::nth_element(largest_.begin(), nth, largest_.end(), std::greater<>());
    return *nth;
  }

  std::vector<Tally> tallies_;        // those from 1 to end_ are of this example, the others empty
  std::vector<std::uint32_t> slots_;  // by hash of the label: its place in tallies_
  std::vector<Ranked> ranked_, sorted_;
  std::vector<float> values_, largest_;
  std::uint32_t end_ = 1, shift_ = 32;
};

}  // namespace recalltree
