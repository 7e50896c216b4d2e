// Several threads learn the paper's algorithms: the same model, to the bit, however many they are.
// Built with RECALLTREE_SANITIZE=thread this shows that no two threads touch the same memory.
#include <cassert>
#include <cstdio>
#include <vector>

#include "class_data.hpp"
#include "equal_states.hpp"
#include "recalltree/paper/lom_tree.hpp"
#include "recalltree/paper/one_against_all.hpp"
#include "recalltree/paper/recall_tree.hpp"

using namespace recalltree;

namespace {

constexpr std::size_t kRows = 1200, kFeatures = 24, kClasses = 40;

// Two passes; slices end where mini-batches do.
template <class Model, class Config>
State learned(const Config& config, const ClassData& data, std::size_t n_threads,
              std::size_t rows_at_once) {
  Model model(config);
  const Rows& rows = data.rows(config.learner.sparse);
  std::vector<std::int64_t> order(kRows);
  for (std::size_t i = 0; i < kRows; ++i) order[i] = static_cast<std::int64_t>(i);
  for (int pass = 0; pass < 2; ++pass)
    for (std::size_t begin = 0, n; begin < kRows; begin += n) {
      n = std::min(rows_at_once - model.n_examples() % rows_at_once, kRows - begin);
      model.learn({&rows, data.labels.data(), nullptr, order.data() + begin, n}, n_threads,
                  pass == 0);
      std::vector<std::int32_t> one(kRows), many(kRows);
      if (begin > 0) continue;
      model.predict(rows, 1, one.data());
      model.predict(rows, n_threads, many.data());
      assert(one == many);
    }
  assert(model.n_examples() == 2 * kRows && model.n_classes_seen() == kClasses);
  assert(model.work().examples_learned == 2 * kRows);
  return model.save();
}

template <class Model, class Config>
void check(const char* name, Config config, const ClassData& data) {
  for (const bool sparse : {false, true}) {
    std::printf("%s, %s\n", name, sparse ? "sparse" : "dense");
    config.learner.sparse = sparse;
    config.learner.n_features = kFeatures;
    const State two = learned<Model>(config, data, 2, 256);
    for (const std::size_t n_threads : {3, 4, 16})
      check_equal(two, learned<Model>(config, data, n_threads, n_threads == 4 ? 1024 : 256));
  }
}

}  // namespace

int main() {
  const ClassData data(kRows, kFeatures, kClasses, 3);
  RecallTreeConfig tree;
  check<RecallTree>("recall tree", tree, data);
  tree.path_features = PathFeatures::path;
  tree.count_decay = 50.0;
  tree.max_candidates = 6;
  check<RecallTree>("recall tree with paths and decay", tree, data);
  tree.count_decay = 0.3;
  check<RecallTree>("recall tree with fast decay", tree, data);
  check<OneAgainstAll>("one-against-all", OneAgainstAllConfig{}, data);
  OneAgainstAllConfig sampled;
  sampled.negative_samples = 8;
  check<OneAgainstAll>("one-against-all, sampled", sampled, data);
  check<LOMTree>("LOMTree", LOMTreeConfig{}, data);
}
