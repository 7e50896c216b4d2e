// A row after scaling: what linear models see. Lives in a thread's workspace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "recalltree/base/types.hpp"

namespace recalltree {

// 64-byte aligned floats, zeroed; a multiple of kLanes long.
class AlignedFloats {
 public:
  explicit AlignedFloats(std::size_t n = 0) { resize(n); }
  void resize(std::size_t n) {
    size_ = padded(n);
    data_.reset(
        static_cast<float*>(::operator new[](size_ * sizeof(float) + 64, std::align_val_t{64})));
    std::memset(data_.get(), 0, size_ * sizeof(float));
  }
  void reserve(std::size_t n) {
    if (padded(n) > size_) resize(n);
  }
  void assign(const AlignedFloats& other) {
    reserve(other.size_);
    std::memcpy(data_.get(), other.data_.get(), other.size_ * sizeof(float));
  }
  float* data() { return data_.get(); }
  const float* data() const { return data_.get(); }
  std::size_t size() const { return size_; }

 private:
  struct Free {
    void operator()(float* p) const { ::operator delete[](p, std::align_val_t{64}); }
  };
  std::unique_ptr<float[], Free> data_;
  std::size_t size_ = 0;
};

struct Example {
  // Dense models: one value per feature, padded with zeros. Sparse models: the non-zeros, in the
  // row's order, which is ascending.
  AlignedFloats dense;
  std::vector<std::uint32_t> features;
  std::vector<float> values;
  double rate = 0.0;  // learning rate of this example, see FeatureScale

  // Values that would be others had the scales not just learned from this very example: position
  // (in `dense` or `features`) and value.
  struct Change {
    std::uint32_t at;
    float before;
  };
  std::vector<Change> changes;

  // The example as prediction would have seen it a moment ago: this one, or a changed copy.
  const Example& before(Example& copy) const {
    if (changes.empty()) return *this;
    copy.features = features;
    copy.values = values;
    copy.dense.assign(dense);
    for (const Change& change : changes)
      (features.empty() ? copy.dense.data() : copy.values.data())[change.at] = change.before;
    return copy;
  }
};

}  // namespace recalltree
