// Inner loops of the cycle-accurate core, compiled for several instruction sets at once.
#pragma once

#include <cstdint>

namespace bitcycle {

/// One clock of a row of 1x1 PEs with at most 64 lanes: for c in 0..n-1
/// ac[c] = ((first ? 0 : ac[c] << d) +- popcount(a & w[c])) & mask.
void popcount_row(std::uint32_t* ac, const std::uint64_t* w, std::uint64_t a, int n, int d,
                  bool first, bool negate, std::uint32_t mask);

/// One clock of a row of PEs of any radix: w is lane-major, w[l*stride + c]; a[l] and w are signed
/// digit values. ac[c] = ((first ? 0 : ac[c] << d) + sum over l of a[l]*w[l][c]) & mask.
void product_row(std::uint32_t* ac, const std::int32_t* w, const std::int32_t* a, int lanes,
                 int stride, int n, int d, bool first, std::uint32_t mask);

}  // namespace bitcycle
