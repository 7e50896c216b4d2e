// An array that kernels read where it lies. They want whole cache lines: memory that does not start
// at one, as that of a pickle, is copied.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>

#include "recalltree/base/example.hpp"

namespace recalltree {

template <class T>
class AlignedArray {
 public:
  AlignedArray() = default;
  explicit AlignedArray(std::span<const T> values) : values_(values) {
    if (reinterpret_cast<std::uintptr_t>(values.data()) % 64 == 0) return;
    copy_.resize((values.size_bytes() + sizeof(float) - 1) / sizeof(float));
    std::memcpy(copy_.data(), values.data(), values.size_bytes());
    values_ = {reinterpret_cast<const T*>(copy_.data()), values.size()};
  }

  const T* data() const { return values_.data(); }
  std::size_t size() const { return values_.size(); }
  const T& operator[](std::size_t i) const { return values_[i]; }

 private:
  std::span<const T> values_;
  AlignedFloats copy_;
};

}  // namespace recalltree
