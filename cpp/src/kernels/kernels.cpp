#include "recalltree/kernels/kernels.hpp"

#include <cstdlib>
#include <stdexcept>

#if defined(RECALLTREE_X86) && defined(_MSC_VER)
#include <immintrin.h>
#include <intrin.h>
#endif

namespace recalltree {
namespace {

#if defined(RECALLTREE_X86)
#if defined(_MSC_VER)
bool cpu_has(int leaf7_ebx_bit, unsigned long long xcr0_mask) {
  int r[4];
  __cpuid(r, 0);
  if (r[0] < 7) return false;
  __cpuidex(r, 1, 0);
  if (!((r[2] >> 27) & 1) || (_xgetbv(0) & xcr0_mask) != xcr0_mask) return false;
  __cpuidex(r, 7, 0);
  return (r[1] >> leaf7_ebx_bit) & 1;
}
bool cpu_has_avx2() { return cpu_has(5, 0x6); }
bool cpu_has_avx512() {
  return cpu_has(16, 0xe6) && cpu_has(17, 0xe6) && cpu_has(30, 0xe6) && cpu_has(31, 0xe6);
}
#else
bool cpu_has_avx2() { return __builtin_cpu_supports("avx2"); }
bool cpu_has_avx512() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
}
#endif
#endif

std::vector<const Kernels*> supported() {
  std::vector<const Kernels*> all{&scalar::table()};
#if defined(RECALLTREE_X86)
  if (cpu_has_avx2()) all.push_back(&avx2::table());
  if (cpu_has_avx512()) all.push_back(&avx512::table());
#endif
  return all;
}

const Kernels& choose() {
  const auto all = supported();
  const char* wanted = std::getenv("RECALLTREE_SIMD");
  if (wanted == nullptr || *wanted == '\0') return *all.back();
  std::string names;
  for (const Kernels* k : all) {
    if (std::string(wanted) == k->name) return *k;
    names += std::string(names.empty() ? "" : ", ") + k->name;
  }
  throw std::runtime_error("RECALLTREE_SIMD=" + std::string(wanted) +
                           " is not available on this machine; use one of: " + names +
                           ", or unset it");
}

}  // namespace

const Kernels& kernels() {
  static const Kernels& chosen = choose();
  return chosen;
}

std::vector<std::string> simd_levels() {
  std::vector<std::string> names;
  for (const Kernels* k : supported()) names.emplace_back(k->name);
  return names;
}

}  // namespace recalltree
