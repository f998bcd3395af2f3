#include "model/kernels.hpp"

// Resolved once at load time. Plain -O3 without the popcnt instruction is several times slower.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__)
#define BITCYCLE_CLONES __attribute__((target_clones("arch=icelake-server", "avx2", "popcnt", "default")))
#else
#define BITCYCLE_CLONES
#endif

namespace bitcycle {

BITCYCLE_CLONES void popcount_row(std::uint32_t* __restrict ac, const std::uint64_t* __restrict w,
                                  std::uint64_t a, int n, int d, bool first, bool negate,
                                  std::uint32_t mask) {
  const std::uint32_t keep = first ? 0U : ~0U;
  const std::uint32_t sign = negate ? ~0U : 0U;  // -x = (x ^ ~0) + 1
  for (int c = 0; c < n; ++c) {
    const auto ones = static_cast<std::uint32_t>(__builtin_popcountll(a & w[c]));
    ac[c] = (((ac[c] & keep) << d) + (ones ^ sign) - sign) & mask;
  }
}

BITCYCLE_CLONES void product_row(std::uint32_t* __restrict ac, const std::int32_t* __restrict w,
                                 const std::int32_t* __restrict a, int lanes, int stride, int n,
                                 int d, bool first, std::uint32_t mask) {
  const std::uint32_t keep = first ? 0U : ~0U;
  for (int c = 0; c < n; ++c) ac[c] = (ac[c] & keep) << d;
  for (int l = 0; l < lanes; ++l) {
    const std::int32_t digit = a[l];
    const std::int32_t* row = w + static_cast<std::ptrdiff_t>(l) * stride;
    for (int c = 0; c < n; ++c) ac[c] += static_cast<std::uint32_t>(digit * row[c]);
  }
  for (int c = 0; c < n; ++c) ac[c] &= mask;
}

}  // namespace bitcycle
