#include "recalltree/cells/whitening.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

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
// Rows per feature of a block, at least, from which directions are learned.
constexpr double kRowsPerFeature = 0.5;
// Rows that are whitened at a time.
constexpr std::size_t kRows = 32;

}  // namespace

Whitening::Whitening(std::size_t n_features)
    : n_features_(n_features), mean_(width()), rate_(width()) {
  std::fill_n(rate_.data(), n_features_, 1.0f);
}

std::vector<Whitening::Block> Whitening::blocks() const {
  const std::size_t size = n_features_ <= kWidest ? std::max<std::size_t>(1, n_features_) : kBlock;
  std::vector<Block> all;
  for (std::size_t begin = 0; begin < n_features_; begin += size)
    all.push_back({begin, std::min(size, n_features_ - begin)});
  return all;
}

std::size_t Whitening::matrix_floats() const {
  std::size_t sum = 0;
  for (const Block& block : blocks()) sum += block.n * block.width();
  return sum;
}

void Whitening::standardise(const float* row, float* out) const {
  const float *mean = mean_.data(), *rate = rate_.data();
  for (std::size_t j = 0; j < n_features_; ++j)
    out[j] = rate[j] > 0.0f ? std::clamp((row[j] - mean[j]) * rate[j], -kCut, kCut) : 0.0f;
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
    standardise(rows + i * width(), row.data());
    for (std::size_t j = 0; j < n_features_; ++j)
      standardised.data()[j * length + i] = row.data()[j];
  }
  learn_directions(standardised, n);
}

void Whitening::learn_directions(const AlignedFloats& standardised, std::size_t n) {
  const std::size_t length = padded(n);
  has_directions_ = true;
  matrix_.resize(matrix_floats());
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
      const auto factor = power > 0.0 ? static_cast<float>(1.0 / power) : 0.0f;
      for (std::size_t j = 0; j < block.n; ++j) to[j] *= factor;
    }
  std::vector<std::uint32_t> order(values.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return values[a] > values[b]; });
  position_.resize(order.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) position_[order[i]] = i;
}

void Whitening::apply(const float* rows, std::size_t n, float* out, AlignedFloats& scratch) const {
  // Standardised rows, then what a block makes of them.
  scratch.reserve(2 * kRows * width());
  float *z = scratch.data(), *projected = z + kRows * width();
  std::vector<const float*> columns(n_features_);
  for (std::size_t begin = 0; begin < n; begin += kRows) {
    const std::size_t count = std::min(kRows, n - begin);
    float* const to = out + begin * width();
    for (std::size_t i = 0; i < count; ++i)
      standardise(rows + (begin + i) * width(), (has_directions_ ? z : to) + i * width());
    if (has_directions_) {
      std::fill_n(to, count * width(), 0.0f);
      const float* weights = matrix_.data();
      std::size_t direction = 0;
      for (const Block& block : blocks()) {
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

Whitening::Arrays Whitening::arrays() const {
  return {{mean_.data(), mean_.data() + n_features_},
          {rate_.data(), rate_.data() + n_features_},
          {matrix_.data(), matrix_.data() + (has_directions_ ? matrix_floats() : 0)},
          position_};
}

void Whitening::load(const Arrays& arrays) {
  const bool has_directions = !arrays.position.empty();
  if (arrays.mean.size() != n_features_ || arrays.rate.size() != n_features_ ||
      arrays.matrix.size() != (has_directions ? matrix_floats() : 0) ||
      (has_directions && arrays.position.size() != n_features_))
    throw std::invalid_argument("whitening: arrays do not fit " + std::to_string(n_features_) +
                                " features");
  for (const std::uint32_t at : arrays.position)
    if (at >= n_features_) throw std::invalid_argument("whitening: a direction is out of range");
  std::copy(arrays.mean.begin(), arrays.mean.end(), mean_.data());
  std::copy(arrays.rate.begin(), arrays.rate.end(), rate_.data());
  has_directions_ = has_directions;
  matrix_.resize(arrays.matrix.size());
  std::copy(arrays.matrix.begin(), arrays.matrix.end(), matrix_.data());
  position_ = arrays.position;
}

}  // namespace recalltree
