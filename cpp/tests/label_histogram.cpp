// The histogram against the obvious one: a list that is sorted whenever somebody asks.
#include "recalltree/paper/label_histogram.hpp"

#include <cassert>
#include <cmath>
#include <cstdlib>
#include <new>
#include <random>
#include <unordered_map>

using namespace recalltree;

// Histograms are the only ones here that ask for arrays, one at a time each.
static std::size_t last_array = 0;
static bool no_memory = false;
void* operator new[](std::size_t n) {
  void* const array = no_memory ? nullptr : std::malloc(n);
  if (array == nullptr) throw std::bad_alloc();
  last_array = n;
  return array;
}
void operator delete[](void* array) noexcept { std::free(array); }
void operator delete[](void* array, std::size_t) noexcept { std::free(array); }

namespace {

struct Obvious {
  std::vector<std::pair<ClassId, double>> counts;  // in order of arrival
  std::unordered_map<ClassId, std::size_t> positions;
  double total = 0.0;

  void add(ClassId label, double weight) {
    total += weight;
    const auto [at, is_new] = positions.try_emplace(label, counts.size());
    if (is_new)
      counts.emplace_back(label, weight);
    else
      counts[at->second].second += weight;
  }
  void rescale(double factor) {
    total *= factor;
    for (auto& [label, count] : counts) count *= factor;
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

void assert_same(const LabelHistogram& histogram, const Obvious& obvious, std::uint32_t F) {
  std::vector<LabelHistogram::Candidate> all;
  histogram.arrived(all);
  assert(histogram.size() == obvious.counts.size() && all.size() == histogram.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& [label, count] = obvious.counts[i];
    assert(all[i].label == label && all[i].count == count && all[i].arrival == i);
    assert(histogram.count(label) == count);
    // Its lower 16 bits alone are another label.
    const ClassId other = label ^ 0x10000;
    assert(obvious.positions.count(other) > 0 || histogram.count(other) == 0.0);
  }
  const auto top = obvious.candidates(F);
  assert(ranked(histogram) == top && histogram.n_candidates() == top.size());
  for (const ClassId label : top) assert(histogram.is_candidate(label));
  assert(std::fabs(histogram.total() / obvious.total - 1.0) < 1e-12);
  assert(std::fabs(histogram.recall() - obvious.mass(F) / obvious.total) < 1e-9);
  assert(std::fabs(histogram.entropy() - obvious.entropy()) < 1e-9);
}

LabelHistogram restored(const LabelHistogram& histogram, std::uint32_t F) {
  std::vector<LabelHistogram::Candidate> all;
  histogram.arrived(all);
  std::vector<ClassId> labels;
  std::vector<double> counts;
  for (const auto& c : all) {
    labels.push_back(c.label);
    counts.push_back(c.count);
  }
  LabelHistogram copy;
  copy.restore(labels.data(), counts.data(), labels.size(), histogram.sums(), F);
  return copy;
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
    const double with = histogram.entropy_with({&label, 1}, weight);
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

  const auto F = static_cast<std::uint32_t>(histogram.n_candidates());
  LabelHistogram copy = restored(histogram, F);
  histogram.fit(F);
  assert(ranked(copy) == ranked(histogram));
  assert(copy.entropy() == histogram.entropy() && copy.recall() == histogram.recall());
  copy.rescale(0.25);
  assert(std::fabs(copy.entropy() - histogram.entropy()) < 1e-9);
  assert(ranked(copy) == ranked(histogram));
}

// Numbers take more bytes as soon as one of them needs it, and whatever was there stays.
void widths(ClassId first_label, std::uint32_t n_labels, std::uint32_t F, unsigned seed) {
  std::mt19937 random(seed);
  LabelHistogram histogram;
  Obvious obvious;
  const auto add = [&](double weight) {
    const ClassId label = first_label + random() % n_labels * (1 + seed);
    // Without memory it is as if nobody had asked.
    const std::size_t size = histogram.size(), bytes = histogram.bytes();
    const double total = histogram.total(), count = histogram.count(label);
    no_memory = true;
    try {
      histogram.add(label, weight, F);
    } catch (const std::bad_alloc&) {
      no_memory = false;
      if (histogram.total() == total) {
        assert(histogram.size() == size && histogram.bytes() == bytes);
        assert(histogram.count(label) == count);
        histogram.add(label, weight, F);
      } else {
        histogram.fit(F);  // only the candidates were missing
      }
    }
    no_memory = false;
    obvious.add(label, weight);
  };
  // A step at a time while they are few, then in leaps.
  const auto add_many = [&](std::uint32_t n, double weight) {
    for (std::uint32_t i = 0; i < n; ++i) {
      add(weight);
      if (histogram.size() < 100) assert_same(histogram, obvious, F);
    }
    assert_same(histogram, obvious, F);
    assert_same(restored(histogram, F), obvious, F);
  };
  add_many(40, 1.0);
  add_many(2 * n_labels, 1.0);
  for (const double weight : {250.0, 255.0, 1.0, 65530.0, 65535.0, 4294967295.0, 0.375, 1e-3}) {
    add(weight);
    assert_same(histogram, obvious, F);
    add_many(20, weight);
    assert(restored(histogram, F).bytes() <= histogram.bytes());
  }
  histogram.rescale(0x1p-20);
  obvious.rescale(0x1p-20);
  add_many(20, 1.0);
  histogram.fit(2 * F);
  assert_same(histogram, obvious, 2 * F);
  histogram.fit(n_labels);
  assert_same(histogram, obvious, n_labels);
}

void rescaled_whole_numbers() {
  LabelHistogram histogram;
  Obvious obvious;
  for (ClassId label = 0; label < 300; ++label) {
    histogram.add(label, label % 7 + 1, 10);
    obvious.add(label, label % 7 + 1);
  }
  histogram.rescale(0.125);
  obvious.rescale(0.125);
  assert_same(histogram, obvious, 10);
}

// Counted are all bytes there are, and they are few.
void bytes() {
  LabelHistogram histogram;
  assert(histogram.bytes() == 0);
  for (ClassId label = 0; label < 5000; ++label) {
    histogram.add(label, 1.0, 40);
    assert(histogram.bytes() == last_array);
    const std::size_t n = histogram.size(), for_table = n <= 1024 ? 0 : 4;
    assert(n < 100 || histogram.bytes() < n * (3 + for_table) * 9 / 8 + 40 * (n <= 256 ? 1 : 2));
  }
  histogram.add(0, 300.0, 40);
  assert(histogram.bytes() == last_array);
  histogram.add(0, 0.5, 64);
  assert(histogram.bytes() == last_array);
  histogram.fit(5000);
  assert(histogram.bytes() == last_array);
}

void many_labels() {  // past the point where positions need more than 16 bits
  LabelHistogram histogram;
  Obvious obvious;
  constexpr ClassId n = 70000;
  for (int round = 0; round < 2; ++round) {
    for (ClassId label = 0; label < n; ++label) {
      histogram.add(label * 3, 1.0, 64);
      obvious.add(label * 3, 1.0);
    }
    assert(histogram.bytes() == last_array);
    assert_same(histogram, obvious, 64);
    assert_same(restored(histogram, 64), obvious, 64);
  }
  assert(histogram.size() == n && histogram.total() == 2.0 * n);
  for (ClassId label = 0; label < n; ++label) assert(histogram.count(label * 3 + 1) == 0.0);
  assert(ranked(histogram).front() == 0);
}

}  // namespace

int main() {
  for (unsigned seed = 0; seed < 3; ++seed)
    for (const std::uint32_t F : {1u, 2u, 5u, 40u, 1000u}) {
      compare(30, F, false, seed);
      compare(300, F, true, seed);
    }
  // Labels and positions of either width, without and with a table.
  unsigned seed = 0;
  for (const ClassId first : {0u, 65400u, 70000u})
    for (const std::uint32_t n : {50u, 300u, 1100u, 5000u})
      for (const std::uint32_t F : {3u, 40u}) widths(first, n, F, seed++ % 3);
  widths(0, 70000, 64, 0);
  rescaled_whole_numbers();
  bytes();
  many_labels();
}
