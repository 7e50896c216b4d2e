// Dense rows: kernels, whitening, the tree of cells, and the parts together.
#include "recalltree/cells/cells.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "dense_data.hpp"
#include "recalltree/cells/symmetric_eigen.hpp"
#include "recalltree/kernels/kernels.hpp"

using namespace recalltree;

namespace {

void sketches_agree_on_all_instruction_sets() {
  std::mt19937 random(3);
  std::uniform_int_distribution<int> stored(-kInt8Largest, kInt8Largest), row(-127, 127);
  std::normal_distribution<float> normal;
  for (const std::size_t width : {16u, 64u, 128u}) {
    constexpr std::size_t n = 7, n_queries = 7;  // so that tiles of all sizes are needed
    alignas(64) std::int8_t bytes[n_queries][128];
    for (auto& query : bytes)
      for (std::int8_t& byte : query) byte = static_cast<std::int8_t>(row(random));
    AlignedFloats memory(n * kInt8Block * width / sizeof(float));
    auto* const blocks = reinterpret_cast<std::uint8_t*>(memory.data());
    AlignedFloats scales(n * kInt8Block), biases(n * kInt8Block);
    std::vector<float> expected[n_queries];
    for (std::size_t i = 0; i < n * kInt8Block; ++i) {
      scales.data()[i] = std::fabs(normal(random));
      biases.data()[i] = normal(random);
      std::int32_t dots[n_queries] = {};
      for (std::size_t j = 0; j < width; ++j) {
        const int value = i == 0 ? kInt8Largest : stored(random);
        blocks[int8_position(i, j, width)] = static_cast<std::uint8_t>(value + kInt8Offset);
        for (std::size_t q = 0; q < n_queries; ++q) dots[q] += value * bytes[q][j];
      }
      for (std::size_t q = 0; q < n_queries; ++q)
        expected[q].push_back(static_cast<float>(dots[q]) *
                                  (scales.data()[i] * (0.3f + static_cast<float>(q))) +
                              biases.data()[i]);
    }
    std::vector<const Int8Kernels*> all{&scalar::int8_table()};
#if defined(RECALLTREE_X86)
    for (const std::string& name : simd_levels()) {
      if (name == "avx2") all.push_back(&avx2::int8_table());
      if (name == "avx512") all.push_back(&avx512::int8_table());
    }
#endif
    for (const Int8Kernels* variant : all) {
      float out[n_queries][n * kInt8Block] = {};
      Int8Above above[n_queries][n] = {};
      Int8Query queries[n_queries];
      for (std::size_t q = 0; q < n_queries; ++q)
        queries[q] = {bytes[q], 0.3f + static_cast<float>(q), expected[q][5 + q], out[q], above[q]};
      variant->scores(queries, n_queries, blocks, scales.data(), biases.data(), n, width);
      for (std::size_t q = 0; q < n_queries; ++q) {
        assert(std::memcmp(out[q], expected[q].data(), sizeof out[q]) == 0);
        for (std::size_t i = 0; i < n * kInt8Block; ++i)
          assert((above[q][i / kInt8Block] >> i % kInt8Block & 1) ==
                 (expected[q][i] > queries[q].bound));
      }
    }
  }
}

void numbers_are_counted_alike_on_all_instruction_sets() {
  std::mt19937 random(4);
  std::vector<const Kernels*> all{&scalar::table()};
#if defined(RECALLTREE_X86)
  for (const std::string& name : simd_levels()) {
    if (name == "avx2") all.push_back(&avx2::table());
    if (name == "avx512") all.push_back(&avx512::table());
  }
#endif
  for (std::size_t n = 0; n < 150; n += 7) {
    std::vector<std::int32_t> numbers(n), larger(n);
    for (std::int32_t& number : numbers) number = static_cast<std::int32_t>(random() % 40) - 20;
    for (const Kernels* variant : all) {
      variant->count_larger(numbers.data(), n, larger.data());
      for (std::size_t i = 0; i < n; ++i)
        assert(larger[i] == std::count_if(numbers.begin(), numbers.end(),
                                          [&](auto other) { return other > numbers[i]; }));
    }
  }
}

void check_eigen(const std::vector<double>& matrix, std::size_t n) {
  std::vector<double> rows = matrix;
  const std::vector<double> values = symmetric_eigen(rows, n);
  double size = 0.0;
  for (const double entry : matrix) size = std::max(size, std::fabs(entry));
  for (std::size_t i = 0; i < n; ++i) {
    assert(i == 0 || values[i] <= values[i - 1]);
    for (std::size_t j = 0; j < n; ++j) {
      double dot = 0.0, entry = 0.0;
      for (std::size_t k = 0; k < n; ++k) {
        dot += rows[i * n + k] * rows[j * n + k];
        entry += values[k] * rows[k * n + i] * rows[k * n + j];
      }
      assert(std::fabs(dot - (i == j)) < 1e-10);
      assert(std::fabs(entry - matrix[i * n + j]) <= 1e-10 * (size + 1e-300));
    }
  }
}

void eigenvectors_rebuild_the_matrix() {
  std::mt19937 random(4);
  std::normal_distribution<double> normal;
  for (const std::size_t n : {1u, 2u, 3u, 17u, 60u})
    for (const std::size_t rank : {std::size_t{0}, std::size_t{1}, n / 2, 2 * n})
      for (const double scale : {1e-150, 1.0, 1e100}) {
        std::vector<double> matrix(n * n, 0.0);
        for (std::size_t r = 0; r < rank; ++r) {
          std::vector<double> v(n);
          for (double& entry : v) entry = normal(random);
          for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < n; ++j) matrix[i * n + j] += scale * v[i] * v[j];
        }
        check_eigen(matrix, n);
      }
  std::vector<double> identity(25, 0.0);
  for (std::size_t i = 0; i < 5; ++i) identity[i * 6] = 1.0;
  check_eigen(identity, 5);
}

