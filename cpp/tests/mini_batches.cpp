// Several threads learn mini-batches: the model is the same, to the bit, however many they are and
// however the rows are handed over; and a mini-batch of one row is learned as one thread learns it.
// Built with RECALLTREE_SANITIZE=thread this shows that no two threads touch the same memory.
#include <cassert>
#include <cstdio>
#include <vector>

#include "class_data.hpp"
#include "equal_states.hpp"
#include "recalltree/voting/one_against_some.hpp"

using namespace recalltree;

namespace {

constexpr std::size_t kRows = 400, kFeatures = 24, kClasses = 40;

// Rows with no label, one or three, and fractions as weights.
struct Lists {
  std::vector<ClassId> labels;
  std::vector<std::int64_t> offsets{0};
  std::vector<float> weights;

  explicit Lists(const ClassData& data) {
    for (std::size_t i = 0; i < kRows; ++i) {
      for (ClassId l = 0; l < (i % 7 == 0 ? 0u : i % 3 == 0 ? 3u : 1u); ++l)
        labels.push_back((data.labels[i] + 5 * l) % kClasses);
      offsets.push_back(static_cast<std::int64_t>(labels.size()));
      weights.push_back(0.25f + static_cast<float>(i % 5) / 3.0f);
    }
  }
};

State learned(const OneAgainstSomeConfig& config, const ClassData& data, std::size_t n_threads,
              std::size_t rows_at_once, const Lists* lists) {
  OneAgainstSome model(config);
  const Rows& rows = data.rows(config.learner.sparse);
  std::vector<std::int64_t> order(kRows);
  for (std::size_t i = 0; i < kRows; ++i) order[i] = static_cast<std::int64_t>(i);
  for (int pass = 0; pass < 2; ++pass)
    // Slices end where mini-batches do; the first of the second pass has fewer rows.
    for (std::size_t begin = 0, n; begin < kRows; begin += n) {
      n = rows_at_once == 1 ? 1 : rows_at_once - model.n_examples() % rows_at_once;
      n = std::min(n, kRows - begin);
      Batch batch{&rows, data.labels.data(), nullptr, order.data() + begin, n};
      if (lists != nullptr) {
        batch.labels = lists->labels.data(), batch.label_offsets = lists->offsets.data();
        batch.weights = lists->weights.data();
      }
      model.learn(batch, n_threads, pass == 0);
    }
  assert(model.n_examples() == 2 * kRows && model.n_classes_seen() == kClasses);
  assert(model.work().examples_learned == 2 * kRows);
  std::size_t bytes = 0;
  for (const auto& part : model.memory()) bytes += part.second;
  assert(config.memory_budget == 0 || bytes <= config.memory_budget);
  return model.save();
}

void check(const char* name, OneAgainstSomeConfig config, const ClassData& data) {
  const Lists lists(data);
  for (const bool sparse : {false, true})
    for (const bool has_lists : {false, true}) {
      const Lists* const several = has_lists ? &lists : nullptr;
      config.learner.sparse = sparse;
      config.learner.n_features = kFeatures;
      const bool has_cells = config.keys == Keys::cells || config.keys == Keys::cells_and_trees;
      config.n_dense_features = has_cells && sparse ? kFeatures / 2 : 0;
      std::printf("%s, %s%s\n", name, sparse ? "sparse" : "dense", has_lists ? ", lists" : "");
      const State two = learned(config, data, 2, 256, several);
      for (const std::size_t n_threads : {3, 16})
        check_equal(two, learned(config, data, n_threads, n_threads == 3 ? 1024 : 256, several));
      check_equal(learned(config, data, 1, 256, several), learned(config, data, 2, 1, several));
    }
}

}  // namespace

int main() {
  const ClassData data(kRows, kFeatures, kClasses, 3);
  OneAgainstSomeConfig config;
  config.keys = Keys::features;
  check("features", config, data);
  config.memory_budget = 24'000;
  config.count_decay = 50.0;
  check("features in little memory, with decay", config, data);
  config.memory_budget = 0;
  config.feature_dropout = 0.3;
  config.keys = Keys::both;
  check("features and trees, with decay and dropout", config, data);
  config = {};
  config.keys = Keys::path;
  check("path", config, data);
  config.keys = Keys::cells;
  check("cells", config, data);
  config.keys = Keys::cells_and_trees;
  config.count_decay = 50.0;
  config.feature_dropout = 0.3;
  check("cells and trees, with decay and dropout", config, data);
}
