// Dense rows around the centre of their class, and cells that learn them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "recalltree/cells/cells.hpp"

namespace recalltree {

struct Data {
  std::size_t n, d, width;
  AlignedFloats rows;
  std::vector<ClassId> labels;

  Data(std::size_t n, std::size_t d, std::size_t classes, std::uint32_t seed, float noise = 0.3f)
      : n(n), d(d), width(padded(d)), rows(n * padded(d)) {
    std::mt19937 random(seed), centres(99);
    std::normal_distribution<float> normal;
    std::vector<float> centre(classes * d);
    for (float& value : centre) value = normal(centres);
    for (std::size_t i = 0; i < n; ++i) {
      labels.push_back(static_cast<ClassId>(random() % classes));
      for (std::size_t j = 0; j < d; ++j)
        rows.data()[i * width + j] = centre[labels[i] * d + j] + noise * normal(random);
    }
  }
  float* row(std::size_t i) { return rows.data() + i * width; }
};

// Best class and its score, of one row; no class if none was found.
template <class AnyCells>
std::pair<ClassId, float> answer_of(const AnyCells& cells, Data& data, std::size_t i,
                                    CellsScratch& scratch) {
  AlignedFloats x(data.width);
  cells.whiten(data.row(i), 1, x.data(), scratch);
  const auto found = cells.find(x.data(), 16, scratch);
  if (found.empty()) return {kNoClass, 0.0f};
  std::vector<float> scores(found.size());
  cells.score(x.data(), found, {}, scores.data(), scratch);
  const auto best = std::max_element(scores.begin(), scores.end()) - scores.begin();
  return {found[best], scores[best]};
}

// A row after another, with candidates and the gradients of their softmax; `together` rows are
// whitened at a time.
struct Learned {
  Cells cells;
  Cells::Scratch scratch;
  std::size_t wrong = 0;

  explicit Learned(const CellsConfig& config) : cells(config) {}
  Learned(Data& data, std::size_t together, int passes = 1) : cells({data.d, {8}}) {
    learn(data, 0, data.n, together, passes);
  }
  void learn(Data& data, std::size_t first, std::size_t end, std::size_t together, int passes) {
    AlignedFloats whitened(together * data.width);
    std::vector<ClassId> labels;
    for (int pass = 0; pass < passes; ++pass)
      for (std::size_t begin = first; begin < end;) {
        const std::size_t n = std::min({together, end - begin, cells.rows_until_renewal()});
        cells.whiten(data.row(begin), n, whitened.data(), scratch);
        for (std::size_t i = 0; i < n; ++i) {
          const float* const x = whitened.data() + i * data.width;
          const ClassId y = data.labels[begin + i];
          cells.grow_to(y + 1);
          const auto found = cells.find(x, 16, scratch);
          labels.assign(found.begin(), found.end());
          auto at = std::find(labels.begin(), labels.end(), y) - labels.begin();
          if (at == std::ssize(labels)) labels.push_back(y);
          std::vector<float> scores(labels.size());
          cells.score(x, labels, {Labels(&y, 1), pass > 0 ? 1.0 : 0.0}, scores.data(), scratch);
          const auto best = std::max_element(scores.begin(), scores.end());
          wrong += best - scores.begin() != at;
          std::vector<double> gradients(scores.begin(), scores.end());
          double sum = 0.0;
          for (double& g : gradients) sum += g = std::exp(g - *best);
          for (double& g : gradients) g /= sum;
          gradients[at] -= 1.0;
          cells.learn(data.row(begin + i), x, labels, gradients,
                      {.own = Labels(&y, 1), .counted = pass == 0 ? 1.0 : 0.0}, scratch);
        }
        begin += n;
      }
  }
  std::pair<ClassId, float> answer(Data& data, std::size_t i) {
    return answer_of(cells, data, i, scratch);
  }
};

}  // namespace recalltree
