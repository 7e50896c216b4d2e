// A learner's state as named plain arrays: what is pickled, saved, compared, loaded and mapped.
//
// An array is a view of memory that it keeps alive: a vector that was put, an array of Python, a
// mapped file. Nothing is copied on the way in or out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "recalltree/base/half.hpp"

namespace recalltree {

struct Array {
  // f float32, e float16, H bfloat16 (as its bits), d float64, I uint32, Q uint64, B uint8
  char kind = 'f';
  std::vector<std::size_t> shape;
  const void* data = nullptr;
  std::size_t size = 0;                // elements
  std::shared_ptr<const void> memory;  // what keeps data alive
};

template <class T>
constexpr char kind_of() {
  if constexpr (std::is_same_v<T, float>) return 'f';
  if constexpr (std::is_same_v<T, Float16>) return 'e';
  if constexpr (std::is_same_v<T, BFloat16>) return 'H';
  if constexpr (std::is_same_v<T, double>) return 'd';
  if constexpr (std::is_same_v<T, std::uint32_t>) return 'I';
  if constexpr (std::is_same_v<T, std::uint64_t>) return 'Q';
  if constexpr (std::is_same_v<T, std::uint8_t>) return 'B';
}

class State {
 public:
  std::map<std::string, Array> arrays;

  template <class T>
  void put(const std::string& name, std::vector<T> values, std::vector<std::size_t> shape = {}) {
    auto owned = std::make_shared<const std::vector<T>>(std::move(values));
    if (shape.empty()) shape = {owned->size()};
    arrays[name] = {kind_of<T>(), std::move(shape), owned->data(), owned->size(), owned};
  }

  bool has(const std::string& name) const { return arrays.contains(name); }
  const Array& array(const std::string& name) const {
    const auto it = arrays.find(name);
    if (it == arrays.end()) throw std::invalid_argument("state: array '" + name + "' is missing");
    read_.insert(name);
    return it->second;
  }

  // Views, valid as long as the state is.
  template <class T>
  std::span<const T> get(const std::string& name) const {
    const Array& a = array(name);
    if (a.kind != kind_of<T>())
      throw std::invalid_argument("state: array '" + name + "' has the wrong type");
    return {static_cast<const T*>(a.data), a.size};
  }
  // The same, of a given length.
  template <class T>
  std::span<const T> get(const std::string& name, std::size_t length) const {
    const auto values = get<T>(name);
    check_length(name, values.size(), length);
    return values;
  }

  static void check_length(const std::string& name, std::size_t found, std::size_t expected) {
    if (found != expected)
      throw std::invalid_argument("state: array '" + name + "' has " + std::to_string(found) +
                                  " elements, expected " + std::to_string(expected));
  }
  // Called after loading: an array that was not read belongs to another model.
  void check_all_read() const {
    for (const auto& [name, array] : arrays)
      if (!read_.contains(name))
        throw std::invalid_argument("state: array '" + name + "' is unknown");
  }

 private:
  mutable std::set<std::string> read_;
};

}  // namespace recalltree
