// Scores of many vectors of bytes, once per instruction set. Products are added as whole numbers,
// exactly, and then scaled by the same two operations everywhere: all variants give the same bits.
//
// Vectors stand in blocks of kInt8Block: the first four bytes of each vector, then the next four of
// each. So a register holds a piece of every vector, and sums need not be folded. Stored bytes have
// no sign: they are values of -63 to 63 with kInt8Offset added, small enough that no pair of
// products overflows 16 bits.
#pragma once

#include <cstddef>
#include <cstdint>

namespace recalltree {

inline constexpr std::size_t kInt8Block = 16, kInt8Piece = 4;
inline constexpr int kInt8Offset = 64, kInt8Largest = 63;

// One bit for each vector of a block.
using Int8Above = std::uint16_t;

// Position of byte j of vector i in blocks of vectors of this width.
constexpr std::size_t int8_position(std::size_t i, std::size_t j, std::size_t width) {
  return i / kInt8Block * kInt8Block * width + j / kInt8Piece * kInt8Block * kInt8Piece +
         i % kInt8Block * kInt8Piece + j % kInt8Piece;
}

// A row that is compared with vectors. Bytes are -127 to 127.
struct Int8Query {
  const std::int8_t* bytes;
  float scale, bound;
  // By vector, and by block: bit i of above[b] tells that score i of block b exceeds the bound.
  float* scores;
  Int8Above* above;
};

struct Int8Kernels {
  const char* name;
  // scores[i] = query . vector i * (scales[i] * scale) + biases[i], for every query and all vectors
  // of n blocks: a register-blocked matrix product. The width is a multiple of kInt8Block; blocks,
  // scales and biases are aligned to 64 bytes.
  void (*scores)(const Int8Query* queries, std::size_t n_queries, const std::uint8_t* blocks,
                 const float* scales, const float* biases, std::size_t n, std::size_t width);
};

// Same instruction set as kernels(). Those for AVX-512 use VNNI where the processor has it.
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
