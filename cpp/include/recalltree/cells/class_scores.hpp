// The scores of classes, wherever their vectors are stored. Vectors is ClassVectors or those of a
// mapped file. It has
//   size(), width()              classes, and the floats of a row
//   mean_scale()                 A
//   n_parts()                    2: a mean and weights; 1 where A c / |c| + w is stored
//   parts(y, place, scratch)     of class y, one after another; they may be unpacked into one of
//                                kTogether places of the scratch
//   inverse_norm(y), bias(y)
//   prefetch(y)
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "recalltree/base/example.hpp"
#include "recalltree/base/hints.hpp"
#include "recalltree/base/types.hpp"
#include "recalltree/kernels/kernels.hpp"

namespace recalltree {

// The row that its labels have already counted, which a later pass leaves out of their means.
struct OwnRow {
  Labels labels;
  double weight = 0.0;

  bool has(ClassId y) const { return std::find(labels.begin(), labels.end(), y) != labels.end(); }
};

// Classes of rows, one row after the other.
struct ClassesOfRows {
  std::vector<ClassId> labels;
  std::vector<std::size_t> ends;  // by row

  void clear() { labels.clear(), ends.clear(); }
  std::size_t begin_of(std::size_t row) const { return row == 0 ? 0 : ends[row - 1]; }
  std::span<const ClassId> of(std::size_t row) const {
    return std::span(labels).subspan(begin_of(row), ends[row] - begin_of(row));
  }
};

struct ClassScoresScratch {
  std::vector<const float*> pointers;
  std::vector<float> products;
  AlignedFloats unpacked;
  // Of many rows: the pairs of a row and a class, sorted by class.
  struct Pair {
    std::uint32_t row, place;
  };
  std::vector<std::uint32_t> begin;  // by class
  std::vector<Pair> pairs;
};

template <class Vectors>
class ClassScores {
 public:
  using Own = OwnRow;
  using Scratch = ClassScoresScratch;
  // Classes that are compared in one call of a kernel.
  static constexpr std::size_t kTogether = 2;

  // out[i] = score of labels[i]
  void score(const float* x, std::span<const ClassId> labels, Own own, float* out,
             Scratch& scratch) const {
    const Vectors& vectors = self();
    const std::size_t width = vectors.width(), parts = vectors.n_parts();
    scratch.pointers.resize(parts * kTogether);
    scratch.products.resize(parts * labels.size());
    // A few classes ahead are on their way while some are compared.
    constexpr std::size_t kAhead = 2 * kTogether;
    for (std::size_t i = 0; i < std::min(kAhead, labels.size()); ++i) vectors.prefetch(labels[i]);
    for (std::size_t i = 0; i < labels.size(); i += kTogether) {
      for (std::size_t k = i + kAhead; k < std::min(i + kAhead + kTogether, labels.size()); ++k)
        vectors.prefetch(labels[k]);
      const std::size_t n = std::min(kTogether, labels.size() - i);
      for (std::size_t k = 0; k < n; ++k) {
        const float* const first = vectors.parts(labels[i + k], k, scratch);
        for (std::size_t part = 0; part < parts; ++part)
          scratch.pointers[parts * k + part] = first + part * width;
      }
      kernels().dot_block(x, width, 1, scratch.pointers.data(), parts * n, width,
                          scratch.products.data() + parts * i, parts * n);
    }
    for (std::size_t i = 0; i < labels.size(); ++i) {
      const float* const products = scratch.products.data() + parts * i;
      const float match =
          parts == 1 ? products[0] : mean_part(x, labels[i], products[0], own) + products[1];
      out[i] = match + vectors.bias(labels[i]);
    }
  }

  // The same for many rows, of which row i begins at x + i * width, to the bit. Where rows share
  // classes, a class is compared with all its rows at a time.
  void score_rows(const float* x, const ClassesOfRows& classes, float* out,
                  Scratch& scratch) const {
    const Vectors& vectors = self();
    const std::size_t width = vectors.width(), n_rows = classes.ends.size();
    if (classes.labels.size() < vectors.size()) {
      for (std::size_t i = 0; i < n_rows; ++i)
        score(x + i * width, classes.of(i), {}, out + classes.begin_of(i), scratch);
      return;
    }
    sort_by_class(classes, scratch);
    for (ClassId y = 0; y < vectors.size(); ++y) {
      const std::span pairs(scratch.pairs.data() + scratch.begin[y],
                            scratch.begin[y + 1] - scratch.begin[y]);
      if (y + 1 < vectors.size() && scratch.begin[y + 2] > scratch.begin[y + 1]) {
        vectors.prefetch(y + 1);
        for (std::size_t k = scratch.begin[y + 1]; k < scratch.begin[y + 2]; ++k)
          prefetch(x + scratch.pairs[k].row * width, kPrefetched);
      }
      if (!pairs.empty()) score_class(y, x, pairs, out, scratch);
    }
  }

