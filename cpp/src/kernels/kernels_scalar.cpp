#include <bit>
#include <cstdint>
#include <cstring>

#include "recalltree/base/types.hpp"
#include "recalltree/kernels/kernels.hpp"

#define RECALLTREE_SCALAR 1
namespace recalltree::scalar {
namespace {
constexpr const char* kName = "scalar";
constexpr std::size_t kTileRows = 1, kTileColumns = 1;
}  // namespace
#include "recalltree/kernels/kernels_impl.hpp"
}  // namespace recalltree::scalar
