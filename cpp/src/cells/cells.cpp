#include "recalltree/cells/cells.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace recalltree {
namespace {

// A candidate that is wrong by less does not learn.
constexpr double kSmallGradient = 0.003;
// Where counts fade, a class forgets these parts of its weights, and of the squared gradients that
// shorten its steps, times the square of how wrong it is.
constexpr double kForgottenWeights = 0.03, kForgottenSquares = 0.3;

// 1, 2, 3, 4, 6, 8, 12, 16, ...: when the mean of a class may have moved to another cell.
bool is_time_to_place(std::uint32_t rows) {
  const std::uint32_t odd = rows % 3 == 0 ? rows / 3 : rows;
  return (odd & (odd - 1)) == 0;
}

}  // namespace

Cells::Cells(const CellsConfig& config)
    : sketch_width_(sketch_width(config.n_features)),
      whitening_(config.n_features),
      vectors_(whitening_.width()),
      tree_(sketch_width_, config.to_read),
      first_(whitening_.width()) {}

std::size_t Cells::rows_until_renewal() const {
  return first_.is_open() ? first_.until_renewal() : std::numeric_limits<std::size_t>::max();
}

void Cells::redraw(ClassId y, Scratch& scratch) {
  alignas(64) float leading[kSketchWidth];
  vectors_.combined(y, sketch_width_, leading, scratch.vectors);
  scratch.sketch.draw_vector(leading, sketch_width_);
  tree_.redraw(y, scratch.sketch, vectors_.bias(y));
}

void Cells::place(ClassId y, Scratch& scratch) {
  alignas(64) float leading[kSketchWidth];
  vectors_.combined(y, sketch_width_, leading, scratch.vectors);
  scratch.sketch.draw_vector(leading, sketch_width_);
  scratch.row_sketch.draw_row(leading, sketch_width_);
  tree_.place(y, scratch.sketch, scratch.row_sketch, vectors_.bias(y), scratch.search);
}

void Cells::learn(const float* row, const float* x, std::span<const ClassId> labels,
                  std::span<const double> gradients, const Lesson& lesson, Scratch& scratch) {
  if (first_.is_open()) first_.add(row);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const Change change = teach(x, labels[i], gradients[i], lesson);
    if (!change.is_there) continue;
    keep_step(labels[i], change.step);
    const bool is_own =
        std::find(lesson.own.begin(), lesson.own.end(), labels[i]) != lesson.own.end();
    if (!is_own) show(labels[i], scratch);
  }
  for (const ClassId y : lesson.own) {
    const bool is_due = count(x, y, lesson.counted).is_there;
    keep_count(y, lesson.counted);
    is_due ? place(y, scratch) : show(y, scratch);
  }
  end_rows(scratch);
}

Cells::Change Cells::teach(const float* x, ClassId y, double gradient, const Lesson& lesson) {
  if (std::fabs(gradient) < kSmallGradient) return {};
  const double wrong = lesson.forgets ? gradient * gradient : 0.0;
  const ClassVectors::Kept kept{1.0 - kForgottenWeights * wrong, 1.0 - kForgottenSquares * wrong};
  return {true, vectors_.learn(x, y, {gradient, lesson.weight, lesson.rate, lesson.l2}, kept)};
}

Cells::Change Cells::count(const float* x, ClassId y, double counted) {
  if (counted <= 0.0) return {};
  vectors_.count(x, y, counted);
  return {is_time_to_place(vectors_.rows(y))};
}

void Cells::end_row(const float* row, std::span<const ClassId> labels,
                    std::span<const Change> changes, const Lesson& lesson, Scratch& scratch) {
  if (first_.is_open()) {
    first_.add(row);
    for (std::size_t i = 0; i < labels.size(); ++i)
      if (changes[i].is_there) keep_step(labels[i], changes[i].step);
  }
  for (std::size_t l = 0; l < lesson.own.size(); ++l) {
    keep_count(lesson.own[l], lesson.counted);
    if (changes[labels.size() + l].is_there) place(lesson.own[l], scratch);
  }
}

void Cells::keep_step(ClassId y, const ClassVectors::Step& step) {
  if (first_.is_open()) first_.add_step(y, false, step.size, step.kept);
}

void Cells::keep_count(ClassId y, double counted) {
  if (first_.is_open() && counted > 0.0)
    first_.add_step(y, true, static_cast<float>(counted), 1.0f);
}

void Cells::renew(Scratch& scratch) {
  whitening_.learn(first_.rows(), first_.size());
  AlignedFloats rows(first_.size() * width()), whitened(first_.size() * width());
  std::copy_n(first_.rows(), first_.size() * width(), rows.data());
  whiten(rows.data(), first_.size(), whitened.data(), scratch);
  vectors_.clear_vectors();
  for (const FirstRows::Step& step : first_.steps()) {
    const float* const x = whitened.data() + step.row * width();
    if (step.is_count)
      vectors_.add_to_mean(x, step.label, step.size);
    else
      vectors_.add_to_weights(x, step.label, step.size, step.kept);
  }
  tree_.clear();
  for (ClassId y = 0; y < vectors_.size(); ++y)
    if (vectors_.is_known(y)) place(y, scratch);
  if (first_.is_full()) first_.close();
}

void Cells::save(State& state) const {
  whitening_.save(state);
  vectors_.save(state);
  tree_.save(state);
  first_.save(state);
}

void Cells::load(const State& state) {
  whitening_.load(state);
  vectors_.load(state);
  tree_.load(state);
  first_.load(state);
}

}  // namespace recalltree
