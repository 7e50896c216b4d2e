// The weighted label counts of a node, with the F most frequent labels known at any time.
//
// Adding to a label, reading a count, the mass of the F largest, and the entropy take O(1) or O(log
// F) amortised: labels sit in order of arrival beside an open-addressing index, and the candidates
// form a heap with the least of them on top. Nothing ever scans the labels, but for the rebuild
// when F itself grows, which happens once per doubling of the number of classes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "criteria.hpp"
#include "label_index.hpp"
#include "types.hpp"

namespace recalltree {

class LabelHistogram {
 public:
  static constexpr std::uint32_t kMaxCandidates = 0xfffe;

  struct Candidate {
    ClassId label;
    std::uint32_t arrival;  // position among the node's labels in order of arrival
    double count;
  };
  // More frequent first; ties: the label that got there first.
  static bool better(const Candidate& a, const Candidate& b) {
    return a.count > b.count || (a.count == b.count && a.arrival < b.arrival);
  }

  std::size_t size() const { return index_.size(); }
  double total() const { return total_; }
  const std::vector<ClassId>& labels() const { return index_.labels(); }
  const std::vector<double>& counts() const { return counts_; }

  double count(ClassId label) const {
    const std::uint32_t at = index_.find(label);
    return at == kNone ? 0.0 : counts_[at];
  }

  double entropy() const { return recalltree::entropy(total_, sum_xlogx_); }
  // With one more example of a label that has `count` so far.
  double entropy_with(double count, double weight) const {
    return recalltree::entropy(total_ + weight, sum_xlogx_ - xlogx(count) + xlogx(count + weight));
  }

  // Returns how many entries were touched.
  std::size_t add(ClassId label, double weight, std::uint32_t max_candidates) {
    std::size_t touches = 1;
    std::uint32_t at = index_.find(label);
    if (at == kNone) at = append(label);
    const double before = counts_[at], after = before + weight;
    counts_[at] = after;
    total_ += weight;
    sum_xlogx_ += xlogx(after) - xlogx(before);
    if (size() <= max_candidates) {
      drop_heap();
    } else if (heap_.size() != max_candidates) {
      touches += rebuild(max_candidates);
    } else if (heap_slot_[at] != kOutside) {
      candidate_mass_ += weight;
      touches += sift_down(heap_slot_[at]);
    } else if (beats(at, heap_[0])) {
      candidate_mass_ += after - counts_[heap_[0]];
      heap_slot_[heap_[0]] = kOutside;
      place(0, at);
      touches += 1 + sift_down(0);
    }
    return touches;
  }

  // Makes the candidates those for another F. Returns how many entries were touched.
  std::size_t fit(std::uint32_t max_candidates) {
    if (size() <= max_candidates) {
      drop_heap();
      return 0;
    }
    return heap_.size() == max_candidates ? 0 : rebuild(max_candidates);
  }

  bool is_candidate(ClassId label) const {
    const std::uint32_t at = index_.find(label);
    return at != kNone && (heap_.empty() || heap_slot_[at] != kOutside);
  }

  // Empirical recall of the candidates; 1 while every label is one.
  double recall() const { return heap_.empty() ? 1.0 : std::min(1.0, candidate_mass_ / total_); }

  std::size_t n_candidates() const { return heap_.empty() ? size() : heap_.size(); }
  // Calls visit(label, count) for every candidate, in no particular order.
  template <class Visit>
  void visit_candidates(Visit visit) const {
    if (heap_.empty())
      for (std::uint32_t at = 0; at < size(); ++at) visit(labels()[at], counts_[at]);
    else
      for (const std::uint32_t at : heap_) visit(labels()[at], counts_[at]);
  }
  // In no particular order.
  void candidates(std::vector<Candidate>& out) const {
    out.clear();
    if (heap_.empty())
      for (std::uint32_t at = 0; at < size(); ++at) out.push_back({labels()[at], at, counts_[at]});
    else
      for (const std::uint32_t at : heap_) out.push_back({labels()[at], at, counts_[at]});
  }

  // All labels in candidate order, of which the candidates are the first.
  void ranked(std::vector<Candidate>& out) const {
    out.clear();
    for (std::uint32_t at = 0; at < size(); ++at) out.push_back({labels()[at], at, counts_[at]});
    std::sort(out.begin(), out.end(), better);
  }

