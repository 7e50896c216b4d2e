#include "recalltree/file/mapped_cells.hpp"

#include <algorithm>
#include <cmath>

#include "recalltree/file/state_checks.hpp"

namespace recalltree {
namespace {

// Nodes of a tree this high would hold more classes than there are numbers for them.
constexpr std::uint32_t kMostLevels = 32;

WhiteningArrays<Viewed> view_whitening(std::size_t n_features, const State& state) {
  WhiteningArrays<Viewed> arrays{n_features};
  view_fields(arrays, state);
  const std::size_t n = arrays.position.size();
  require(n == 0 || n == n_features, "'whitening.position' does not have one place per feature");
  State::check_length("whitening.matrix", arrays.matrix.size(),
                      n == 0 ? 0 : WhiteningView::matrix_floats(n_features));
  for (const std::uint32_t at : arrays.position)
    require(at < n_features, "'whitening.position' names a direction that does not exist");
  return arrays;
}

// Rows of `width` numbers, of which those after the first n are zeros.
template <class Value>
void check_padding(std::span<const Value> rows, std::size_t n, std::size_t width,
                   const char* what) {
  for (std::size_t i = 0; i < rows.size(); i += width)
    for (std::size_t j = n; j < width; ++j) require(widen(rows[i + j]) == 0.0f, what);
}

}  // namespace

// --- class vectors ------------------------------------------------------------------------------

MappedClassVectors::MappedClassVectors(const State& state, std::size_t width, std::size_t n_classes)
    : arrays_{width} {
  view_fields(arrays_, state);
  State::check_length("class_vectors.bias", size(), n_classes);
  // Division, because a product of lengths from a file may overflow.
  const Array& vectors = arrays_.vectors;
  const std::size_t n_rows = vectors.size / width;
  require(vectors.size % width == 0 && (n_rows == 2 * n_classes || n_rows == n_classes),
          "'class_vectors.vectors' does not have one or two vectors per class");
  n_parts_ = n_rows == 2 * n_classes ? 2 : 1;
  if (vectors.kind == 'f')
    floats_ = AlignedArray<float>({static_cast<const float*>(vectors.data), vectors.size});
}

const float* MappedClassVectors::parts(ClassId y, std::size_t place, Scratch& scratch) const {
  const std::size_t n = n_parts_ * width();
  if (floats_.size() > 0) return floats_.data() + y * n;
  scratch.unpacked.reserve(kTogether * n);
  float* const to = scratch.unpacked.data() + place * n;
  with_weights(arrays_.vectors, [&](const auto* stored) {
    std::transform(stored + y * n, stored + (y + 1) * n, to, [](auto v) { return widen(v); });
  });
  return to;
}

void MappedClassVectors::prefetch(ClassId y) const {
  const std::size_t n = n_parts_ * width();
  with_weights(arrays_.vectors,
               [&](const auto* stored) { recalltree::prefetch(stored + y * n, n); });
}

bool MappedClassVectors::is_complete() const {
  return arrays_.vectors.kind == 'f' && n_parts_ == 2 && arrays_.accumulators.size() == size() &&
         arrays_.n_rows.size() == size();
}

void MappedClassVectors::check(std::size_t n_features) const {
  check_finite_fields(arrays_);
  require(mean_scale() > 0.0f, "'class_vectors.mean_scale' is not positive");
  for (const float sum : arrays_.accumulators)
    require(sum >= 0.0f, "'class_vectors.accumulators' holds a sum that is negative");
  with_weights(arrays_.vectors, [&](const auto* stored) {
    check_padding(std::span(stored, arrays_.vectors.size), n_features, width(),
                  "'class_vectors.vectors' is not padded with zeros");
  });
  Scratch scratch;
  for (ClassId y = 0; y < size() && n_parts_ == 2; ++y) {
    const float* const mean = parts(y, 0, scratch);
    const float squares = kernels().dot(mean, mean, width());
    const float error = inverse_norm(y) * std::sqrt(squares) - 1.0f;
    require(inverse_norm(y) == 0.0f || std::fabs(error) < 0.01f,
            "'class_vectors.inverse_norms' does not fit the means");
  }
}

// --- the tree -----------------------------------------------------------------------------------

MappedCellTree::MappedCellTree(const State& state, std::size_t sketch_width, CellsToRead to_read)
    : to_read_(to_read), arrays_{sketch_width} {
  view_fields(arrays_, state);
  has_learning_ = has_learning_fields(arrays_, state);
  require(!arrays_.levels.empty(), "'cells.levels' is empty: a tree has a root");
  std::size_t begin = 0;
  for (const std::uint32_t size : arrays_.sizes) {
    require(size <= kCellSize, "'cells.sizes' describes a cell that is too large");
    nodes_.push_back({begin, size});
    begin += in_whole_blocks(size);
  }
  State::check_length("cells.ids", arrays_.ids.size(), begin);
  check_links();
  root_ = static_cast<NodeId>(std::max_element(arrays_.levels.begin(), arrays_.levels.end()) -
                              arrays_.levels.begin());
  root_level_ = arrays_.levels[root_];
  sketches_ = AlignedArray<std::uint8_t>(arrays_.sketches);
  scales_ = AlignedArray<float>(arrays_.scales);
  biases_ = AlignedArray<float>(arrays_.biases);
}

// All nodes but one have one parent, a level above: there are no cycles, and all are reached.
void MappedCellTree::check_links() const {
  std::vector<bool> has_parent(n_nodes(), false);
  std::size_t n_children = 0;
  for (NodeId id = 0; id < n_nodes(); ++id) {
    const std::uint32_t level = arrays_.levels[id];
    if (level == 0) continue;
    require(level < kMostLevels && nodes_[id].size > 0, "a node of the cells has no children");
    for (std::size_t slot = 0; slot < nodes_[id].size; ++slot) {
      const NodeId child = arrays_.ids[nodes_[id].begin + slot];
      require(child < n_nodes() && arrays_.levels[child] + 1 == level && !has_parent[child],
              "a node of the cells names a child that is not its own");
      has_parent[child] = true;
      ++n_children;
    }
  }
  require(n_children + 1 == n_nodes(), "a node of the cells has no parent");
}

void MappedCellTree::check() const {
  check_finite_fields(arrays_);
  for (const float scale : arrays_.scales)
    require(scale >= 0.0f, "'cells.scales' holds a scale that is negative");
  for (const auto [begin, size] : nodes_)
    for (std::size_t slot = 0; slot < size; ++slot)
      for (std::size_t j = 0; j < sketch_width(); ++j) {
        const int byte = sketches_[begin * sketch_width() + int8_position(slot, j, sketch_width())];
        require(std::abs(byte - kInt8Offset) <= kInt8Largest,
                "'cells.sketches' holds a number that is out of range");
      }
}

// --- together -----------------------------------------------------------------------------------

MappedCells::MappedCells(const CellsConfig& config, const State& state, std::size_t n_classes)
    : whitening_(view_whitening(config.n_features, state)),
      mean_(whitening_.mean),
      rate_(whitening_.rate),
      matrix_(whitening_.matrix),
      position_(whitening_.position.begin(), whitening_.position.end()),
      vectors_(state, padded(config.n_features), n_classes),
      tree_(state, sketch_width(config.n_features), config.to_read),
      first_{padded(config.n_features)} {
  // A file that changes while it is opened.
  for (std::uint32_t& at : position_)
    at = std::min(at, static_cast<std::uint32_t>(config.n_features - 1));
  view_fields(first_, state);
  // Division, because a product of lengths from a file may overflow.
  if (!first_.n.empty())
    require(
        first_.rows.size() % first_.width == 0 && first_.rows.size() / first_.width == first_.n[0],
        "'first_rows.rows' does not have 'first_rows.n' rows");
}

void MappedCells::check() const {
  check_whitening();
  vectors_.check(whitening_.n_features);
  tree_.check();
  std::vector<bool> stands(n_classes(), false);
  tree_.visit_classes([&](ClassId y) {
    require(y < n_classes(), "'cells.ids' names a class that does not exist");
    require(!stands[y], "a class stands in two cells");
    stands[y] = true;
  });
  if (!is_complete()) return;
  for (ClassId y = 0; y < n_classes(); ++y)
    require(stands[y] == (vectors_.rows(y) > 0),
            "a class with rows stands in no cell, or one without in one");
  check_first_rows();
}

void MappedCells::check_whitening() const {
  check_finite_fields(whitening_);
  const std::size_t n_features = whitening_.n_features;
  for (const float rate : whitening_.rate)
    require(rate >= 0.0f, "'whitening.rate' holds a rate that is negative");
  std::vector<bool> taken(n_features, false);
  for (const std::uint32_t at : position_) {
    require(!taken[at], "'whitening.position' names a direction twice");
    taken[at] = true;
  }
  if (position_.empty()) return;
  std::size_t begin = 0;
  for (const auto& block : WhiteningView::blocks(n_features)) {
    check_padding(whitening_.matrix.subspan(begin, block.n * block.width()), block.n, block.width(),
                  "'whitening.matrix' is not padded with zeros");
    begin += block.n * block.width();
  }
}

void MappedCells::check_first_rows() const {
  check_finite_fields(first_);
  const std::size_t n = first_.rows.size() / first_.width, most = first_.n[1];
  require(most == 0 || most == FirstRows::most(first_.width),
          "'first_rows.n' is not the number of rows that are kept");
  require(n < std::max<std::size_t>(most, 1), "'first_rows.rows' holds more rows than are kept");
  check_padding(first_.rows, whitening_.n_features, first_.width,
                "'first_rows.rows' is not padded with zeros");
  for (std::size_t i = 0; i < first_.step_rows.size(); ++i)
    require(first_.step_rows[i] < n && first_.step_labels[i] < n_classes() &&
                first_.step_counts[i] <= 1,
            "'first_rows.step_rows' names a row or a class that does not exist");
}

}  // namespace recalltree
