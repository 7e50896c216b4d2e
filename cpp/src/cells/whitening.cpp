#include "recalltree/cells/whitening.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "recalltree/cells/symmetric_eigen.hpp"
#include "recalltree/kernels/kernels.hpp"

namespace recalltree {
namespace {

// Deviations at which features are cut, and the share of a root mean square below which a deviation
// is rounding.
constexpr float kCut = 2.0f;
constexpr double kFlat = 1e-5;
// Added to every eigenvalue, as a share of their mean.
constexpr double kRidge = 0.01;
// Directions that vary less than this share of the mean are left out. Fewer rows than features
// leave many that do not vary at all, and any basis of these would be as good.
constexpr double kNothing = 1e-4;
// Rows per feature of a block, at least, from which directions are learned.
constexpr double kRowsPerFeature = 0.5;
// Rows that are whitened at a time.
constexpr std::size_t kRows = 32;

}  // namespace

Whitening::Whitening(std::size_t n_features)
    : n_features_(n_features), mean_(width()), rate_(width()) {
  std::fill_n(rate_.data(), n_features_, 1.0f);
}

std::vector<WhiteningView::Block> WhiteningView::blocks(std::size_t n_features) {
  const std::size_t size = n_features <= kWidest ? std::max<std::size_t>(1, n_features) : kBlock;
  std::vector<Block> all;
  for (std::size_t begin = 0; begin < n_features; begin += size)
    all.push_back({begin, std::min(size, n_features - begin)});
  return all;
}

std::size_t WhiteningView::matrix_floats(std::size_t n_features) {
  std::size_t sum = 0;
  for (const Block& block : blocks(n_features)) sum += block.n * block.width();
  return sum;
}

void WhiteningView::standardise(const float* row, float* out) const {
  for (std::size_t j = 0; j < n_features_; ++j)
    out[j] = rate_[j] > 0.0f ? std::clamp((row[j] - mean_[j]) * rate_[j], -kCut, kCut) : 0.0f;
  std::fill(out + n_features_, out + width(), 0.0f);
}

void Whitening::learn(const float* rows, std::size_t n) {
  std::vector<double> sums(n_features_, 0.0), squares(n_features_, 0.0);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n_features_; ++j) sums[j] += rows[i * width() + j];
  const double count = static_cast<double>(n);
  for (double& sum : sums) sum /= count;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n_features_; ++j) {
      const double distance = rows[i * width() + j] - sums[j];
      squares[j] += distance * distance;
    }
  for (std::size_t j = 0; j < n_features_; ++j) {
    const double deviation = std::sqrt(squares[j] / count);
    const double all = std::sqrt(squares[j] / count + sums[j] * sums[j]);
    const auto rate = static_cast<float>(1.0 / deviation);
    mean_.data()[j] = static_cast<float>(sums[j]);
    rate_.data()[j] = deviation > kFlat * all && std::isfinite(rate) ? rate : 0.0f;
  }
  const Block first = n_features_ > 0 ? blocks().front() : Block{0, 0};
  if (count < kRowsPerFeature * static_cast<double>(first.n)) return;
  // Transposed, so that covariances are dot products.
  const std::size_t length = padded(n);
  AlignedFloats standardised(n_features_ * length), row(width());
  for (std::size_t i = 0; i < n; ++i) {
    view().standardise(rows + i * width(), row.data());
    for (std::size_t j = 0; j < n_features_; ++j)
      standardised.data()[j * length + i] = row.data()[j];
  }
  learn_directions(standardised, n);
}

