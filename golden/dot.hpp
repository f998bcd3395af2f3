// The accumulation kernel under every exact result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "golden/checked.hpp"

namespace bitcycle {

/// sum over k of a[k] * w[k], exact for 32-bit codes of any length and, while the sum itself stays
/// below 2^127, for 64-bit ones. Always 128 bits: on a 64-bit machine the wide addition is as fast
/// as the 64-bit one (the multiplier is the limit), so no width rule decides anything here.
template <typename Code>
i128 exact_dot(const Code* a, const Code* w, std::size_t k) {
  // Two 32-bit codes multiply in 64 bits; only wider ones need the long product.
  using Product = std::conditional_t<sizeof(Code) <= 4, std::int64_t, i128>;
  i128 sum = 0;
  for (std::size_t i = 0; i < k; ++i) sum += static_cast<Product>(a[i]) * w[i];
  return sum;
}

}  // namespace bitcycle
