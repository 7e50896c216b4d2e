// Parts of a state as structs of arrays, each of which writes the names of its arrays once:
//
//   template <template <class> class List>
//   struct NodeArrays {
//     List<std::uint32_t> left, right;
//     List<double> sums;  // three for each node
//     template <class Self, class Visit>
//     static void fields(Self& self, Visit visit) {
//       visit("tree.left", self.left);
//       visit("tree.right", self.right, {.length = self.left.size()});
//       visit("tree.sums", self.sums, {.length = 3 * self.left.size(), .width = 3});
//     }
//   };
//
// NodeArrays<Owned> is filled and put into a state, NodeArrays<Viewed> reads one where it lies.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "recalltree/base/state.hpp"

namespace recalltree {

// Weights, which a file for prediction may hold in half the bytes: Viewed<Narrowable> is an Array
// of float32, float16 or bfloat16.
struct Narrowable {};

template <class T>
struct ListTypes {
  using owned = std::vector<T>;
  using viewed = std::span<const T>;
};
template <>
struct ListTypes<Narrowable> {
  using owned = std::vector<float>;
  using viewed = Array;
};
template <class T>
using Owned = typename ListTypes<T>::owned;
template <class T>
using Viewed = typename ListTypes<T>::viewed;

struct Field {
  std::optional<std::size_t> length =
      {};                     // numbers that a file must have, of earlier arrays' sizes
  std::size_t width = 1;      // numbers in each row of the array
  bool for_learning = false;  // left out of models that only predict
};

inline std::size_t length_of(const Array& array) { return array.size; }
template <class T>
std::size_t length_of(std::span<const T> values) {
  return values.size();
}

template <class Arrays>
void put_fields(Arrays arrays, State& state, const std::string& prefix = "") {
  Arrays::fields(arrays, [&](const char* name, auto& values, Field field = {}) {
    const std::size_t n = values.size() / field.width;
    state.put(prefix + name, std::move(values),
              field.width > 1 ? std::vector<std::size_t>{n, field.width} : std::vector{n});
  });
}

// True if the arrays that are only for learning are there. Throws std::invalid_argument if one is
// and another is not.
template <class Arrays>
bool has_learning_fields(const Arrays& arrays, const State& state, const std::string& prefix = "") {
  bool any = false;
  const auto each = [&](auto use) {
    Arrays::fields(arrays, [&](const char* name, const auto&, Field field = {}) {
      if (field.for_learning) use(prefix + name);
    });
  };
  each([&](const std::string& name) { any |= state.has(name); });
  if (any) each([&](const std::string& name) { state.array(name); });
  return any;
}

// Views of the arrays; those for learning are empty where there are none. Throws
// std::invalid_argument if an array is missing or has the wrong type or length.
template <class Arrays>
void view_fields(Arrays& arrays, const State& state, const std::string& prefix = "") {
  const auto take = [&]<class T>(const std::string& name, std::span<const T>& values) {
    values = state.get<T>(name);
  };
  const auto take_array = [&](const std::string& name, Array& values) {
    values = state.array(name);
    if (values.kind != 'f' && values.kind != 'e' && values.kind != 'H')
      throw std::invalid_argument("state: array '" + name + "' has the wrong type");
  };
  const bool for_learning = has_learning_fields(arrays, state, prefix);
  Arrays::fields(arrays, [&](const char* name, auto& values, Field field = {}) {
    if (field.for_learning && !for_learning) return;
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(values)>, Array>)
      take_array(prefix + name, values);
    else
      take(prefix + name, values);
    if (field.length) State::check_length(prefix + name, length_of(values), *field.length);
  });
}

inline std::size_t bytes_of(const Array& array) {
  return array.size * (array.kind == 'e' || array.kind == 'H' ? 2 : 4);
}
template <class T>
std::size_t bytes_of(std::span<const T> values) {
  return values.size_bytes();
}
// Bytes of all arrays that are viewed.
template <class Arrays>
std::size_t bytes_of_fields(const Arrays& arrays) {
  std::size_t sum = 0;
  Arrays::fields(arrays,
                 [&](const char*, const auto& values, Field = {}) { sum += bytes_of(values); });
  return sum;
}

// Calls use(numbers) with the numbers of an array of weights in the type that they are stored in.
template <class Use>
void with_weights(const Array& weights, Use use) {
  if (weights.kind == 'e')
    use(static_cast<const Float16*>(weights.data));
  else if (weights.kind == 'H')
    use(static_cast<const BFloat16*>(weights.data));
  else
    use(static_cast<const float*>(weights.data));
}

}  // namespace recalltree
