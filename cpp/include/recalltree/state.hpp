// A learner's state as named plain arrays: what is pickled, saved, compared and loaded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace recalltree {

struct Array {
  char kind = 'f';  // f float32, d float64, I uint32, Q uint64
  std::vector<std::size_t> shape;
  std::vector<std::byte> bytes;
};

template <class T>
constexpr char kind_of() {
  if constexpr (std::is_same_v<T, float>) return 'f';
  if constexpr (std::is_same_v<T, double>) return 'd';
  if constexpr (std::is_same_v<T, std::uint32_t>) return 'I';
  if constexpr (std::is_same_v<T, std::uint64_t>) return 'Q';
}

class State {
 public:
  std::map<std::string, Array> arrays;

  template <class T>
  void put(const std::string& name, std::span<const T> values,
           std::vector<std::size_t> shape = {}) {
    Array& a = arrays[name];
    a.kind = kind_of<T>();
    a.shape = shape.empty() ? std::vector<std::size_t>{values.size()} : std::move(shape);
    a.bytes.resize(values.size_bytes());
    if (!values.empty()) std::memcpy(a.bytes.data(), values.data(), values.size_bytes());
  }
  template <class T>
  void put(const std::string& name, const std::vector<T>& values,
           std::vector<std::size_t> shape = {}) {
    put(name, std::span<const T>(values), std::move(shape));
  }

  template <class T>
  std::vector<T> get(const std::string& name) const {
    const auto it = arrays.find(name);
    if (it == arrays.end()) throw std::invalid_argument("state: array '" + name + "' is missing");
    if (it->second.kind != kind_of<T>())
      throw std::invalid_argument("state: array '" + name + "' has the wrong type");
    std::vector<T> values(it->second.bytes.size() / sizeof(T));
    if (!values.empty())
      std::memcpy(values.data(), it->second.bytes.data(), values.size() * sizeof(T));
    return values;
  }
  // The same, of a given length.
  template <class T>
  std::vector<T> get(const std::string& name, std::size_t length) const {
    auto values = get<T>(name);
    if (values.size() != length)
      throw std::invalid_argument("state: array '" + name + "' has " +
                                  std::to_string(values.size()) + " elements, expected " +
                                  std::to_string(length));
    return values;
  }
};

}  // namespace recalltree
