// The names of a learner's options: those of the Python estimators.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "recalltree/base/config.hpp"

namespace recalltree::bindings {

namespace nb = nanobind;

template <class Enum>
struct Names;
template <>
struct Names<Loss> {
  static constexpr auto& of = kLossNames;
};
template <>
struct Names<Keys> {
  static constexpr const char* of[] = {"auto", "features", "trees",      "both",
                                       "path", "cells",    "cells+trees"};
};
template <>
struct Names<PathFeatures> {
  static constexpr const char* of[] = {"none", "leaf", "path"};
};
template <>
struct Names<RouterWeighting> {
  static constexpr const char* of[] = {"total_entropy", "entropy", "unit"};
};
template <>
struct Names<RoutingOrder> {
  static constexpr const char* of[] = {"route_first", "update_first"};
};

template <class Enum>
Enum parse(const std::string& name) {
  int i = 0;
  for (const char* known : Names<Enum>::of) {
    if (name == known) return static_cast<Enum>(i);
    ++i;
  }
  throw nb::value_error(("unknown option '" + name + "'").c_str());
}
template <class Enum>
const char* name_of(Enum value) {
  return Names<Enum>::of[static_cast<int>(value)];
}

inline LearnerConfig learner_config(std::uint32_t n_features, bool sparse, const std::string& loss,
                                    double learning_rate, double l2) {
  return {n_features, sparse, parse<Loss>(loss), learning_rate, l2};
}

inline void put(nb::dict& out, const LearnerConfig& c) {
  out["n_features"] = c.n_features;
  out["sparse"] = c.sparse;
  out["loss"] = name_of(c.loss);
  out["learning_rate"] = c.learning_rate;
  out["l2"] = c.l2;
}

}  // namespace recalltree::bindings