  // The terms of a score. Where A c / |c| + w is stored, the mean has no part of its own.
  struct Parts {
    float mean, weights, bias;
  };
  Parts parts_of_score(const float* x, ClassId y, Scratch& scratch) const {
    const Vectors& vectors = self();
    const float* const first = vectors.parts(y, 0, scratch);
    const float product = kernels().dot(x, first, vectors.width());
    if (vectors.n_parts() == 1) return {0.0f, product, vectors.bias(y)};
    return {mean_part(x, y, product, {}),
            kernels().dot(x, first + vectors.width(), vectors.width()), vectors.bias(y)};
  }

  // The first n numbers of A c / |c| + w, which a sketch shows.
  void combined(ClassId y, std::size_t n, float* out, Scratch& scratch) const {
    const Vectors& vectors = self();
    const float* const first = vectors.parts(y, 0, scratch);
    const float* const w = first + vectors.width();
    const float factor = vectors.mean_scale() * vectors.inverse_norm(y);
    const std::size_t filled = std::min(n, vectors.width());
    for (std::size_t j = 0; j < filled; ++j)
      out[j] = vectors.n_parts() == 1 ? first[j] : factor * first[j] + w[j];
    std::fill(out + filled, out + n, 0.0f);
  }

 private:
  // Floats of the next rows that are fetched ahead; the processor foresees the rest.
  static constexpr std::size_t kPrefetched = 64;

  const Vectors& self() const { return static_cast<const Vectors&>(*this); }

  void sort_by_class(const ClassesOfRows& classes, Scratch& scratch) const {
    std::vector<std::uint32_t>& begin = scratch.begin;
    // Shifted by one, so that in the end begin[y] is where the pairs of y begin.
    begin.assign(self().size() + 2, 0);
    for (const ClassId y : classes.labels) ++begin[y + 2];
    for (std::size_t y = 2; y < begin.size(); ++y) begin[y] += begin[y - 1];
    scratch.pairs.resize(classes.labels.size());
    std::size_t place = 0;
    for (std::size_t row = 0; row < classes.ends.size(); ++row)
      for (; place < classes.ends[row]; ++place)
        scratch.pairs[begin[classes.labels[place] + 1]++] = {static_cast<std::uint32_t>(row),
                                                             static_cast<std::uint32_t>(place)};
  }

  void score_class(ClassId y, const float* x, std::span<const ClassScoresScratch::Pair> pairs,
                   float* out, Scratch& scratch) const {
    const Vectors& vectors = self();
    const std::size_t width = vectors.width(), parts = vectors.n_parts(), n = pairs.size();
    scratch.pointers.resize(n);
    for (std::size_t k = 0; k < n; ++k) scratch.pointers[k] = x + pairs[k].row * width;
    scratch.products.resize(parts * n);
    const float* const products = scratch.products.data();
    kernels().dot_block(vectors.parts(y, 0, scratch), width, parts, scratch.pointers.data(), n,
                        width, scratch.products.data(), n);
    for (std::size_t k = 0; k < n; ++k) {
      const float match =
          parts == 1 ? products[k]
                     : mean_part(scratch.pointers[k], y, products[k], {}) + products[n + k];
      out[pairs[k].place] = match + vectors.bias(y);
    }
  }

  // A cos(x, c), of the product of x and c.
  float mean_part(const float* x, ClassId y, float along, Own own) const {
    // A mean is nothing if leaving a row out leaves less than this share of its square.
    constexpr float kNothingLeft = 1e-6f;
    float inverse_norm = self().inverse_norm(y);
    if (own.weight > 0.0 && inverse_norm > 0.0f && own.has(y)) {
      const auto weight = static_cast<float>(own.weight);
      const float squares = 1.0f / (inverse_norm * inverse_norm);
      const float length = kernels().dot(x, x, self().width());
      const float rest = squares - 2.0f * weight * along + weight * weight * length;
      along -= weight * length;
      inverse_norm = rest > kNothingLeft * squares ? 1.0f / std::sqrt(rest) : 0.0f;
    }
    return self().mean_scale() * (along * inverse_norm);
  }
};

}  // namespace recalltree
