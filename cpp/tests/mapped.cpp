// Models viewed in their state: they answer as the learner did, and whatever a hostile state holds,
// they refuse it or stay within its arrays. Built with RECALLTREE_SANITIZE=address this shows it.
#include <cassert>
#include <cstdio>
#include <cstring>
#include <memory>
#include <random>

#include "class_data.hpp"
#include "recalltree/file/load_checked.hpp"
#include "recalltree/file/mapped_lom_tree.hpp"
#include "recalltree/file/mapped_one_against_all.hpp"
#include "recalltree/file/mapped_one_against_some.hpp"
#include "recalltree/file/mapped_recall_tree.hpp"
#include "recalltree/model/explanation.hpp"
#include "recalltree/paper/lom_tree.hpp"
#include "recalltree/paper/one_against_all.hpp"
#include "recalltree/paper/recall_tree.hpp"
#include "recalltree/voting/one_against_some.hpp"

using namespace recalltree;

namespace {

constexpr std::size_t kRows = 300, kFeatures = 20, kClasses = 12;

const ClassData& data() {
  static const ClassData made(kRows, kFeatures, kClasses, 5);
  return made;
}

std::size_t bytes_of(char kind) { return kind == 'B' ? 1 : kind == 'd' || kind == 'Q' ? 8 : 4; }

// A copy in memory of exactly the right size, which a sanitizer watches.
State copied(const State& state) {
  State copy;
  for (const auto& [name, array] : state.arrays) {
    const std::size_t width = bytes_of(array.kind);
    std::shared_ptr<char[]> bytes(new char[array.size * width]);
    if (array.size > 0) std::memcpy(bytes.get(), array.data, array.size * width);
    copy.arrays[name] = {array.kind, array.shape, bytes.get(), array.size, bytes};
  }
  return copy;
}

// Changes some numbers of some array, or its length, to something near an edge.
void mutate(State& state, std::mt19937& random) {
  auto at = state.arrays.begin();
  std::advance(at, random() % state.arrays.size());
  Array& array = at->second;
  if (array.size == 0) return;
  if (random() % 8 == 0) {  // shorter; the memory is copied, so that reading past the end is found
    array.size = random() % array.size;
    array.shape = {array.size};
    state = copied(state);
    return;
  }
  const std::uint64_t edges[] = {
      0,          1,          2,          kClasses,          kFeatures,
      0x7fffffff, 0xfffffffe, 0xffffffff, ~std::uint64_t{0}, std::uint64_t{1} << 63,
      random()};
  for (int change = 0; change < 3; ++change) {
    const std::uint64_t edge = edges[random() % std::size(edges)];
    const std::size_t i = random() % array.size;
    const std::size_t width = bytes_of(array.kind);
    std::memcpy(static_cast<char*>(const_cast<void*>(array.data)) + i * width, &edge, width);
  }
}

template <class Model>
void use(const Model& model, bool sparse) {
  std::vector<std::int32_t> ids(kRows);
  if (model.n_classes_seen() == 0) return;
  model.predict(data().rows(sparse), 1, ids.data());
  model.predict_topk(data().rows(sparse), 3, 2);
  model.candidates(data().rows(sparse), 1);
  if constexpr (requires { model.n_nodes(); }) {
    std::vector<NodeId> route;
    model.route(data().rows(sparse), 0, route);
    for (NodeId n = 0; n < model.n_nodes(); ++n) {
      model.node(n);
      if (model.router(n) < model.routers().size()) model.routers().contents(model.router(n));
      if constexpr (requires { model.ranked_labels(n); })
        model.ranked_labels(n);
      else
        model.leaf_labels(n);
    }
  }
  if constexpr (requires { model.store(); }) {
    explain_votes(model, data().rows(sparse), 0, {0, 1, 2});
    model.frequent_classes();
    model.class_examples();
    model.store().visit_class(0, [](std::uint32_t, float, float, float) {});
  } else if constexpr (requires { model.predictors(); }) {
    model.predictors().contents(0);
  }
}

template <class Learned, class Mapped, class Config>
void run(const Config& config, const char* name) {
  const bool sparse = config.learner.sparse;
  Learned learner(config);
  learner.learn(data().batch(sparse, 200), 1, true);
  const State state = learner.save();

  const Mapped mapped(config, copied(state));
  mapped.check();
  assert(mapped.is_complete());
  const Candidates a = learner.candidates(data().rows(sparse), 1);
  const Candidates b = mapped.candidates(data().rows(sparse), 1);
  assert(a.offsets == b.offsets && a.labels == b.labels);
  assert(std::memcmp(a.scores.data(), b.scores.data(), a.scores.size() * sizeof(float)) == 0);

  std::mt19937 random(7);
  std::size_t refused = 0, mapped_anyway = 0, learned = 0;
  for (int trial = 0; trial < 300; ++trial) {
    State hostile = copied(state);
    mutate(hostile, random);
    try {
      use(Mapped(config, hostile), sparse);
      ++mapped_anyway;
    } catch (const std::invalid_argument&) {
      ++refused;
    }
    try {
      Learned again(config);
      load_checked<Mapped>(again, hostile);
      again.learn(data().batch(sparse, 60), 1, true);
      use(again, sparse);
      ++learned;
    } catch (const std::invalid_argument&) {
    }
  }
  std::printf("%-22s %-6s %zu refused, %zu mapped, %zu learned\n", name,
              sparse ? "sparse" : "dense", refused, mapped_anyway, learned);
  assert(refused > 30 && mapped_anyway > 30);
}

}  // namespace

int main() {
  for (const bool sparse : {false, true}) {
    LearnerConfig learner;
    learner.n_features = kFeatures;
    learner.sparse = sparse;
    RecallTreeConfig tree;
    tree.learner = learner;
    tree.max_candidates = 3;
    run<RecallTree, MappedRecallTree>(tree, "recall tree");
    tree.path_interactions = true;
    tree.path_features = PathFeatures::path;
    tree.count_decay = 50.0;
    run<RecallTree, MappedRecallTree>(tree, "with interactions");
    OneAgainstAllConfig all;
    all.learner = learner;
    run<OneAgainstAll, MappedOneAgainstAll>(all, "one against all");
    OneAgainstSomeConfig some;
    some.learner = learner;
    some.max_labels = 6;
    some.n_trees = 2;
    run<OneAgainstSome, MappedOneAgainstSome>(some, "one against some");
    some.keys = Keys::both;
    some.max_candidates = 4;
    some.max_entries = 50;
    some.count_decay = 50.0;
    run<OneAgainstSome, MappedOneAgainstSome>(some, "with both keys");
    some.keys = Keys::path;
    run<OneAgainstSome, MappedOneAgainstSome>(some, "with a path");
    some.keys = Keys::cells_and_trees;
    some.n_dense_features = sparse ? kFeatures / 2 : 0;
    run<OneAgainstSome, MappedOneAgainstSome>(some, "with cells and trees");
    some.keys = Keys::cells;
    run<OneAgainstSome, MappedOneAgainstSome>(some, "with cells");
    LOMTreeConfig lom;
    lom.learner = learner;
    run<LOMTree, MappedLOMTree>(lom, "lom tree");
    lom.max_nodes = 4;
    lom.swap_resistance = 0.1;
    run<LOMTree, MappedLOMTree>(lom, "lom tree with swaps");
  }
}
