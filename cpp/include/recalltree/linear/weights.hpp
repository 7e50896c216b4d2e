// Rows of weights: one linear model each, with the AdaGrad accumulator of every weight.
//
// Learning is in two halves, because the size of the step depends on the sum of all of a model's
// parts:
//   accumulate  G += w g^2 z^2 and r = z / sqrt(G); adds to c the sum of z r, what the score gains
//   per unit of step apply       v += h r
// Both work on a block of distinct rows at a time.
#pragma once

#include <cstddef>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "recalltree/base/example.hpp"
#include "recalltree/base/state.hpp"
#include "recalltree/base/types.hpp"
#include "recalltree/linear/found.hpp"

namespace recalltree {

inline constexpr std::size_t kBlock = 16;  // rows that learn together, at most

// What accumulate hands to apply. Reused from example to example.
struct Steps {
  AlignedFloats r;
  float bias_r[kBlock];
  // Sparse rows: where each r goes, from this row on.
  Found* found = nullptr;
  std::size_t first = 0;
  Found own;  // of rows that were not looked up before
  // One row's, while r is computed.
  AlignedFloats G;
  std::vector<float*> accumulators;
};

struct RowContents {
  std::vector<std::uint32_t> keys;
  std::vector<float> weights, accumulators;
  float bias = 0.0f, bias_accumulator = 0.0f;
};

// Examples [begin, end), on which the same rows are to be scored.
struct ExampleGroup {
  const RowId* rows;
  std::size_t n;
  std::size_t begin, end;
};
// Puts the e-th example into x.
using ReadExample = std::function<void(std::size_t e, Example& x)>;

class Weights {
 public:
  virtual ~Weights() = default;

  // The next row.
  virtual RowId add_row() = 0;
  // A row that is mostly asked for together with this one, or with none (kNoRow). Any number.
  virtual RowId add_row_near(RowId) { return add_row(); }
  virtual std::size_t size() const = 0;
  void grow_to(std::size_t rows) {
    while (size() < rows) add_row();
  }

  // Scores of n rows on one example, biases included. shared: other threads may be learning.
  virtual void scores(const RowId* rows, std::size_t n, const Example& x, float* out,
                      bool shared) const = 0;
  float score(RowId row, const Example& x, bool shared) const {
    float p;
    scores(&row, 1, x, &p, shared);
    return p;
  }
  // The same, for one thread alone that may go on to learn from the example: adds the rows to what
  // is found of it.
  virtual void scores(const RowId* rows, std::size_t n, const Example& x, float* out, Found&) {
    scores(rows, n, x, out, false);
  }
  // Scores of rows found as the first-th and following ones, where the example may have other
  // values by now, and the rows too.
  virtual void scores_again(const RowId* rows, std::size_t n, const Example& x, float* out,
                            const Found&, std::size_t) const {
    scores(rows, n, x, out, false);
  }
  // Scores of many examples, while nobody learns; to the bit those of scores(). out[i]: of row
  // rows[i] on the example that was looked up in *xs[i]; kNoRow scores 0.
  virtual void look_up(const Example& x, ActiveFeatures& active) const { active.example = &x; }
  virtual void score_each(const RowId* rows, const ActiveFeatures* const* xs, std::size_t n,
                          float* out) const {
    for (std::size_t i = 0; i < n; ++i)
      out[i] = rows[i] == kNoRow ? 0.0f : score(rows[i], *xs[i]->example, false);
  }
  // Of every group a score for each of its examples and, for each of these, each of its rows.
  virtual void score_groups(const std::vector<ExampleGroup>& groups, const ReadExample& read,
                            float* out) const {
    Example x;
    for (const ExampleGroup& group : groups)
      for (std::size_t e = group.begin; e < group.end; ++e, out += group.n) {
        read(e, x);
        scores(group.rows, group.n, x, out, false);
      }
  }

  // weighted_g2[i] = 0 leaves row i out. found: null or empty, or where the rows are the first-th
  // and following ones.
  virtual void accumulate(const RowId* rows, std::size_t n, const Example& x,
                          const float* weighted_g2, Steps& steps, double* c, bool shared,
                          Found* found, std::size_t first) = 0;
  // For the rows not left out: after w *= max(0, 1 - shrinkage / sqrt(G)), the step.
  virtual void apply(const RowId* rows, std::size_t n, const Example& x, const float* weighted_g2,
                     const Steps& steps, const float* h, const float* shrinkage, bool shared) = 0;

  // A row that knows nothing, near a neighbour, instead of one that nobody may use any more.
  virtual RowId renew(RowId row, RowId neighbour) = 0;
  virtual RowContents contents(RowId row) const = 0;
  // The given rows, numbered anew in this order.
  virtual void save(const std::string& name, State& state,
                    const std::vector<RowId>& rows) const = 0;
  void save(const std::string& name, State& state) const {
    std::vector<RowId> all(size());
    std::iota(all.begin(), all.end(), RowId{0});
    save(name, state, all);
  }
  virtual void load(const std::string& name, const State& state) = 0;
  virtual std::size_t bytes() const = 0;
};

}  // namespace recalltree
