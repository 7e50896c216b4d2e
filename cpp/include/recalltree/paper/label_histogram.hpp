// The weighted label counts of a node, with the F most frequent labels known at any time.
//
// Adding to a label, reading a count, the mass of the F largest, and the entropy touch O(1) or
// O(log F) entries: the candidates form a heap with the least of them on top. Where a label stands,
// and where in the heap, is not written down but looked up among at most 1024 labels or F
// positions, many compared at once; beyond, a table knows the label (packed_counts.hpp). So the
// work is bounded whatever the number of classes. Nothing ever goes through all labels, but for the
// rebuild when F itself grows, which happens once per doubling of the number of classes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "recalltree/base/packed_counts.hpp"
#include "recalltree/base/types.hpp"
#include "recalltree/paper/criteria.hpp"

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

  std::size_t size() const { return entries_.size(); }
  double total() const { return total_; }

  double count(ClassId label) const {
    const std::uint32_t at = entries_.find(label);
    return at == kNone ? 0.0 : entries_.counts()[at];
  }

  double entropy() const { return recalltree::entropy(total_, sum_xlogx_); }
  // Entropy with one more example of these labels, each of which counts `weight`.
  double entropy_with(Labels labels, double weight) const {
    double total = total_, sum_xlogx = sum_xlogx_;
    for (const ClassId y : labels) {
      const double before = count(y);
      total += weight;
      sum_xlogx = sum_xlogx - xlogx(before) + xlogx(before + weight);
    }
    return recalltree::entropy(total, sum_xlogx);
  }

  // Returns how many entries were touched.
  std::size_t add(ClassId label, double weight, std::uint32_t max_candidates) {
    std::size_t touches = 1;
    std::uint32_t at = entries_.find(label);
    const double before = at == kNone ? 0.0 : entries_.counts()[at], after = before + weight;
    if (at == kNone)
      at = entries_.append(label, after);
    else
      entries_.set_count(at, after);
    total_ += weight;
    sum_xlogx_ += xlogx(after) - xlogx(before);
    if (size() <= max_candidates) {
      drop_heap();
    } else if (entries_.n_candidates() != max_candidates) {
      touches += rebuild(max_candidates);
    } else if (const std::uint32_t slot = slot_of(at); slot != kNone) {
      candidate_mass_ += weight;
      touches += sift_down(slot, at);
    } else if (const std::uint32_t least = entries_.candidates()[0];
               beats(entries_.counts(), at, least)) {
      candidate_mass_ += after - entries_.counts()[least];
      touches += 1 + sift_down(0, at);
    }
    return touches;
  }

  // Makes the candidates those for another F. Returns how many entries were touched.
  std::size_t fit(std::uint32_t max_candidates) {
    if (size() <= max_candidates) {
      drop_heap();
      return 0;
    }
    return entries_.n_candidates() == max_candidates ? 0 : rebuild(max_candidates);
  }

  bool is_candidate(ClassId label) const {
    const std::uint32_t at = entries_.find(label);
    return at != kNone && (all_are_candidates() || slot_of(at) != kNone);
  }

  // True if the label is a candidate, or would be if it were counted now.
  bool would_be_candidate(ClassId label, double weight, std::uint32_t max_candidates) const {
    const std::uint32_t at = entries_.find(label);
    if (at != kNone && (all_are_candidates() || slot_of(at) != kNone)) return true;
    if (at == kNone && size() < max_candidates) return true;
    const auto counts = entries_.counts();
    const double after = (at == kNone ? 0.0 : counts[at]) + weight;
    if (!all_are_candidates()) {
      const std::uint32_t least = entries_.candidates()[0];
      return after > counts[least] || (after == counts[least] && at < least);
    }
    for (std::uint32_t other = 0; other < size(); ++other)
      if (after > counts[other]) return true;
    return false;
  }

  // Empirical recall of the candidates; 1 while every label is one.
  double recall() const {
    return all_are_candidates() ? 1.0 : std::min(1.0, candidate_mass_ / total_);
  }

  std::size_t n_candidates() const {
    return all_are_candidates() ? size() : entries_.n_candidates();
  }
  // Candidates in no particular order.
  void candidates(std::vector<Candidate>& out) const {
    if (all_are_candidates()) return arrived(out);
    const auto labels = entries_.labels(), heap = entries_.candidates();
    const auto counts = entries_.counts();
    out.resize(entries_.n_candidates());
    for (std::size_t slot = 0; slot < out.size(); ++slot) {
      const std::uint32_t at = heap[slot];
      out[slot] = {labels[at], at, counts[at]};
    }
  }

  // All labels in order of arrival.
  void arrived(std::vector<Candidate>& out) const {
    const auto labels = entries_.labels();
    const auto counts = entries_.counts();
    out.resize(size());
    for (std::uint32_t at = 0; at < out.size(); ++at) out[at] = {labels[at], at, counts[at]};
  }

  // All labels in candidate order, of which the candidates are the first.
  void ranked(std::vector<Candidate>& out) const {
    arrived(out);
    std::sort(out.begin(), out.end(), better);
  }

  // All counts divided by a power of two, to keep growing increments in range.
  void rescale(double factor) {
    entries_.scale_counts(factor);
    // sum of (c f) log(c f) = f (sum c log c + log f sum c)
    sum_xlogx_ = factor * (sum_xlogx_ + std::log(factor) * total_);
    total_ *= factor;
    candidate_mass_ *= factor;
  }

  struct Sums {
    double total, sum_xlogx, candidate_mass;
  };
  Sums sums() const { return {total_, sum_xlogx_, candidate_mass_}; }
  // Restores what add() built: labels in order of arrival and the exact running sums.
  void restore(const ClassId* labels, const double* counts, std::size_t n, const Sums& sums,
               std::uint32_t max_candidates) {
    entries_.assign(labels, counts, n);
    if (n > max_candidates) rebuild(max_candidates);
    total_ = sums.total;
    sum_xlogx_ = sums.sum_xlogx;
    candidate_mass_ = sums.candidate_mass;
  }

  std::size_t bytes() const { return entries_.bytes(); }

 private:
  using Counts = NarrowNumbers<double>;
  static constexpr std::uint32_t kNone = PackedCounts::kNone;

  bool all_are_candidates() const { return entries_.n_candidates() == 0; }

  static bool beats(const Counts& counts, std::uint32_t a, std::uint32_t b) {
    const double count_a = counts[a], count_b = counts[b];
    return count_a > count_b || (count_a == count_b && a < b);
  }

  // Slot of a label in the heap, or kNone.
  std::uint32_t slot_of(std::uint32_t at) const {
    return entries_.candidates().find(at, entries_.n_candidates());
  }

  // The label at `moving` belongs to this slot or, as its count has grown, further from the top.
  std::size_t sift_down(std::uint32_t slot, std::uint32_t moving) {
    const auto heap = entries_.candidates();
    const auto counts = entries_.counts();
    const std::uint32_t n = entries_.n_candidates();
    std::size_t moves = 0;
    for (;;) {
      std::uint32_t child = 2 * slot + 1;
      if (child >= n) break;
      if (child + 1 < n && beats(counts, heap[child], heap[child + 1])) ++child;
      if (!beats(counts, moving, heap[child])) break;
      heap.set(slot, heap[child]);
      slot = child;
      ++moves;
    }
    heap.set(slot, moving);
    return moves;
  }

  void drop_heap() {
    if (!all_are_candidates()) entries_.resize_candidates(0);
  }

  std::size_t rebuild(std::uint32_t max_candidates) {
    entries_.forget_candidates();
    std::vector<std::uint32_t> order(size());
    std::iota(order.begin(), order.end(), 0u);
    const auto counts = entries_.counts();
    const auto rank = [&](std::uint32_t a, std::uint32_t b) { return beats(counts, a, b); };
    std::nth_element(order.begin(), order.begin() + (max_candidates - 1), order.end(), rank);
    order.resize(max_candidates);
    // Sorted from the least upwards, an array is a heap with the least on top.
    std::sort(order.begin(), order.end(),
              [&](std::uint32_t a, std::uint32_t b) { return rank(b, a); });
    entries_.resize_candidates(max_candidates);
    const auto heap = entries_.candidates();  // in new memory
    candidate_mass_ = 0.0;
    for (std::uint32_t slot = 0; slot < max_candidates; ++slot) {
      heap.set(slot, order[slot]);
      candidate_mass_ += entries_.counts()[order[slot]];
    }
    return size();
  }

  // Labels in order of arrival, their counts, and the heap of the candidates with the least on top:
  // no candidates are kept while all labels are.
  PackedCounts entries_;
  double total_ = 0.0, sum_xlogx_ = 0.0, candidate_mass_ = 0.0;
};

}  // namespace recalltree
