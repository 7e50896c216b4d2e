// Cells that are saved: they continue learning as if nothing had happened, answer the same from
// where they lie, and whatever a hostile state holds, it is refused or stays within its arrays.
// Built with RECALLTREE_SANITIZE=address this shows it.
#include "recalltree/file/mapped_cells.hpp"

#include <cassert>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>

#include "dense_data.hpp"

using namespace recalltree;

namespace {

constexpr std::size_t kFeatures = 24, kClasses = 400;
const CellsConfig kConfig{kFeatures, {8}};

std::size_t element_bytes(char kind) {
  return kind == 'B' ? 1 : kind == 'e' || kind == 'H' ? 2 : kind == 'd' || kind == 'Q' ? 8 : 4;
}

// A copy in memory of exactly the right size, which a sanitizer watches. With an offset it is not
// aligned to cache lines.
State copied(const State& state, std::size_t offset = 0) {
  State copy;
  for (const auto& [name, array] : state.arrays) {
    const std::size_t bytes = array.size * element_bytes(array.kind);
    std::shared_ptr<char[]> memory(new char[offset + bytes]);
    if (bytes > 0) std::memcpy(memory.get() + offset, array.data, bytes);
    copy.arrays[name] = {array.kind, array.shape, memory.get() + offset, array.size, memory};
  }
  return copy;
}

template <class Model>
State saved(const Model& model) {
  State state;
  model.save(state);
  return state;
}

bool are_equal(const State& a, const State& b) {
  if (a.arrays.size() != b.arrays.size()) return false;
  for (const auto& [name, array] : a.arrays) {
    const Array& other = b.array(name);
    if (array.kind != other.kind || array.size != other.size) return false;
    if (array.size > 0 &&
        std::memcmp(array.data, other.data, array.size * element_bytes(array.kind)) != 0)
      return false;
  }
  return true;
}

MappedCells mapped(const State& state) {
  return MappedCells(kConfig, state, state.array("class_vectors.bias").size);
}

// Before the whitening is known, while it is learned again, and when it is final.
void learning_goes_on_where_it_stopped() {
  Data data(3000, kFeatures, kClasses, 21, 0.8f);
  for (const std::size_t stop : {0u, 5u, 8u, 700u, 2047u, 2048u, 2600u}) {
    Learned whole(kConfig), first(kConfig), rest(kConfig);
    whole.learn(data, 0, data.n, 32, 1);
    first.learn(data, 0, stop, 32, 1);
    const State state = saved(first.cells);
    const MappedCells view = mapped(state);
    view.check();
    assert(view.is_complete());
    rest.cells.load(state);
    assert(are_equal(saved(rest.cells), state));
    rest.learn(data, stop, data.n, 32, 1);
    assert(are_equal(saved(rest.cells), saved(whole.cells)));
  }
}

void mapped_cells_answer_as_those_in_memory() {
  Data data(3000, kFeatures, kClasses, 22, 0.8f);
  for (const std::size_t n : {3u, 20u, 3000u}) {
    Learned learned(kConfig);
    learned.learn(data, 0, n, 32, 1);
    const State state = saved(learned.cells);
    for (const std::size_t offset : {0u, 8u}) {
      const State elsewhere = copied(state, offset);
      const MappedCells view = mapped(elsewhere);
      CellsScratch scratch;
      for (std::size_t i = 0; i < 300; ++i)
        assert(answer_of(view, data, i, scratch) == learned.answer(data, i));
      assert(scratch.search.vectors > 0);
    }
  }
}

// Half the bytes: numbers of 16 bits, and one vector for mean and weights.
void vectors_may_be_narrow_and_joined() {
  Data data(3000, kFeatures, kClasses, 23, 0.8f);
  Learned learned(data, 32);
  State state = saved(learned.cells);
  const std::size_t width = learned.cells.width(), K = learned.cells.n_classes();
  ClassScoresScratch scratch;
  std::vector<float> joined(K * width);
  for (ClassId y = 0; y < K; ++y)
    learned.cells.vectors().combined(y, width, joined.data() + y * width, scratch);
  std::vector<BFloat16> narrow;
  for (const float value : joined) {
    std::uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    narrow.push_back({static_cast<std::uint16_t>(bits >> 16)});
  }
  State half = state;
  state.put("class_vectors.vectors", joined, {K, width});
  half.put("class_vectors.vectors", narrow, {K, width});
  const MappedCells wide = mapped(state), small = mapped(half);
  wide.check();
  small.check();
  assert(!wide.is_complete() && !small.is_complete());
  CellsScratch answers;
  std::size_t same = 0;
  for (std::size_t i = 0; i < 500; ++i) {
    const auto [label, score] = learned.answer(data, i);
    const auto [label_of_one, score_of_one] = answer_of(wide, data, i, answers);
    assert(label == label_of_one && std::fabs(score - score_of_one) < 1e-3f);
    const auto [label_of_half, score_of_half] = answer_of(small, data, i, answers);
    same += label == label_of_half;
    assert(std::fabs(score - score_of_half) < 0.3f);
  }
  assert(same > 480);
}

// --- hostile states -----------------------------------------------------------------------------

bool is_refused(const std::function<void()>& call, const std::string& why) {
  try {
    call();
  } catch (const std::invalid_argument& error) {
    if (std::string(error.what()).find(why) == std::string::npos) std::puts(error.what());
    return std::string(error.what()).find(why) != std::string::npos;
  }
  return false;
}

template <class T>
void set(State& state, const std::string& name, std::size_t at, T value) {
  const Array& array = state.array(name);
  assert(at < array.size && array.kind == kind_of<T>());
  std::memcpy(static_cast<T*>(const_cast<void*>(array.data)) + at, &value, sizeof value);
}

std::size_t position_of(const State& state, const std::string& name, std::uint32_t value) {
  const auto values = state.get<std::uint32_t>(name);
  return static_cast<std::size_t>(std::find(values.begin(), values.end(), value) - values.begin());
}

void each_abuse_is_refused() {
  Data data(1500, kFeatures, kClasses, 24);
  Learned learned(data, 32);
  const State state = saved(learned.cells);
  const auto sizes = state.get<std::uint32_t>("cells.sizes");
  const std::size_t root = position_of(state, "cells.levels", 1);
  assert(root < sizes.size());
  std::size_t children = 0;  // of the root, among all ids
  for (std::size_t id = 0; id < root; ++id) children += in_whole_blocks(sizes[id]);

  using Change = std::function<void(State&)>;
  const auto refused_at_once = [&](const char* why, const Change& change) {
    State hostile = copied(state);
    change(hostile);
    assert(is_refused([&] { mapped(hostile); }, why));
  };
  const auto refused_when_read = [&](const char* why, const Change& change) {
    State hostile = copied(state);
    change(hostile);
    const MappedCells view = mapped(hostile);
    CellsScratch scratch;
    for (std::size_t i = 0; i < 50; ++i) answer_of(view, data, i, scratch);
    assert(is_refused([&] { view.check(); }, why));
  };
  const auto shorter = [](const char* name) { return [name](State& s) { --s.arrays[name].size; }; };
  for (const auto& [name, array] : state.arrays)
    if (name != "cells.changes")
      refused_at_once("missing", [&](State& s) { s.arrays.erase(name); });
  State without = copied(state);
  without.arrays.erase("cells.changes");  // of the tree, learning needs this alone
  assert(!mapped(without).is_complete());
  for (const char* name :
       {"whitening.mean", "whitening.rate", "whitening.matrix", "cells.sizes", "cells.changes",
        "cells.ids", "cells.scales", "cells.biases", "cells.sketches", "class_vectors.bias",
        "class_vectors.inverse_norms", "class_vectors.accumulators", "class_vectors.n_rows",
        "class_vectors.mean_scale", "first_rows.n", "first_rows.step_labels",
        "first_rows.step_counts", "first_rows.step_sizes", "first_rows.step_kept"})
    refused_at_once("elements, expected", shorter(name));
  refused_at_once("one place per feature", shorter("whitening.position"));
  refused_at_once("one or two vectors", shorter("class_vectors.vectors"));
  refused_at_once("does not have 'first_rows.n' rows", shorter("first_rows.rows"));
  refused_at_once("does not have 'first_rows.n' rows",
                  [](State& s) { set(s, "first_rows.n", 0, std::uint64_t{1} << 62); });
  refused_at_once("a tree has a root", [](State& s) {
    for (auto& [name, array] : s.arrays)
      if (name.starts_with("cells.")) array.size = 0;
  });
  refused_at_once("direction that does not exist",
                  [](State& s) { set(s, "whitening.position", 3, std::uint32_t{kFeatures}); });
  refused_at_once("too large", [](State& s) { set(s, "cells.sizes", 0, std::uint32_t{129}); });
  refused_at_once("expected", [&](State& s) {
    set(s, "cells.sizes", 0, sizes[0] > 16 ? std::uint32_t{1} : std::uint32_t{17});
  });
  refused_at_once("has no children",
                  [&](State& s) { set(s, "cells.levels", 0, std::uint32_t{0xffffffff}); });
  refused_at_once("not its own",
                  [&](State& s) { set(s, "cells.ids", children, std::uint32_t(sizes.size())); });
  refused_at_once("not its own", [&](State& s) {
    set(s, "cells.ids", children, s.get<std::uint32_t>("cells.ids")[children + 1]);
  });
  refused_at_once("not its own",
                  [&](State& s) { set(s, "cells.ids", children, std::uint32_t(root)); });
  refused_at_once("no parent", [&](State& s) {
    set(s, "cells.sizes", root, s.get<std::uint32_t>("cells.sizes")[root] - 1);
  });

  for (const auto& [name, array] : state.arrays)
    if (array.kind == 'f')
      for (const float value : {NAN, INFINITY})
        refused_when_read("holds", [&](State& s) { set(s, name, 0, value); });
  refused_when_read("direction twice", [](State& s) {
    set(s, "whitening.position", 0, s.get<std::uint32_t>("whitening.position")[1]);
  });
  refused_when_read("negative", [](State& s) { set(s, "whitening.rate", 0, -1.0f); });
  refused_when_read("negative", [](State& s) { set(s, "cells.scales", 0, -1.0f); });
  refused_when_read("negative", [](State& s) { set(s, "class_vectors.accumulators", 0, -1.0f); });
  refused_when_read("not positive", [](State& s) { set(s, "class_vectors.mean_scale", 0, 0.0f); });
  refused_when_read("does not fit the means",
                    [](State& s) { set(s, "class_vectors.inverse_norms", 0, 3e38f); });
  refused_when_read("out of range",
                    [](State& s) { set(s, "cells.sketches", 0, std::uint8_t{255}); });
  for (const char* name : {"whitening.matrix", "class_vectors.vectors", "first_rows.rows"})
    refused_when_read("padded with zeros", [&](State& s) { set(s, name, kFeatures, 1.0f); });
  refused_when_read("class that does not exist",
                    [](State& s) { set(s, "cells.ids", 0, std::uint32_t{0xffffffff}); });
  refused_when_read("stands in two cells",
                    [](State& s) { set(s, "cells.ids", 0, s.get<std::uint32_t>("cells.ids")[1]); });
  refused_when_read("stands in no cell",
                    [](State& s) { set(s, "class_vectors.n_rows", 0, std::uint32_t{0}); });
  refused_when_read("rows that are kept",
                    [](State& s) { set(s, "first_rows.n", 1, std::uint64_t{1} << 40); });
  refused_when_read("more rows than are kept",
                    [](State& s) { set(s, "first_rows.n", 1, std::uint64_t{0}); });
  for (const char* name : {"first_rows.step_rows", "first_rows.step_labels"})
    refused_when_read("does not exist",
                      [&](State& s) { set(s, name, 0, std::uint32_t{0xffffffff}); });
  refused_when_read("does not exist",
                    [](State& s) { set(s, "first_rows.step_counts", 0, std::uint8_t{2}); });
}

// Changes some numbers of some array, or its length, to something near an edge.
void mutate(State& state, std::mt19937& random) {
  auto at = state.arrays.begin();
  std::advance(at, random() % state.arrays.size());
  Array& array = at->second;
  if (array.size == 0) return;
  if (random() % 8 == 0) {  // the memory is copied, so that reading past the end is found
    array.size = random() % array.size;
    state = copied(state);
    return;
  }
  const std::uint64_t edges[] = {0,          1,          2,          kClasses - 1, kFeatures,
                                 0x7fffffff, 0x7f7fffff, 0xffffffff, ~0ull,        random()};
  for (int change = 0; change < 3; ++change) {
    const std::uint64_t edge = edges[random() % std::size(edges)];
    const std::size_t i = random() % array.size, width = element_bytes(array.kind);
    std::memcpy(static_cast<char*>(const_cast<void*>(array.data)) + i * width, &edge, width);
  }
}

void damage_does_no_harm() {
  Data data(1500, kFeatures, kClasses, 25);
  std::size_t refused = 0, viewed = 0, learned = 0;
  for (const std::size_t n : {400u, 1500u}) {
    Learned honest(kConfig);
    honest.learn(data, 0, n, 32, 1);
    const State state = saved(honest.cells);
    std::mt19937 random(7);
    for (int trial = 0; trial < 400; ++trial) {
      State hostile = copied(state);
      mutate(hostile, random);
      try {
        const MappedCells view = mapped(hostile);
        CellsScratch scratch;
        for (std::size_t i = 0; i < 20; ++i) answer_of(view, data, i, scratch);
        ++viewed;
        view.check();
        if (!view.is_complete()) continue;
        Learned again(kConfig);
        again.cells.load(hostile);
        again.learn(data, 0, 700, 32, 1);
        ++learned;
      } catch (const std::invalid_argument&) {
        ++refused;
      }
    }
  }
  std::printf("%zu refused, %zu viewed, %zu learned\n", refused, viewed, learned);
  assert(refused > 100 && viewed > 100 && learned > 50);
}

}  // namespace

int main() {
  learning_goes_on_where_it_stopped();
  mapped_cells_answer_as_those_in_memory();
  vectors_may_be_narrow_and_joined();
  each_abuse_is_refused();
  damage_does_no_harm();
  std::puts("cells are saved and mapped");
}
