#include <bit>
#include <cstdint>
#include <cstring>

#include "recalltree/intended_race.hpp"
#include "recalltree/kernels.hpp"
#include "recalltree/types.hpp"

#if defined(RECALLTREE_X86)
namespace recalltree::avx2 {
namespace {
constexpr const char* kName = "avx2";
constexpr std::size_t kTileRows = 2, kTileColumns = 2;  // 8 of the 16 registers hold sums
}  // namespace
#include "recalltree/kernels_impl.hpp"
}  // namespace recalltree::avx2
#endif
