#include "state.hpp"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <memory>
#include <string>

namespace recalltree::bindings {
namespace {

struct Kind {
  char kind;
  nb::dlpack::dtype dtype;
};

nb::dlpack::dtype dtype(nb::dlpack::dtype_code code, std::uint8_t bits) {
  return {static_cast<std::uint8_t>(code), bits, 1};
}

const Kind kKinds[] = {{'f', dtype(nb::dlpack::dtype_code::Float, 32)},
                       {'e', dtype(nb::dlpack::dtype_code::Float, 16)},
                       {'H', dtype(nb::dlpack::dtype_code::UInt, 16)},
                       {'d', dtype(nb::dlpack::dtype_code::Float, 64)},
                       {'I', dtype(nb::dlpack::dtype_code::UInt, 32)},
                       {'Q', dtype(nb::dlpack::dtype_code::UInt, 64)},
                       {'B', dtype(nb::dlpack::dtype_code::UInt, 8)}};

nb::object to_array(const Array& array) {
  const auto kind = std::find_if(std::begin(kKinds), std::end(kKinds),
                                 [&](const Kind& k) { return k.kind == array.kind; });
  using Memory = std::shared_ptr<const void>;
  nb::capsule owner(new Memory(array.memory),
                    [](void* p) noexcept { delete static_cast<Memory*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, nb::ro>(const_cast<void*>(array.data), array.shape.size(),
                                                 array.shape.data(), owner, nullptr, kind->dtype));
}

bool is_contiguous(const AnyArray& a) {
  std::size_t expected = 1;
  for (std::size_t i = a.ndim(); i-- > 0; expected *= a.shape(i))
    if (a.shape(i) > 1 && static_cast<std::size_t>(a.stride(i)) != expected) return false;
  return true;
}

Array from_array(const std::string& name, nb::handle value) {
  AnyArray a;
  if (!nb::try_cast(value, a, false))
    throw nb::type_error(("state: '" + name + "' is not an array").c_str());
  const auto kind = std::find_if(std::begin(kKinds), std::end(kKinds),
                                 [&](const Kind& k) { return k.dtype == a.dtype(); });
  if (kind == std::end(kKinds))
    throw nb::type_error(("state: array '" + name + "' has an unexpected type").c_str());
  const std::size_t width = a.itemsize();
  if (a.size() > 0 &&
      (!is_contiguous(a) || reinterpret_cast<std::uintptr_t>(a.data()) % width != 0))
    throw nb::value_error(("state: array '" + name + "' is not contiguous and aligned").c_str());
  Array array{kind->kind, {}, a.data(), a.size(), std::make_shared<AnyArray>(a)};
  for (std::size_t i = 0; i < a.ndim(); ++i) array.shape.push_back(a.shape(i));
  return array;
}

}  // namespace

nb::dict to_dict(const State& state) {
  nb::dict out;
  for (const auto& [name, array] : state.arrays) out[name.c_str()] = to_array(array);
  return out;
}

State to_state(const nb::dict& dict) {
  State state;
  for (const auto& [key, value] : dict) {
    const auto name = nb::cast<std::string>(key);
    state.arrays[name] = from_array(name, value);
  }
  return state;
}

}  // namespace recalltree::bindings