  // All counts divided by a power of two, to keep growing increments in range.
  void rescale(double factor) {
    // sum of (c f) log(c f) = f (sum c log c + log f sum c)
    sum_xlogx_ = factor * (sum_xlogx_ + std::log(factor) * total_);
    total_ *= factor;
    candidate_mass_ *= factor;
    for (double& c : counts_) c *= factor;
  }

  struct Sums {
    double total, sum_xlogx, candidate_mass;
  };
  Sums sums() const { return {total_, sum_xlogx_, candidate_mass_}; }
  // Restores what add() built: labels in order of arrival and the exact running sums.
  void restore(const ClassId* labels, const double* counts, std::size_t n, const Sums& sums,
               std::uint32_t max_candidates) {
    for (std::size_t i = 0; i < n; ++i) counts_[append(labels[i])] = counts[i];
    if (n > max_candidates) rebuild(max_candidates);
    total_ = sums.total;
    sum_xlogx_ = sums.sum_xlogx;
    candidate_mass_ = sums.candidate_mass;
  }

  std::size_t bytes() const {
    return index_.bytes() + counts_.capacity() * sizeof(double) +
           heap_slot_.capacity() * sizeof(std::uint16_t) + heap_.capacity() * sizeof(std::uint32_t);
  }

 private:
  static constexpr std::uint32_t kNone = LabelIndex::kNone;
  static constexpr std::uint16_t kOutside = 0xffff;  // not a candidate

  std::uint32_t append(ClassId label) {
    LabelIndex::push(counts_, 0.0);
    LabelIndex::push(heap_slot_, kOutside);
    return index_.append(label);
  }

  bool beats(std::uint32_t a, std::uint32_t b) const {
    return counts_[a] > counts_[b] || (counts_[a] == counts_[b] && a < b);
  }

  void place(std::uint32_t slot, std::uint32_t at) {
    heap_[slot] = at;
    heap_slot_[at] = static_cast<std::uint16_t>(slot);
  }

  // The count at this slot has grown: move it away from the top.
  std::size_t sift_down(std::uint32_t slot) {
    std::size_t moves = 0;
    const auto n = static_cast<std::uint32_t>(heap_.size());
    const std::uint32_t moving = heap_[slot];
    for (;;) {
      std::uint32_t child = 2 * slot + 1;
      if (child >= n) break;
      if (child + 1 < n && beats(heap_[child], heap_[child + 1])) ++child;
      if (!beats(moving, heap_[child])) break;
      place(slot, heap_[child]);
      slot = child;
      ++moves;
    }
    place(slot, moving);
    return moves;
  }

  void drop_heap() {
    for (const std::uint32_t at : heap_) heap_slot_[at] = kOutside;
    heap_.clear();
  }

  std::size_t rebuild(std::uint32_t max_candidates) {
    drop_heap();
    std::vector<std::uint32_t> order(size());
    std::iota(order.begin(), order.end(), 0u);
    const auto rank = [this](std::uint32_t a, std::uint32_t b) { return beats(a, b); };
    std::nth_element(order.begin(), order.begin() + (max_candidates - 1), order.end(), rank);
    order.resize(max_candidates);
    // Sorted from the least upwards, an array is a heap with the least on top.
    std::sort(order.begin(), order.end(),
              [&](std::uint32_t a, std::uint32_t b) { return rank(b, a); });
    heap_ = std::vector<std::uint32_t>(order.begin(), order.end());
    candidate_mass_ = 0.0;
    for (std::uint32_t slot = 0; slot < heap_.size(); ++slot) {
      heap_slot_[heap_[slot]] = static_cast<std::uint16_t>(slot);
      candidate_mass_ += counts_[heap_[slot]];
    }
    return size();
  }

  LabelIndex index_;                      // labels in order of arrival
  std::vector<double> counts_;            // beside the labels
  std::vector<std::uint16_t> heap_slot_;  // beside the labels: where in heap_, or kOutside
  std::vector<std::uint32_t>
      heap_;  // the candidates, least on top; empty while all labels are candidates
  double total_ = 0.0, sum_xlogx_ = 0.0, candidate_mass_ = 0.0;
};

}  // namespace recalltree