void rows_are_whitened_alike_alone_and_together() {
  for (const std::size_t d : {5u, 40u, 1100u}) {
    Data data(d > 1000 ? 300 : 200, d, 7, 1);
    Whitening whitening(d);
    whitening.learn(data.rows.data(), data.n);
    AlignedFloats together(data.n * data.width), alone(data.width), scratch;
    whitening.view().apply(data.rows.data(), data.n, together.data(), scratch);
    for (std::size_t i = 0; i < data.n; ++i) {
      whitening.view().apply(data.row(i), 1, alone.data(), scratch);
      const float* const row = together.data() + i * data.width;
      assert(std::memcmp(alone.data(), row, data.width * sizeof(float)) == 0);
      double squares = 0.0;
      for (std::size_t j = 0; j < data.width; ++j) squares += double(row[j]) * row[j];
      assert(std::fabs(squares - 1.0) < 1e-5);
    }
    State state;
    whitening.save(state);
    Whitening copy(d);
    copy.load(state);
    copy.view().apply(data.row(0), 1, alone.data(), scratch);
    assert(std::memcmp(alone.data(), together.data(), data.width * sizeof(float)) == 0);
  }
}

// In the principal directions features are not correlated, and the first vary most.
void directions_are_principal() {
  Data data(2000, 6, 500, 2);
  for (std::size_t i = 0; i < data.n; ++i) data.row(i)[1] = data.row(i)[0] + 0.1f * data.row(i)[1];
  Whitening whitening(6);
  whitening.learn(data.rows.data(), data.n);
  State state;
  whitening.save(state);
  const auto position = state.get<std::uint32_t>("whitening.position");
  const auto matrix = state.get<float>("whitening.matrix");
  assert(position[0] == 0 && matrix.size() == 6 * 16);
  // The first direction joins the two features that go together.
  assert(std::fabs(std::fabs(matrix[0]) - std::fabs(matrix[1])) < 0.1);
  for (std::size_t j = 2; j < 6; ++j) assert(std::fabs(matrix[j]) < std::fabs(matrix[0]));
}

void the_best_are_those_that_sorting_finds() {
  std::mt19937 random(5);
  BestOf best;
  for (int trial = 0; trial < 200; ++trial) {
    const std::size_t n = 1 + random() % 40;
    best.begin(n);
    std::vector<std::pair<int, std::uint32_t>> all;  // minus the score, arrival
    std::vector<std::vector<std::uint32_t>> ids(random() % 6);
    for (auto& part : ids) {
      part.resize(random() % 70 + 1);
      std::vector<float> scores(part.size());
      std::vector<Int8Above> above(part.size() / kInt8Block + 1, Int8Above{0});
      for (std::size_t i = 0; i < part.size(); ++i) {
        const int score = static_cast<int>(random() % 50) - 25;
        part[i] = static_cast<std::uint32_t>(all.size());
        all.emplace_back(-score, part[i]);
        scores[i] = static_cast<float>(score);
        above[i / kInt8Block] |=
            static_cast<Int8Above>((scores[i] > best.bound()) << i % kInt8Block);
      }
      best.offer(part.data(), scores.data(), above.data(), part.size());
    }
    std::sort(all.begin(), all.end());
    all.resize(std::min(n, all.size()));
    std::set<std::uint32_t> expected, found;
    for (const auto& [score, id] : all) expected.insert(id);
    for (const BestOf::Found& one : best.finish()) found.insert(one.id);
    assert(found == expected);
  }
}

void draw(const float* v, std::size_t width, Sketch& vector, Sketch& row) {
  vector.draw_vector(v, width);
  row.draw_row(v, width);
}

