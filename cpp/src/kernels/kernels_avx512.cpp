#include <bit>
#include <cstdint>
#include <cstring>

#include "recalltree/base/types.hpp"
#include "recalltree/kernels/kernels.hpp"

#if defined(RECALLTREE_X86)
namespace recalltree::avx512 {
namespace {
constexpr const char* kName = "avx512";
constexpr std::size_t kTileRows = 4, kTileColumns = 4;  // 16 of the 32 registers hold sums
}  // namespace
#include "recalltree/kernels/kernels_impl.hpp"
}  // namespace recalltree::avx512
#endif