void Whitening::learn_directions(const AlignedFloats& standardised, std::size_t n) {
  const std::size_t length = padded(n);
  has_directions_ = true;
  matrix_.resize(WhiteningView::matrix_floats(n_features_));
  std::vector<double> values;
  float* to = matrix_.data();
  std::vector<const float*> columns;
  AlignedFloats products;
  for (const Block& block : blocks()) {
    const float* const from = standardised.data() + block.begin * length;
    columns.clear();
    for (std::size_t j = 0; j < block.n; ++j) columns.push_back(from + j * length);
    products.resize(block.n * block.n);
    kernels().dot_block(from, length, block.n, columns.data(), block.n, length, products.data(),
                        block.n);
    std::vector<double> matrix(block.n * block.n);
    for (std::size_t i = 0; i < matrix.size(); ++i)
      matrix[i] = products.data()[i] / static_cast<double>(n);
    const std::vector<double> found = symmetric_eigen(matrix, block.n);
    values.insert(values.end(), found.begin(), found.end());
    for (std::size_t r = 0; r < block.n; ++r, to += block.width())
      for (std::size_t j = 0; j < block.n; ++j) to[j] = static_cast<float>(matrix[r * block.n + j]);
  }
  double mean = 0.0;
  for (double& value : values) mean += value = std::max(0.0, value);
  mean /= static_cast<double>(values.size());
  to = matrix_.data();
  std::size_t direction = 0;
  for (const Block& block : blocks())
    for (std::size_t r = 0; r < block.n; ++r, ++direction, to += block.width()) {
      const double power = std::sqrt(std::sqrt(values[direction] + kRidge * mean));
      const auto factor =
          values[direction] > kNothing * mean ? static_cast<float>(1.0 / power) : 0.0f;
      for (std::size_t j = 0; j < block.n; ++j) to[j] *= factor;
    }
  std::vector<std::uint32_t> order(values.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return values[a] > values[b]; });
  position_.resize(order.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) position_[order[i]] = i;
}

void WhiteningView::apply(const float* rows, std::size_t n, float* out,
                          AlignedFloats& scratch) const {
  // Standardised rows, then what a block makes of them.
  scratch.reserve(2 * kRows * width());
  float *z = scratch.data(), *projected = z + kRows * width();
  std::vector<const float*> columns(n_features_);
  for (std::size_t begin = 0; begin < n; begin += kRows) {
    const std::size_t count = std::min(kRows, n - begin);
    float* const to = out + begin * width();
    for (std::size_t i = 0; i < count; ++i)
      standardise(rows + (begin + i) * width(), (matrix_ != nullptr ? z : to) + i * width());
    if (matrix_ != nullptr) {
      std::fill_n(to, count * width(), 0.0f);
      const float* weights = matrix_;
      std::size_t direction = 0;
      for (const Block& block : blocks(n_features_)) {
        for (std::size_t r = 0; r < block.n; ++r) columns[r] = weights + r * block.width();
        kernels().dot_block(z + block.begin, width(), count, columns.data(), block.n, block.width(),
                            projected, block.n);
        for (std::size_t i = 0; i < count; ++i)
          for (std::size_t r = 0; r < block.n; ++r)
            to[i * width() + position_[direction + r]] = projected[i * block.n + r];
        weights += block.n * block.width();
        direction += block.n;
      }
    }
    for (std::size_t i = 0; i < count; ++i) {
      float* const row = to + i * width();
      const float squares = kernels().dot(row, row, width());
      const float factor = squares > 0.0f ? 1.0f / std::sqrt(squares) : 0.0f;
      for (std::size_t j = 0; j < width(); ++j) row[j] *= factor;
    }
  }
}

void Whitening::save(State& state) const {
  WhiteningArrays<Owned> saved{n_features_};
  saved.mean.assign(mean_.data(), mean_.data() + width());
  saved.rate.assign(rate_.data(), rate_.data() + width());
  if (has_directions_) saved.matrix.assign(matrix_.data(), matrix_.data() + matrix_.size());
  saved.position = position_;
  put_fields(std::move(saved), state);
}

void Whitening::load(const State& state) {
  WhiteningArrays<Viewed> saved{n_features_};
  view_fields(saved, state);
  std::copy(saved.mean.begin(), saved.mean.end(), mean_.data());
  std::copy(saved.rate.begin(), saved.rate.end(), rate_.data());
  has_directions_ = !saved.position.empty();
  matrix_.resize(saved.matrix.size());
  std::copy(saved.matrix.begin(), saved.matrix.end(), matrix_.data());
  position_.assign(saved.position.begin(), saved.position.end());
}

}  // namespace recalltree