// Classes stand in one cell each, also where all are alike; reading every cell finds what comparing
// with all of them finds.
void a_tree_holds_every_class_once(bool alike) {
  constexpr std::size_t width = 32, K = 3000;
  Data data(2 * K, width, K, 6);
  CellTree all(width, {K}), some(width, {8});
  CellTree::Search search;
  for (CellTree* tree : {&all, &some}) {
    for (std::size_t i = 0; i < 2 * K; ++i) {
      Sketch vector, row;
      draw(data.row(alike ? 0 : i), width, vector, row);
      tree->place(static_cast<ClassId>(i % K), vector, row, alike ? 0.0f : 0.01f * (i % 7), search);
    }
    assert(tree->n_levels() == 2);
    std::vector<std::size_t> sizes(tree->n_nodes(), 0);
    for (ClassId y = 0; y < K; ++y) {
      assert(tree->holds(y));
      ++sizes[tree->cell_of(y)];
    }
    std::size_t cells = 0;
    for (NodeId id = 0; id < tree->n_nodes(); ++id)
      if (sizes[id] > 0) {
        assert(tree->size(id) == sizes[id]);
        ++cells;
      }
    assert(cells >= K / kCellSize);
  }
  if (alike) return;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < 200; ++i) {
    Sketch vector, row;
    draw(data.row(K + i), width, vector, row);
    std::set<std::uint32_t> exact;
    for (const BestOf::Found& found : all.find(row, 10, search)) exact.insert(found.id);
    assert(exact.size() == 10 && exact.contains(static_cast<ClassId>(i)));
    for (const BestOf::Found& found : some.find(row, 10, search)) kept += exact.contains(found.id);
  }
  assert(kept > 1000);  // of 2000
}

// Of rows that are searched for together, each finds what it finds alone.
void rows_together_find_what_each_finds_alone() {
  constexpr std::size_t width = 32, K = 3000;
  Data data(2 * K, width, K, 12);
  for (const CellsToRead to_read : {CellsToRead{8, 0}, CellsToRead{16, 3}, CellsToRead{K, 0}}) {
    CellTree tree(width, to_read);
    CellTree::Search search;
    Sketch vector, row;
    for (std::size_t i = 0; i < K; ++i) {
      draw(data.row(i), width, vector, row);
      tree.place(static_cast<ClassId>(i), vector, row, 0.01f * (i % 7), search);
    }
    for (const std::size_t n : {1, 10, 300}) {
      RowsSearch together;
      together.rows.resize(100);
      for (std::size_t i = 0; i < 100; ++i)
        together.rows[i].sketch.draw_row(data.row(K + i), width);
      const std::size_t n_compared = tree.find_rows(100, n, together);
      search.vectors = 0;
      for (std::size_t i = 0; i < 100; ++i) {
        const auto alone = tree.find(together.rows[i].sketch, n, search);
        const auto found = together.rows[i].best.finish();
        assert(search.nodes == together.rows[i].nodes);
        assert(std::equal(alone.begin(), alone.end(), found.begin(), found.end(),
                          [](auto a, auto b) { return a.id == b.id && a.score == b.score; }));
      }
      assert(n_compared == search.vectors);
    }
  }
}

void classes_are_learned() {
  Data train(6000, 24, 600, 7, 0.5f), test(500, 24, 600, 8, 0.5f);
  Learned learned(train, 32);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < test.n; ++i) wrong += learned.answer(test, i).first != test.labels[i];
  assert(wrong < 25);
}

void one_by_one_equals_together() {
  Data data(2500, 24, 300, 9, 0.8f);
  Learned single(data, 1, 2), together(data, 64, 2);
  assert(single.wrong == together.wrong);
  for (std::size_t i = 0; i < 200; ++i) assert(single.answer(data, i) == together.answer(data, i));
}

void bad_rows_have_finite_answers() {
  for (const float scale : {1e-38f, 1e-20f, 1.0f, 1e18f, 1e38f})
    for (const int kind : {0, 1, 2, 3}) {
      Data data(300, 20, 5, 10);
      for (std::size_t i = 0; i < data.n; ++i)
        for (std::size_t j = 0; j < data.d; ++j) {
          float& value = data.row(i)[j];
          value = kind == 0 ? 0.0f : kind == 1 ? 1.0f : std::clamp(value, -3.0f, 3.0f);
          value *= kind == 3 && j % 2 == 0 ? 1.0f : scale;
        }
      Learned learned(data, 16);
      for (std::size_t i = 0; i < data.n; ++i)
        assert(std::isfinite(learned.answer(data, i).second));
      Data other(20, 20, 5, 11);
      for (std::size_t i = 0; i < other.n; ++i)
        assert(std::isfinite(learned.answer(other, i).second));
    }
}

}  // namespace

int main() {
  sketches_agree_on_all_instruction_sets();
  numbers_are_counted_alike_on_all_instruction_sets();
  eigenvectors_rebuild_the_matrix();
  rows_are_whitened_alike_alone_and_together();
  directions_are_principal();
  the_best_are_those_that_sorting_finds();
  a_tree_holds_every_class_once(false);
  a_tree_holds_every_class_once(true);
  rows_together_find_what_each_finds_alone();
  classes_are_learned();
  one_by_one_equals_together();
  bad_rows_have_finite_answers();
  std::puts("dense rows are learned");
}
