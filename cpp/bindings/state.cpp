#include "state.hpp"

#include <nanobind/stl/string.h>

#include <cstring>
#include <string>

namespace recalltree::bindings {
namespace {

template <class T>
nb::object as_numpy(const Array& array) {
  std::vector<T> values(array.bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), array.bytes.data(), array.bytes.size());
  return to_numpy(std::move(values), array.shape);
}

}  // namespace

nb::dict to_dict(const State& state) {
  nb::dict out;
  for (const auto& [name, array] : state.arrays) {
    switch (array.kind) {
      case 'f':
        out[name.c_str()] = as_numpy<float>(array);
        break;
      case 'd':
        out[name.c_str()] = as_numpy<double>(array);
        break;
      case 'I':
        out[name.c_str()] = as_numpy<std::uint32_t>(array);
        break;
      default:
        out[name.c_str()] = as_numpy<std::uint64_t>(array);
        break;
    }
  }
  return out;
}

namespace {

template <class T>
bool put_if(State& state, const std::string& name, nb::handle value) {
  nb::ndarray<const T, nb::c_contig, nb::device::cpu> a;
  if (!nb::try_cast(value, a, false)) return false;
  std::vector<std::size_t> shape;
  for (std::size_t i = 0; i < a.ndim(); ++i) shape.push_back(a.shape(i));
  state.put(name, std::span<const T>(a.data(), a.size()), shape);
  return true;
}

}  // namespace

State to_state(const nb::dict& dict) {
  State state;
  for (const auto& [key, value] : dict) {
    const auto name = nb::cast<std::string>(key);
    if (!(put_if<float>(state, name, value) || put_if<double>(state, name, value) ||
          put_if<std::uint32_t>(state, name, value) || put_if<std::uint64_t>(state, name, value)))
      throw nb::type_error(("state: array '" + name + "' has an unexpected type").c_str());
  }
  return state;
}

}  // namespace recalltree::bindings
