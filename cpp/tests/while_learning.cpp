// One thread learns, classes arriving all the while; others predict, save and read figures. Built
// with RECALLTREE_SANITIZE=thread this shows that they never race; in any build, that what is read
// under the lock belongs to one moment.
#include <atomic>
#include <cassert>
#include <shared_mutex>
#include <thread>

#include "class_data.hpp"
#include "recalltree/paper/lom_tree.hpp"
#include "recalltree/paper/one_against_all.hpp"
#include "recalltree/paper/recall_tree.hpp"
#include "recalltree/voting/one_against_some.hpp"

using namespace recalltree;

namespace {

constexpr std::size_t kRows = 400, kFeatures = 24, kClasses = 40, kBatch = 20;

// Rows in the order of their labels, so that every batch brings classes.
std::vector<std::int64_t> by_label(const ClassData& data) {
  std::vector<std::int64_t> order;
  for (ClassId y = 0; y < kClasses; ++y)
    for (std::size_t i = 0; i < kRows; ++i)
      if (data.labels[i] == y) order.push_back(static_cast<std::int64_t>(i));
  return order;
}

template <class Model>
void predict(const Model& model, const Rows& rows) {
  // No class is answered that is not known afterwards.
  std::vector<std::int32_t> ids(kRows);
  model.predict(rows, 2, ids.data());
  const auto top = model.predict_topk(rows, 3, 1);
  const auto all = model.candidates(rows, 1);
  std::shared_lock reading(model.lock());
  for (const std::int32_t id : ids) assert(id < static_cast<std::int32_t>(model.n_classes()));
  for (const std::int32_t id : top.ids) assert(id < static_cast<std::int32_t>(model.n_classes()));
  for (const ClassId id : all.labels) assert(id < model.n_classes());
}

template <class Model>
void read(const Model& model, const Rows& rows) {
  // Predicting again under the lock is the same thread holding it twice.
  std::shared_lock reading(model.lock());
  const State state = model.save();
  assert(state.template get<std::uint64_t>("n_examples")[0] == model.n_examples());
  assert(state.template get<std::uint32_t>("classes.seen").size() == model.n_classes());
  assert(model.work().examples_learned == model.n_examples());
  assert(model.n_examples() % kBatch == 0);
  assert(model.progress().weight <= static_cast<double>(model.n_examples()));
  for (const auto& part : model.memory()) assert(!part.first.empty());
  if constexpr (requires { model.n_nodes(); })
    for (NodeId n = 0; n < model.n_nodes(); ++n) model.node(n);
  std::vector<std::int32_t> ids(kRows);
  model.predict(rows, 1, ids.data());
  assert(model.n_examples() == state.template get<std::uint64_t>("n_examples")[0]);
}

template <class Model, class Config>
void check(Config config, const ClassData& data) {
  const std::vector<std::int64_t> order = by_label(data);
  for (const bool sparse : {false, true}) {
    config.learner.sparse = sparse;
    config.learner.n_features = kFeatures;
    if constexpr (std::is_same_v<Config, OneAgainstSomeConfig>)
      config.n_dense_features = config.keys != Keys::automatic && sparse ? kFeatures / 2 : 0;
    const Rows& rows = data.rows(sparse);
    Model model(config);
    const auto learn = [&](std::size_t begin) {
      model.learn({&rows, data.labels.data(), nullptr, order.data() + begin, kBatch}, 2, true);
    };
    learn(0);
    // Each reader reads at least once, and goes on until everything is learned.
    std::atomic<bool> done = false;
    const auto repeat = [&](auto use) {
      return std::thread([&, use] {
        do use(model, rows);
        while (!done);
      });
    };
    std::thread threads[] = {repeat(predict<Model>), repeat(read<Model>)};
    for (std::size_t begin = kBatch; begin < kRows; begin += kBatch) learn(begin);
    done = true;
    for (std::thread& thread : threads) thread.join();
    assert(model.n_classes_seen() == kClasses && model.n_examples() == kRows);
  }
}

}  // namespace

int main() {
  const ClassData data(kRows, kFeatures, kClasses, 3);
  check<RecallTree>(RecallTreeConfig{}, data);
  check<OneAgainstAll>(OneAgainstAllConfig{}, data);
  check<LOMTree>(LOMTreeConfig{}, data);
  check<OneAgainstSome>(OneAgainstSomeConfig{}, data);
  OneAgainstSomeConfig cells;
  cells.keys = Keys::cells_and_trees;
  check<OneAgainstSome>(cells, data);
}
