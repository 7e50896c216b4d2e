// The histogram against the obvious one: a list that is sorted whenever somebody asks.
#include "recalltree/label_histogram.hpp"

#include <cassert>
#include <cmath>
#include <map>
#include <random>

using namespace recalltree;

namespace {

struct Obvious {
  std::vector<std::pair<ClassId, double>> counts;  // in order of arrival
  double total = 0.0;

  void add(ClassId label, double weight) {
    total += weight;
    for (auto& [known, count] : counts)
      if (known == label) {
        count += weight;
        return;
      }
    counts.emplace_back(label, weight);
  }
  std::vector<ClassId> candidates(std::size_t max) const {
    auto sorted = counts;
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](auto& a, auto& b) { return a.second > b.second; });
    std::vector<ClassId> out;
    for (std::size_t i = 0; i < std::min(max, sorted.size()); ++i) out.push_back(sorted[i].first);
    return out;
  }
  double mass(std::size_t max) const {
    std::vector<double> values;
    for (auto& [label, count] : counts) values.push_back(count);
    std::sort(values.rbegin(), values.rend());
    double sum = 0.0;
    for (std::size_t i = 0; i < std::min(max, values.size()); ++i) sum += values[i];
    return sum;
  }
  double entropy() const {
    double h = 0.0;
    for (auto& [label, count] : counts) h -= count / total * std::log(count / total);
    return h;
  }
};

std::vector<ClassId> ranked(const LabelHistogram& histogram) {
  std::vector<LabelHistogram::Candidate> all;
  histogram.candidates(all);
  std::sort(all.begin(), all.end(), LabelHistogram::better);
  std::vector<ClassId> labels;
  for (const auto& c : all) labels.push_back(c.label);
  return labels;
}

// growing: F overtakes the number of labels, which later overtakes F.
void compare(std::size_t n_labels, std::uint32_t max_candidates, bool growing, unsigned seed) {
  std::mt19937 random(seed);
  std::geometric_distribution<std::uint32_t> skewed(5.0 / static_cast<double>(n_labels));
  LabelHistogram histogram;
  Obvious obvious;
  std::size_t touches = 0;
  constexpr std::size_t n = 3000;
  for (std::size_t t = 0; t < n; ++t) {
    const std::uint32_t F =
        growing ? max_candidates * (t > 100 ? 8u : 1u) + static_cast<std::uint32_t>(t / 700)
                : max_candidates;
    const std::size_t known = growing ? std::min(n_labels, 1 + t / 20) : n_labels;
    const auto label = static_cast<ClassId>(skewed(random) % known * 977);
    const double weight = static_cast<double>(1 + random() % 16) / 8.0;
    const double with = histogram.entropy_with(histogram.count(label), weight);
    touches += histogram.add(label, weight, F);
    obvious.add(label, weight);
    assert(std::fabs(histogram.entropy() - with) < 1e-9);
    assert(std::fabs(histogram.entropy() - obvious.entropy()) < 1e-9);
    assert(histogram.total() == obvious.total);
    assert(ranked(histogram) == obvious.candidates(F));
    assert(std::fabs(histogram.recall() - obvious.mass(F) / obvious.total) < 1e-12);
    for (const ClassId c : {label, label + 1}) {
      const auto top = obvious.candidates(F);
      assert(histogram.is_candidate(c) == (std::find(top.begin(), top.end(), c) != top.end()));
    }
  }
  // A lookup, a replacement and a walk down the heap; rebuilding is rare.
  assert(touches < n * (3 + std::bit_width(max_candidates)) + 6 * n_labels);

  LabelHistogram copy;
  const auto F = static_cast<std::uint32_t>(histogram.n_candidates());
  copy.restore(histogram.labels().data(), histogram.counts().data(), histogram.size(),
               histogram.sums(), F);
  histogram.fit(F);
  assert(ranked(copy) == ranked(histogram));
  assert(copy.entropy() == histogram.entropy() && copy.recall() == histogram.recall());
  copy.rescale(0.25);
  assert(std::fabs(copy.entropy() - histogram.entropy()) < 1e-9);
  assert(ranked(copy) == ranked(histogram));
}

void many_labels() {  // past the point where positions need more than 16 bits
  LabelHistogram histogram;
  constexpr ClassId n = 70000;
  for (int round = 0; round < 2; ++round)
    for (ClassId label = 0; label < n; ++label) histogram.add(label * 3, 1.0, 64);
  assert(histogram.size() == n && histogram.total() == 2.0 * n);
  for (ClassId label = 0; label < n; ++label)
    assert(histogram.count(label * 3) == 2.0 && histogram.count(label * 3 + 1) == 0.0);
  assert(ranked(histogram).front() == 0);
}

}  // namespace

int main() {
  for (unsigned seed = 0; seed < 3; ++seed)
    for (const std::uint32_t F : {1u, 2u, 5u, 40u, 1000u}) {
      compare(30, F, false, seed);
      compare(300, F, true, seed);
    }
  many_labels();
}
