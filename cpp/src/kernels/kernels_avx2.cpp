#include <bit>
#include <cstdint>
#include <cstring>

#include "recalltree/base/types.hpp"
#include "recalltree/kernels/kernels.hpp"

#if defined(RECALLTREE_X86)
namespace recalltree::avx2 {
namespace {
constexpr const char* kName = "avx2";
constexpr std::size_t kTileRows = 2, kTileColumns = 2;  // 8 of the 16 registers hold sums
}  // namespace
#include "recalltree/kernels/kernels_impl.hpp"
}  // namespace recalltree::avx2
#endif
