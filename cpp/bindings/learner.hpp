// Bindings that learners and mapped models share.
#pragma once

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "options.hpp"
#include "reading.hpp"
#include "recalltree/file/load_checked.hpp"
#include "recalltree/file/mapped_model.hpp"
#include "recalltree/model/learner.hpp"
#include "rows.hpp"
#include "state.hpp"

namespace recalltree::bindings {

inline void check_class(const Predictor& model, ClassId y) {
  if (y >= model.n_classes()) throw nb::index_error("no such class");
}

// __init__ with the parameters of all models and its own ones, of which make_config(LearnerConfig,
// its own ...) makes a configuration; a mapped model has its state before them.
template <class Model, class Config, class... Own, class... Names>
void bind_init(nb::class_<Model>& c, Config (*make_config)(const LearnerConfig&, Own...),
               const Names&... names) {
  const LearnerConfig standard;
  const auto bind = [&](auto init, auto... first) {
    c.def("__init__", init, first..., nb::kw_only(), "n_features"_a, "sparse"_a = standard.sparse,
          "loss"_a = name_of(standard.loss), "learning_rate"_a = standard.learning_rate,
          "l2"_a = standard.l2, names...);
  };
  if constexpr (std::is_base_of_v<MappedModel, Model>)
    bind(
        [make_config](Model* self, const nb::dict& state, std::uint32_t n_features, bool sparse,
                      const std::string& loss, double learning_rate, double l2, Own... own) {
          new (self) Model(
              make_config(learner_config(n_features, sparse, loss, learning_rate, l2), own...),
              to_state(state));
        },
        "state"_a);
  else
    bind([make_config](Model* self, std::uint32_t n_features, bool sparse, const std::string& loss,
                       double learning_rate, double l2, Own... own) {
      new (self)
          Model(make_config(learner_config(n_features, sparse, loss, learning_rate, l2), own...));
    });
}

// Prediction, for learners and mapped models.
template <class Model>
void bind_prediction(nb::class_<Model>& c) {
  const auto check_width = [](const Model& m, const HeldRows& x) {
    if (x.rows.n_features != m.config().learner.n_features)
      throw nb::value_error("wrong number of features");
    if (m.n_classes_seen() == 0) throw nb::value_error("nothing has been learned yet");
  };
  c.def(
      "predict",
      [check_width](const Model& m, const HeldRows& x, std::size_t n_threads) {
        check_width(m, x);
        std::vector<std::int32_t> ids(x.rows.n_rows);
        {
          nb::gil_scoped_release release;
          m.predict(x.rows, n_threads, ids.data());
        }
        return to_numpy(std::move(ids));
      },
      "rows"_a, "n_threads"_a);
  c.def(
      "predict_topk",
      [check_width](const Model& m, const HeldRows& x, std::size_t k, std::size_t n_threads) {
        check_width(m, x);
        TopCandidates top;
        {
          nb::gil_scoped_release release;
          top = m.predict_topk(x.rows, k, n_threads);
        }
        const std::vector<std::size_t> shape{x.rows.n_rows, k};
        return nb::make_tuple(
            to_numpy(std::move(top.ids), shape), to_numpy(std::move(top.scores), shape),
            to_numpy(std::vector<std::int64_t>(top.offsets.begin(), top.offsets.end())),
            to_numpy(std::move(top.all_scores)));
      },
      "rows"_a, "k"_a, "n_threads"_a);
  c.def(
      "candidates",
      [check_width](const Model& m, const HeldRows& x, std::size_t n_threads) {
        check_width(m, x);
        Candidates all;
        {
          nb::gil_scoped_release release;
          all = m.candidates(x.rows, n_threads);
        }
        return nb::make_tuple(
            to_numpy(std::vector<std::int64_t>(all.offsets.begin(), all.offsets.end())),
            to_numpy(std::vector<std::int32_t>(all.labels.begin(), all.labels.end())),
            to_numpy(std::move(all.scores)));
      },
      "rows"_a, "n_threads"_a);
  c.def("memory_bytes", reading(+[](const Model& m) {
          nb::dict out;
          // A file holds an offset even for a part that the model does not have.
          for (const auto& [part, bytes] : m.memory())
            if (bytes > sizeof(std::uint64_t)) out[part.c_str()] = bytes;
          return out;
        }));
  c.def_prop_ro("work", reading(+[](const Model& m) {
                  const Work w = m.work();
                  nb::dict out;
                  out["examples_learned"] = w.examples_learned;
                  out["examples_predicted"] = w.examples_predicted;
                  out["router_evaluations"] = w.router_evaluations;
                  out["predictor_evaluations"] = w.predictor_evaluations;
                  out["progressive_evaluations"] = w.progressive_evaluations;
                  out["histogram_touches"] = w.histogram_touches;
                  out["vectors_compared"] = w.vectors_compared;
                  out["pair_lookups"] = w.pair_lookups;
                  out["pairs_found"] = w.pairs_found;
                  out["pairs_changed"] = w.pairs_changed;
                  return out;
                }));
  c.def_prop_ro("has_lists", reading(+[](const Model& m) { return m.has_lists(); }));
  c.def_prop_ro("n_examples", reading(+[](const Model& m) { return m.n_examples(); }));
  c.def_prop_ro("n_classes", reading(+[](const Model& m) { return m.n_classes(); }));
  c.def_prop_ro("n_classes_seen", reading(+[](const Model& m) { return m.n_classes_seen(); }));
  c.def_prop_ro("progressive_weight", reading(+[](const Model& m) { return m.progress().weight; }));
  c.def_prop_ro("progressive_errors", reading(+[](const Model& m) { return m.progress().errors; }));
  bind_lock(c);
}

// Row i has the labels from offsets[i] to offsets[i + 1].
inline void check_offsets(const Vector<std::int64_t>& offsets, std::size_t n_rows,
                          std::size_t n_labels) {
  bool right = offsets.shape(0) == n_rows + 1 && offsets(0) == 0 &&
               static_cast<std::size_t>(offsets(n_rows)) == n_labels;
  for (std::size_t i = 0; right && i < n_rows; ++i) right = offsets(i) <= offsets(i + 1);
  if (!right) throw nb::value_error("offsets of labels do not go from 0 to their number");
}

// Learning, saving and loading, for learners.
template <class Mapped, class Model>
void bind_learning(nb::class_<Model>& c) {
  c.def(
      "learn",
      [](Model& m, const HeldRows& x, Vector<std::uint32_t> labels,
         std::optional<Vector<float>> weights, std::optional<Vector<std::int64_t>> order,
         std::size_t n_threads, bool first_pass,
         std::optional<Vector<std::int64_t>> label_offsets,
         const std::vector<std::uint64_t>& checkpoints) {
        const std::size_t n = x.rows.n_rows;
        if (label_offsets)
          check_offsets(*label_offsets, n, labels.shape(0));
        else if (labels.shape(0) != n)
          throw nb::value_error("labels and rows differ in number");
        if (weights && weights->shape(0) != n)
          throw nb::value_error("weights and rows differ in number");
        if (x.rows.n_features != m.config().learner.n_features)
          throw nb::value_error("wrong number of features");
        if (order)
          for (std::size_t i = 0; i < order->shape(0); ++i)
            if ((*order)(i) < 0 || static_cast<std::size_t>((*order)(i)) >= n)
              throw nb::value_error("order names a row that does not exist");
        const Batch batch{&x.rows,
                          labels.data(),
                          weights ? weights->data() : nullptr,
                          order ? order->data() : nullptr,
                          order ? order->shape(0) : n,
                          label_offsets ? label_offsets->data() : nullptr};
        std::vector<Checkpoint> noted;
        for (const std::uint64_t n_examples : checkpoints) noted.push_back({n_examples, {}});
        {
          nb::gil_scoped_release release;
          m.learn(batch, n_threads, first_pass, noted);
        }
        std::vector<double> progress;
        for (const Checkpoint& c : noted) {
          progress.push_back(c.progress.weight);
          progress.push_back(c.progress.errors);
        }
        return to_numpy(std::move(progress), {noted.size(), 2});
      },
      "rows"_a, "labels"_a, "weights"_a.none(), "order"_a.none(), "n_threads"_a, "first_pass"_a,
      "label_offsets"_a.none() = nb::none(), "checkpoints"_a = std::vector<std::uint64_t>());
  c.def("state", reading(+[](const Model& m) { return to_dict(m.save()); }));
  // A new model, then its state.
  c.def_static(
      "from_state",
      [](nb::dict state, nb::kwargs config) {
        nb::object made = nb::type<Model>()(**config);
        Model& model = nb::cast<Model&>(made);
        load_checked<Mapped>(model, to_state(state));
        return made;
      },
      "state"_a, "config"_a);
}

// Opening and checking, for mapped models.
template <class Model>
void bind_mapped(nb::class_<Model>& c) {
  c.def("state", [](const Model& m) { return to_dict(m.state()); });
  c.def_prop_ro("is_complete", [](const Model& m) { return m.is_complete(); });
  c.def("check", [](const Model& m) {
    nb::gil_scoped_release release;
    m.check();
  });
}

// Mapped: the view that checks the state of a learner.
template <class Mapped, class Model>
void bind_common(nb::class_<Model>& c) {
  bind_prediction(c);
  if constexpr (std::is_base_of_v<MappedModel, Model>)
    bind_mapped(c);
  else
    bind_learning<Mapped>(c);
}

}  // namespace recalltree::bindings
