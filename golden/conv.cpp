#include "golden/conv.hpp"

#include "golden/checked.hpp"
#include "golden/error.hpp"

namespace bitcycle {
namespace {

std::uint64_t output_size(std::uint64_t in, std::uint64_t kernel, std::uint64_t stride,
                          std::uint64_t pad, std::uint64_t dilation) {
  if (kernel == 0 || stride == 0) return 0;
  const std::uint64_t reach = dilation * (kernel - 1) + 1;
  return in + pad < reach ? 0 : (in + pad - reach) / stride + 1;
}

// Calls visit(x index, w index, y index, y pixel, x pixel, tap, group) for every product of real
// elements, in no order that matters: sums are exact.
template <class Visit>
void for_each_product(const ConvShape& s, Visit&& visit) {
  const std::uint64_t ho = s.ho();
  const std::uint64_t wo = s.wo();
  for (std::uint64_t b = 0; b < s.batch; ++b) {
    for (std::uint64_t oy = 0; oy < ho; ++oy) {
      for (std::uint64_t ox = 0; ox < wo; ++ox) {
        const std::uint64_t y_pixel = (b * ho + oy) * wo + ox;
        for (std::uint64_t ky = 0; ky < s.kh; ++ky) {
          const std::uint64_t iy = oy * s.stride_h + ky * s.dilation_h - s.pad_top;
          if (iy >= s.hi) continue;  // below zero wraps to a large number
          for (std::uint64_t kx = 0; kx < s.kw; ++kx) {
            const std::uint64_t ix = ox * s.stride_w + kx * s.dilation_w - s.pad_left;
            if (ix >= s.wi) continue;
            visit(y_pixel, (b * s.hi + iy) * s.wi + ix, ky * s.kw + kx);
          }
        }
      }
    }
  }
}

void check_size(const char* what, std::size_t found, std::uint64_t wanted) {
  if (found != wanted) {
    throw input_error("", 0, what, std::to_string(found) + " elements",
                      std::to_string(wanted) + " elements");
  }
}

}  // namespace

std::uint64_t ConvShape::ho() const {
  return output_size(hi, kh, stride_h, pad_top + pad_bottom, dilation_h);
}
std::uint64_t ConvShape::wo() const {
  return output_size(wi, kw, stride_w, pad_left + pad_right, dilation_w);
}

void ConvShape::validate() const {
  const auto positive = [](const char* what, std::uint64_t value) {
    if (value == 0 || value > 0xFFFF'FFFF) {
      throw input_error("", 0, what, std::to_string(value), "1 to 4294967295");
    }
  };
  positive("batch", batch);
  positive("input channels", cin);
  positive("input height", hi);
  positive("input width", wi);
  positive("output channels", cout);
  positive("kernel height", kh);
  positive("kernel width", kw);
  positive("vertical stride", stride_h);
  positive("horizontal stride", stride_w);
  positive("vertical dilation", dilation_h);
  positive("horizontal dilation", dilation_w);
  positive("groups", groups);
  if (cin % groups != 0 || cout % groups != 0) {
    throw input_error("", 0, "groups", std::to_string(groups),
                      "a divisor of the input and output channels, " + std::to_string(cin) +
                          " and " + std::to_string(cout));
  }
  if (ho() == 0 || wo() == 0) {
    throw input_error("", 0, "kernel", std::to_string(kh) + "x" + std::to_string(kw),
                      "a kernel no larger than the padded input");
  }
  constexpr u128 kMost = u128{1} << 40U;
  if (u128{batch} * hi * wi > kMost / cin || u128{cout} * kh * kw > kMost / cg() ||
      u128{batch} * ho() * wo() > kMost / cout) {
    throw input_error("", 0, "tensor", "over 2^40 elements", "at most 2^40");
  }
}

std::string to_string(ConvPass pass) {
  switch (pass) {
    case ConvPass::kForward:
      return "fwd";
    case ConvPass::kDx:
      return "dx";
    case ConvPass::kDw:
      return "dw";
  }
  return "?";
}

ConvSums golden_conv(ConvPass pass, const ConvShape& s, const std::vector<std::int32_t>& first,
                     const std::vector<std::int32_t>& second) {
  s.validate();
  const std::uint64_t cg = s.cg();
  const std::uint64_t og = s.og();
  const std::uint64_t taps = s.kh * s.kw;
  ConvSums out;
  switch (pass) {
    case ConvPass::kForward: {
      check_size("X", first.size(), s.x_size());
      check_size("W", second.size(), s.w_size());
      out.value.assign(s.y_size(), 0);
      out.sum_a.assign(s.batch * s.ho() * s.wo() * s.groups, 0);
      out.sum_w.assign(s.cout, 0);
      for_each_product(s, [&](std::uint64_t y, std::uint64_t x, std::uint64_t tap) {
        for (std::uint64_t g = 0; g < s.groups; ++g) {
          const std::int32_t* xs = &first[x * s.cin + g * cg];
          for (std::uint64_t n = g * og; n < (g + 1) * og; ++n) {
            const std::int32_t* ws = &second[(n * taps + tap) * cg];
            std::int64_t sum = 0;
            for (std::uint64_t c = 0; c < cg; ++c) sum += std::int64_t{xs[c]} * ws[c];
            out.value[y * s.cout + n] += sum;
          }
          for (std::uint64_t c = 0; c < cg; ++c) out.sum_a[y * s.groups + g] += xs[c];
        }
      });
      for (std::uint64_t n = 0; n < s.cout; ++n) {
        for (std::uint64_t i = 0; i < taps * cg; ++i) out.sum_w[n] += second[n * taps * cg + i];
      }
      break;
    }
    case ConvPass::kDx: {
      check_size("G", first.size(), s.y_size());
      check_size("W", second.size(), s.w_size());
      out.value.assign(s.x_size(), 0);
      out.sum_a.assign(s.batch * s.hi * s.wi * s.groups, 0);
      for_each_product(s, [&](std::uint64_t y, std::uint64_t x, std::uint64_t tap) {
        for (std::uint64_t g = 0; g < s.groups; ++g) {
          std::int64_t* xs = &out.value[x * s.cin + g * cg];
          for (std::uint64_t n = g * og; n < (g + 1) * og; ++n) {
            const std::int64_t code = first[y * s.cout + n];
            const std::int32_t* ws = &second[(n * taps + tap) * cg];
            for (std::uint64_t c = 0; c < cg; ++c) xs[c] += code * ws[c];
            out.sum_a[x * s.groups + g] += code;
          }
        }
      });
      break;
    }
    case ConvPass::kDw: {
      check_size("G", first.size(), s.y_size());
      check_size("X", second.size(), s.x_size());
      out.value.assign(s.w_size(), 0);
      out.sum_a.assign(s.cout, 0);
      out.sum_w.assign(s.groups * taps * cg, 0);
      for_each_product(s, [&](std::uint64_t y, std::uint64_t x, std::uint64_t tap) {
        for (std::uint64_t g = 0; g < s.groups; ++g) {
          const std::int32_t* xs = &second[x * s.cin + g * cg];
          for (std::uint64_t n = g * og; n < (g + 1) * og; ++n) {
            const std::int64_t code = first[y * s.cout + n];
            std::int64_t* ws = &out.value[(n * taps + tap) * cg];
            for (std::uint64_t c = 0; c < cg; ++c) ws[c] += code * xs[c];
          }
          for (std::uint64_t c = 0; c < cg; ++c) out.sum_w[(g * taps + tap) * cg + c] += xs[c];
        }
      });
      for (std::uint64_t i = 0; i < first.size(); ++i) out.sum_a[i % s.cout] += first[i];
      break;
    }
  }
  return out;
}

}  // namespace bitcycle
