// Several threads learn mini-batches: about as well as one thread, without losing anything; and any
// number of threads predicts alike.
#include <cassert>
#include <cstdio>
#include <thread>

#include "class_data.hpp"
#include "recalltree/paper/lom_tree.hpp"
#include "recalltree/paper/one_against_all.hpp"
#include "recalltree/paper/recall_tree.hpp"
#include "recalltree/voting/one_against_some.hpp"

using namespace recalltree;

namespace {

constexpr std::size_t kRows = 1200, kFeatures = 24, kClasses = 40, kThreads = 4;

template <class Model>
double error(const Model& model, const Rows& rows, const ClassData& data) {
  std::vector<std::int32_t> one(kRows), many(kRows);
  model.predict(rows, 1, one.data());
  model.predict(rows, kThreads, many.data());
  assert(one == many);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < kRows; ++i) wrong += static_cast<ClassId>(one[i]) != data.labels[i];
  return static_cast<double>(wrong) / kRows;
}

template <class Model>
void learn(Model& model, const Rows& rows, const ClassData& data, std::size_t n_threads) {
  for (int pass = 0; pass < 4; ++pass)
    model.learn({&rows, data.labels.data(), nullptr, nullptr, kRows}, n_threads, pass == 0);
}

template <class Model, class Config>
void check(const char* name, Config config, const ClassData& data) {
  for (const bool sparse : {false, true}) {
    config.learner.sparse = sparse;
    config.learner.n_features = kFeatures;
    if constexpr (std::is_same_v<Config, OneAgainstSomeConfig>) {
      const bool has_cells = config.keys == Keys::cells || config.keys == Keys::cells_and_trees;
      config.n_dense_features = has_cells && sparse ? kFeatures / 2 : 0;
    }
    const Rows& rows = data.rows(sparse);
    Model alone(config), together(config);
    learn(alone, rows, data, 1);
    learn(together, rows, data, kThreads);
    const double e1 = error(alone, rows, data), e4 = error(together, rows, data);
    std::printf("%s %s: error %.3f with one thread, %.3f with %zu\n", name,
                sparse ? "sparse" : "dense", e1, e4, kThreads);
    assert(together.n_classes_seen() == kClasses && together.n_examples() == 4 * kRows);
    assert(together.work().examples_learned == 4 * kRows);
    assert(e4 < e1 + 0.15);
    if constexpr (std::is_same_v<Model, RecallTree>) {
      if (config.count_decay == 0.0) assert(together.node(0).total == 4.0 * kRows);
      for (NodeId n = 0; n < together.n_nodes(); ++n) {
        double sum = 0.0;
        for (const auto& label : together.ranked_labels(n)) sum += label.count;
        assert(std::abs(sum - together.node(n).total) <= 1e-9 * sum);
      }
    }
    if constexpr (std::is_same_v<Model, OneAgainstSome>) {
      std::size_t bytes = 0;
      for (const auto& part : together.memory()) bytes += part.second;
      assert(config.memory_budget == 0 || bytes <= config.memory_budget);
    }
    // Predictions and learning at the same time: one waits for the other.
    std::thread reader([&] {
      std::vector<std::int32_t> ids(kRows);
      for (int i = 0; i < 3; ++i) together.predict(rows, 2, ids.data());
    });
    together.learn({&rows, data.labels.data(), nullptr, nullptr, kRows}, kThreads, false);
    reader.join();
  }
}

}  // namespace

int main() {
  const ClassData data(kRows, kFeatures, kClasses, 3);
  RecallTreeConfig recall_tree;
  recall_tree.path_features = PathFeatures::path;
  check<RecallTree>("recall tree", recall_tree, data);
  recall_tree.path_interactions = true;
  recall_tree.count_decay = 500.0;
  check<RecallTree>("recall tree with interactions and decay", recall_tree, data);
  check<OneAgainstAll>("one-against-all", OneAgainstAllConfig{}, data);
  OneAgainstAllConfig sampled;
  sampled.negative_samples = 8;
  check<OneAgainstAll>("one-against-all, sampled", sampled, data);
  check<LOMTree>("LOMTree", LOMTreeConfig{}, data);
  OneAgainstSomeConfig some;
  some.keys = Keys::features;
  check<OneAgainstSome>("one-against-some", some, data);
  some.memory_budget = 20'000;
  check<OneAgainstSome>("one-against-some in little memory", some, data);
  OneAgainstSomeConfig cells;
  cells.keys = Keys::cells;
  check<OneAgainstSome>("cells", cells, data);
  cells.keys = Keys::cells_and_trees;
  cells.count_decay = 50.0;
  check<OneAgainstSome>("cells and trees with decay", cells, data);
}
