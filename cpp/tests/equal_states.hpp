// States are compared to the bit.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdio>
#include <cstring>

#include "recalltree/base/state.hpp"

namespace recalltree {

// Bytes of each kind of array.
inline std::size_t element_size(char kind) {
  return kind == 'd' || kind == 'Q' ? 8 : kind == 'f' || kind == 'I' ? 4 : kind == 'B' ? 1 : 2;
}

inline void check_equal(const State& a, const State& b) {
  assert(a.arrays.size() == b.arrays.size());
  for (const auto& [name, array] : a.arrays) {
    const Array& other = b.array(name);
    const bool same = array.size == other.size &&
                      (array.size == 0 || std::memcmp(array.data, other.data,
                                                      array.size * element_size(array.kind)) == 0);
    if (!same) std::printf("%s differs\n", name.c_str());
    assert(same);
  }
}

}  // namespace recalltree
