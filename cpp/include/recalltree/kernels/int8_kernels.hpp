// Dot products of vectors of bytes, once per instruction set. Whole numbers are added exactly, so
// that all variants agree by nature.
#pragma once

#include <cstddef>
#include <cstdint>

namespace recalltree {

// A multiple of this many bytes is compared at a time.
inline constexpr std::size_t kInt8Lanes = 64;

struct Int8Kernels {
  const char* name;
  // out[i] = query . (rows + i * width), for n rows one after another. Width is a multiple of
  // kInt8Lanes; both are aligned to as many bytes. No byte is -128.
  void (*dots)(const std::int8_t* query, const std::int8_t* rows, std::size_t n, std::size_t width,
               std::int32_t* out);
};

// Of the same instruction set as kernels(). Those for AVX-512 use VNNI where the processor has it.
const Int8Kernels& int8_kernels();

namespace scalar {
const Int8Kernels& int8_table();
}
#if defined(RECALLTREE_X86)
namespace avx2 {
const Int8Kernels& int8_table();
}
namespace avx512 {
const Int8Kernels& int8_table();
}
#endif

}  // namespace recalltree
