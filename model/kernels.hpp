// Inner loops of the cycle-accurate core, compiled for several instruction sets at once.
#pragma once

#include <cstdint>

namespace bitcycle {

/// One clock of `rows` rows of 1x1 PEs with at most 64 lanes: for r < rows, c < n, with
/// x = ac[r*stride + c],
/// x = ((first ? 0 : x << d) +- popcount(a[r] & w[c])) & mask.
void popcount_tile(std::uint32_t* ac, int stride, const std::uint64_t* a, const std::uint64_t* w,
                   int rows, int n, int d, bool first, bool negate, std::uint32_t mask);

/// One clock of rows of PEs of any radix; a[r*lanes + l] and w[l*stride + c] are signed digit
/// values (w is lane-major):
/// x = ((first ? 0 : x << d) + sum over l < lanes of a[r*lanes + l] * w[l*stride + c]) & mask.
void product_tile(std::uint32_t* ac, int stride, const std::int32_t* a, const std::int32_t* w,
                  int lanes, int rows, int n, int d, bool first, std::uint32_t mask);

}  // namespace bitcycle
