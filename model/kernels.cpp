#include "model/kernels.hpp"

#include <cstddef>

// GCC's target_clones cannot ask for AVX-512 popcounts except by naming a processor that it knows,
// so the choice is made here, once, by what the processor can do. Plain -O3 without the popcnt
// instruction is several times slower.
#if defined(__x86_64__)
#define BITCYCLE_INLINE inline __attribute__((always_inline))
#define BITCYCLE_TARGET(features) __attribute__((target(features)))
#else
#define BITCYCLE_INLINE inline
#endif

namespace bitcycle {
namespace {

constexpr int kBlock = 16;  // columns at once: a vector register of 32-bit accumulators

BITCYCLE_INLINE std::uint32_t popcount_step(std::uint32_t ac, std::uint64_t products, int d,
                                            std::uint32_t keep, std::uint32_t sign,
                                            std::uint32_t mask) {
  const auto ones = static_cast<std::uint32_t>(__builtin_popcountll(products));
  return (((ac & keep) << d) + (ones ^ sign) - sign) & mask;  // -x = (x ^ ~0) + 1
}

BITCYCLE_INLINE void popcount_body(std::uint32_t* __restrict ac, int stride,
                                   const std::uint64_t* __restrict a,
                                   const std::uint64_t* __restrict w, int rows, int n, int d,
                                   bool first, bool negate, std::uint32_t mask) {
  const std::uint32_t keep = first ? 0U : ~0U;
  const std::uint32_t sign = negate ? ~0U : 0U;
  for (int r = 0; r < rows; ++r) {
    std::uint32_t* row = ac + static_cast<std::ptrdiff_t>(r) * stride;
    const std::uint64_t digit = a[r];
    int c = 0;
    for (; c + kBlock <= n; c += kBlock) {
      for (int i = 0; i < kBlock; ++i) {
        row[c + i] = popcount_step(row[c + i], digit & w[c + i], d, keep, sign, mask);
      }
    }
    for (; c < n; ++c) row[c] = popcount_step(row[c], digit & w[c], d, keep, sign, mask);
  }
}

// Columns c .. c+width-1 of one row, their sums in registers.
template <int width>
BITCYCLE_INLINE void product_block(std::uint32_t* __restrict ac, int stride,
                                   const std::int32_t* __restrict a,
                                   const std::int32_t* __restrict w, int lanes, int d,
                                   std::uint32_t keep, std::uint32_t mask) {
  std::uint32_t sum[width];
  for (int i = 0; i < width; ++i) sum[i] = (ac[i] & keep) << d;
  for (int l = 0; l < lanes; ++l) {
    const std::int32_t* lane = w + static_cast<std::ptrdiff_t>(l) * stride;
    for (int i = 0; i < width; ++i) sum[i] += static_cast<std::uint32_t>(a[l] * lane[i]);
  }
  for (int i = 0; i < width; ++i) ac[i] = sum[i] & mask;
}

BITCYCLE_INLINE void product_body(std::uint32_t* __restrict ac, int stride,
                                  const std::int32_t* __restrict a,
                                  const std::int32_t* __restrict w, int lanes, int rows, int n,
                                  int d, bool first, std::uint32_t mask) {
  const std::uint32_t keep = first ? 0U : ~0U;
  for (int r = 0; r < rows; ++r) {
    std::uint32_t* row = ac + static_cast<std::ptrdiff_t>(r) * stride;
    const std::int32_t* digits = a + static_cast<std::ptrdiff_t>(r) * lanes;
    int c = 0;
    for (; c + kBlock <= n; c += kBlock) {
      product_block<kBlock>(row + c, stride, digits, w + c, lanes, d, keep, mask);
    }
    for (; c + 4 <= n; c += 4)
      product_block<4>(row + c, stride, digits, w + c, lanes, d, keep, mask);
    for (; c < n; ++c) product_block<1>(row + c, stride, digits, w + c, lanes, d, keep, mask);
  }
}

struct Kernels {
  decltype(&popcount_tile) popcount;
  decltype(&product_tile) product;
};

void popcount_plain(std::uint32_t* ac, int stride, const std::uint64_t* a, const std::uint64_t* w,
                    int rows, int n, int d, bool first, bool negate, std::uint32_t mask) {
  popcount_body(ac, stride, a, w, rows, n, d, first, negate, mask);
}
void product_plain(std::uint32_t* ac, int stride, const std::int32_t* a, const std::int32_t* w,
                   int lanes, int rows, int n, int d, bool first, std::uint32_t mask) {
  product_body(ac, stride, a, w, lanes, rows, n, d, first, mask);
}

#if defined(__x86_64__)
// Each set of features in two functions of its own.
#define BITCYCLE_KERNELS(name, features)                                                           \
  BITCYCLE_TARGET(features)                                                                        \
  void popcount_##name(std::uint32_t* ac, int stride, const std::uint64_t* a,                      \
                       const std::uint64_t* w, int rows, int n, int d, bool first, bool negate,    \
                       std::uint32_t mask) {                                                       \
    popcount_body(ac, stride, a, w, rows, n, d, first, negate, mask);                              \
  }                                                                                                \
  BITCYCLE_TARGET(features)                                                                        \
  void product_##name(std::uint32_t* ac, int stride, const std::int32_t* a, const std::int32_t* w, \
                      int lanes, int rows, int n, int d, bool first, std::uint32_t mask) {         \
    product_body(ac, stride, a, w, lanes, rows, n, d, first, mask);                                \
  }

BITCYCLE_KERNELS(avx512, "avx512f,avx512vl,avx512bw,avx512dq,avx512vpopcntdq,popcnt")
BITCYCLE_KERNELS(avx2, "avx2,popcnt")
BITCYCLE_KERNELS(popcnt, "popcnt")
#undef BITCYCLE_KERNELS
#endif

Kernels pick() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512vpopcntdq") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq")) {
    return {popcount_avx512, product_avx512};
  }
  if (__builtin_cpu_supports("avx2")) return {popcount_avx2, product_avx2};
  if (__builtin_cpu_supports("popcnt")) return {popcount_popcnt, product_popcnt};
#endif
  return {popcount_plain, product_plain};
}

const Kernels kKernels = pick();

}  // namespace

void popcount_tile(std::uint32_t* ac, int stride, const std::uint64_t* a, const std::uint64_t* w,
                   int rows, int n, int d, bool first, bool negate, std::uint32_t mask) {
  kKernels.popcount(ac, stride, a, w, rows, n, d, first, negate, mask);
}

void product_tile(std::uint32_t* ac, int stride, const std::int32_t* a, const std::int32_t* w,
                  int lanes, int rows, int n, int d, bool first, std::uint32_t mask) {
  kKernels.product(ac, stride, a, w, lanes, rows, n, d, first, mask);
}

}  // namespace bitcycle
