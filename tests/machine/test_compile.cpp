#include <catch2/catch.hpp>

#include "model/formula.hpp"
#include "tests/machine/compiled_run.hpp"

namespace bitcycle {
namespace {

using testing::Codes;
using testing::machine_of;
using testing::run_conv;

ConvShape conv(std::uint64_t batch, std::uint64_t cin, std::uint64_t size, std::uint64_t cout,
               std::uint64_t kernel, std::uint64_t stride, std::uint64_t pad,
               std::uint64_t groups = 1, std::uint64_t dilation = 1) {
  ConvShape s;
  s.batch = batch;
  s.cin = cin;
  s.hi = s.wi = size;
  s.cout = cout;
  s.kh = s.kw = kernel;
  s.stride_h = s.stride_w = stride;
  s.pad_top = s.pad_bottom = s.pad_left = s.pad_right = pad;
  s.groups = groups;
  s.dilation_h = s.dilation_w = dilation;
  return s;
}

constexpr ConvPass kPasses[] = {ConvPass::kForward, ConvPass::kDx, ConvPass::kDw};

ConvJob job_of(const ConvShape& s, ConvPass pass, int first = 4, int second = 4) {
  ConvJob j;
  j.shape = s;
  j.pass = pass;
  j.first = {first, pass != ConvPass::kForward};
  j.second = {second, true};
  return j;
}

void all_passes(const MachineConfig& config, const ConvShape& s, int first = 4, int second = 4) {
  for (const ConvPass pass : kPasses) {
    INFO("pass " << to_string(pass));
    run_conv(config, job_of(s, pass, first, second), {}, 7);
  }
}

TEST_CASE("compiled: layers of every kind", "[machine][compile]") {
  const MachineConfig config = machine_of("ci-1x1-s4");
  struct Kind {
    const char* name;
    ConvShape shape;
  };
  ConvShape asymmetric = conv(2, 16, 8, 16, 4, 1, 0);
  asymmetric.pad_top = 1;
  asymmetric.pad_bottom = 2;
  asymmetric.pad_left = 0;
  asymmetric.pad_right = 3;
  ConvShape uneven = conv(1, 8, 9, 8, 3, 1, 1);
  uneven.wi = 5;
  uneven.kw = 1;
  uneven.stride_h = 3;
  uneven.stride_w = 2;
  const Kind kinds[] = {{"3x3", conv(2, 16, 6, 16, 3, 1, 1)},
                        {"3x3 stride 2", conv(2, 16, 7, 32, 3, 2, 1)},
                        {"3x3 stride 2 on even size", conv(1, 32, 8, 16, 3, 2, 1)},
                        {"1x1", conv(2, 32, 6, 16, 1, 1, 0)},
                        {"1x1 stride 2: phases without taps", conv(2, 32, 6, 16, 1, 2, 0)},
                        {"7x7 stride 2 padding 3 on 3 channels", conv(1, 3, 14, 16, 7, 2, 3)},
                        {"depthwise", conv(1, 32, 6, 32, 3, 1, 1, 32)},
                        {"depthwise stride 2", conv(1, 32, 6, 32, 3, 2, 1, 32)},
                        {"depthwise of 20 channels, multiplier 2", conv(1, 20, 5, 40, 3, 1, 1, 20)},
                        {"two groups", conv(1, 32, 6, 32, 3, 1, 1, 2)},
                        {"two groups of 24", conv(1, 48, 5, 48, 3, 1, 1, 2)},
                        {"two groups of 3 and 5", conv(1, 6, 5, 10, 3, 1, 1, 2)},
                        {"32 groups of 4", conv(1, 128, 4, 128, 3, 1, 1, 32)},
                        {"32 groups, 2 in, 8 out", conv(1, 64, 4, 256, 3, 2, 1, 32)},
                        {"dilated", conv(1, 16, 9, 16, 3, 1, 2, 1, 2)},
                        {"dilated and strided", conv(1, 16, 9, 16, 3, 2, 2, 1, 2)},
                        {"dilation 3, stride 2", conv(1, 16, 11, 16, 3, 2, 3, 1, 3)},
                        {"5x2x2 on 4x4", conv(5, 2, 4, 2, 2, 1, 0)},
                        {"kernel of the whole input", conv(2, 16, 4, 16, 4, 1, 0)},
                        {"stride larger than kernel", conv(1, 16, 9, 16, 2, 4, 0)},
                        {"padding only: 1x1 on 1 with padding 1", conv(1, 16, 1, 16, 1, 2, 1)},
                        {"channels 17 and 15", conv(1, 17, 5, 15, 3, 1, 1)},
                        {"one channel", conv(1, 1, 6, 1, 3, 1, 1)},
                        {"asymmetric padding, even kernel", asymmetric},
                        {"sizes, kernels and strides differ by axis", uneven}};
  for (const Kind& kind : kinds) {
    INFO(kind.name);
    all_passes(config, kind.shape);
  }
}

MachineConfig tiny(const std::string& array);

TEST_CASE("compiled: blocks that no tap reaches while the reduction is cut", "[machine][compile]") {
  // Of a 1x1 kernel with stride 3 one phase has a tap; padding makes the others longer than it.
  const MachineConfig config = tiny("ci-1x1-s4");
  run_conv(config, job_of(conv(2, 36, 5, 36, 1, 3, 1, 1, 2), ConvPass::kDx, 8, 5), {}, 3);
}

TEST_CASE("compiled: precisions", "[machine][compile]") {
  const MachineConfig config = machine_of("ci-1x8-s1");
  for (const auto& [first, second] : {std::pair(1, 1), std::pair(1, 8), std::pair(3, 5),
                                      std::pair(8, 8), std::pair(16, 2), std::pair(9, 16)}) {
    INFO(first << " x " << second);
    all_passes(config, conv(1, 20, 6, 12, 3, 2, 1), first, second);
  }
}

TEST_CASE("compiled: the smallest and the greatest code everywhere", "[machine][compile]") {
  const MachineConfig config = machine_of("ci-4x4-s1");
  for (const Codes codes : {Codes::kLow, Codes::kHigh}) {
    for (const ConvPass pass : kPasses) {
      ConvJob j = job_of(conv(1, 16, 6, 16, 3, 1, 1), pass, 8, 8);
      run_conv(config, j, {}, 1, codes);
      j.out.form = OutputForm::kRaw48;
      j.first.bits = j.second.bits = 16;
      run_conv(config, j, {}, 1, codes);
    }
  }
}

// Buffers so small that rows, columns and reduction are all cut.
MachineConfig tiny(const std::string& array) {
  MachineConfig c = machine_of(array);
  c.l1a_d = 32;
  c.l1w_d = 128;
  c.ob_d = 512;
  c.ps_d = 64;
  return c;
}

TEST_CASE("compiled: buffers that force blocks in every dimension", "[machine][compile]") {
  for (const char* array : {"ci-1x1-s4", "ci-4x4-s1"}) {
    for (const ConvShape& s : {conv(2, 48, 5, 40, 3, 1, 1), conv(1, 32, 6, 32, 3, 2, 1),
                               conv(1, 32, 5, 32, 3, 1, 1, 2), conv(1, 40, 5, 24, 5, 1, 2)}) {
      for (const ConvPass pass : kPasses) {
        INFO(array << " " << to_string(pass));
        const Compiled c = run_conv(tiny(array), job_of(s, pass), {}, 3);
        CHECK(c.plan.cost().execs > 8);
      }
    }
  }
  const Compiled k = run_conv(tiny("ci-1x1-s4"),
                              job_of(conv(1, 96, 3, 8, 3, 1, 1), ConvPass::kForward, 8, 8), {}, 3);
  CHECK(k.plan.cost().psb_written > 0);
}

TEST_CASE("compiled: expanded gradients for the host's col2im", "[machine][compile]") {
  const MachineConfig config = machine_of("ci-1x1-s4");
  for (const ConvShape& s : {conv(1, 16, 6, 20, 3, 1, 1), conv(1, 8, 6, 16, 3, 2, 1, 2)}) {
    ConvJob j = job_of(s, ConvPass::kDx);
    j.dx_as_gemm = true;
    std::mt19937_64 random(11);
    const auto g = testing::make_codes(s.y_size(), j.first, Codes::kRandom, random);
    const auto w = testing::make_codes(s.w_size(), j.second, Codes::kRandom, random);
    Compiled compiled = compile(GemmProblem(config, j));
    const auto dram = testing::run_plan(compiled.plan, true, true,
                                        image_code(g, s.ho(), s.wo(), s.cout), weight_code(w, s));
    // col2im, here: every product goes to the input that its tap reads.
    std::vector<std::int64_t> dx(s.x_size(), 0);
    read_raw(
        compiled.plan, dram,
        [&](const OutputBlock& b, std::uint64_t r, std::uint64_t c, std::int64_t value) {
          const GemmPart& part = *b.part;
          const auto u = [](std::int64_t v) { return static_cast<std::uint64_t>(v); };
          const std::uint64_t ox = u(b.rows.start[2]) + r % u(b.rows.n[2]);
          const std::uint64_t oy = u(b.rows.start[1]) + r / u(b.rows.n[2]) % u(b.rows.n[1]);
          const std::uint64_t img = u(b.rows.start[0]) + r / u(b.rows.n[2]) / u(b.rows.n[1]);
          const std::uint64_t lane = c % part.second.br;
          const std::uint64_t tap = c / part.second.br;
          const std::uint64_t granule = u(b.cols.start[2]) + tap % u(b.cols.n[2]);
          const std::uint64_t kx = u(b.cols.start[1]) + tap / u(b.cols.n[2]) % u(b.cols.n[1]);
          const std::uint64_t ky = u(b.cols.start[0]) + tap / u(b.cols.n[2]) / u(b.cols.n[1]);
          const std::uint64_t ch = granule * 16 + lane;
          const std::uint64_t iy = oy * s.stride_h + ky - s.pad_top;
          const std::uint64_t ix = ox * s.stride_w + kx - s.pad_left;
          if (ch >= s.cg() || iy >= s.hi || ix >= s.wi) return;
          dx[((img * s.hi + iy) * s.wi + ix) * s.cin + part.group * s.cg() + ch] += value;
        },
        [](const OutputBlock&, bool, std::uint64_t, std::int64_t) {});
    CHECK(dx == golden_conv(ConvPass::kDx, s, g, w).value);
  }
}

TEST_CASE("compiled: requantised codes", "[machine][compile]") {
  for (const bool small : {false, true}) {
    const MachineConfig config = small ? tiny("ci-1x1-s4") : machine_of("ci-1x1-s4");
    for (const ConvShape& s :
         {conv(2, 16, 6, 32, 3, 1, 1), conv(1, 20, 8, 24, 3, 2, 1), conv(1, 32, 6, 16, 1, 2, 0),
          conv(1, 16, 6, 16, 3, 1, 1, 16), conv(1, 32, 5, 64, 3, 1, 1, 2)}) {
      for (const ConvPass pass : kPasses) {
        if (pass == ConvPass::kDw && s.groups == 16) continue;  // refused: groups share granules
        for (const Rounding rounding : {Rounding::kNearestEven, Rounding::kStochastic}) {
          if (pass == ConvPass::kDw && rounding == Rounding::kStochastic) continue;
          INFO(to_string(pass) << (small ? " tiny" : "") << " groups " << s.groups);
          ConvJob j = job_of(s, pass);
          j.out.form = OutputForm::kCodes;
          j.out.q.mult = 311;
          j.out.q.shift = 12;
          j.out.q.out_bits = 5;
          j.out.q.out_signed = true;
          j.out.q.rounding = rounding;
          j.out.q.seed = 99;
          j.out.q.za = pass == ConvPass::kDx ? 0 : 3;
          j.out.q.zw = -2;
          j.out.q.zout = 1;
          run_conv(config, j, {}, 5);
        }
      }
    }
  }
}

TEST_CASE("compiled: operands exchanged give the same results", "[machine][compile]") {
  const MachineConfig config = machine_of("ci-1x1-s4");
  for (const ConvPass pass : kPasses) {
    for (const OutputForm form : {OutputForm::kRaw32, OutputForm::kCodes}) {
      ConvJob j = job_of(conv(1, 16, 6, 24, 3, 2, 1), pass, 3, 6);
      j.out.form = form;
      j.out.q.za = pass == ConvPass::kDx ? 0 : 5;
      j.out.q.zw = 7;
      j.out.q.shift = 3;
      CompileOptions options;
      Mapping m = naive_mapping(GemmProblem(config, j));
      m.exchange = true;
      options.mapping = m;
      run_conv(config, j, options, 8);
    }
  }
}

TEST_CASE("compiled: random layers", "[machine][compile]") {
  const std::uint64_t seed = 20261130;
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  const auto pick = [&](std::uint64_t low, std::uint64_t high) {
    return std::uniform_int_distribution<std::uint64_t>(low, high)(random);
  };
  const char* const arrays[] = {"ci-1x1-s1", "ci-1x1-s4", "ci-1x8-s1", "ci-2x2-s4", "ci-4x4-s1"};
  int done = 0, refused = 0;
  for (int i = 0; i < 200; ++i) {
    MachineConfig config = machine_of(arrays[pick(0, 4)]);
    config.dw = 32 << pick(0, 2);
    config.l1a_d = 32 << pick(0, 4);
    config.l1w_d = 32 << pick(0, 4);
    config.ob_d = 64 << pick(0, 5);
    config.ps_d = 8 << pick(0, 5);
    config.qd = 1 << pick(0, 2);
    ConvShape s;
    s.groups = pick(0, 3) == 0 ? pick(1, 5) : 1;
    s.batch = pick(1, 3);
    s.cin = s.groups * pick(1, s.groups == 1 ? 40 : 12);
    s.cout = s.groups * pick(1, s.groups == 1 ? 40 : 12);
    s.hi = pick(1, 8);
    s.wi = pick(1, 8);
    s.kh = pick(1, 4);
    s.kw = pick(1, 4);
    s.stride_h = pick(1, 3);
    s.stride_w = pick(1, 3);
    s.dilation_h = pick(1, 2);
    s.dilation_w = pick(1, 3);
    s.pad_top = pick(0, 2);
    s.pad_bottom = pick(0, 2);
    s.pad_left = pick(0, 3);
    s.pad_right = pick(0, 2);
    if (s.ho() == 0 || s.wo() == 0) continue;
    ConvJob j =
        job_of(s, kPasses[pick(0, 2)], static_cast<int>(pick(1, 9)), static_cast<int>(pick(1, 9)));
    j.first.is_signed = pick(0, 1) == 1;
    j.second.is_signed = pick(0, 1) == 1;
    const std::uint64_t form = pick(0, 2);
    j.out.form = form == 0   ? OutputForm::kRaw48
                 : form == 1 ? OutputForm::kRaw32
                             : OutputForm::kCodes;
    j.out.sums = pick(0, 1) == 1;
    j.out.q.shift = static_cast<int>(pick(0, 8));
    j.out.q.out_bits = static_cast<int>(pick(1, 9));
    j.out.q.mult = static_cast<std::uint16_t>(pick(1, 300));
    INFO("layer " << i);
    try {
      GemmProblem problem(config, j);
      INFO(problem.name << " " << j.first.bits << "x" << j.second.bits << " dw " << config.dw
                        << " L1 " << config.l1a_d << " " << config.l1w_d << " OB " << config.ob_d
                        << " PS " << config.ps_d);
      naive_mapping(problem);
      CompileOptions options;
      options.exchange = pick(0, 1) == 1;
      options.exhaustive = pick(0, 1) == 1 ? 4096 : 0;
      run_conv(config, j, options, pick(0, 1 << 20));
      ++done;
    } catch (const InputError&) {
      ++refused;  // does not fit in the smallest blocks, or codes of shared granules
    }
  }
  WARN("random layers: " << done << " run, " << refused << " refused");
  CHECK(done > 100);
}

}  // namespace
}  // namespace bitcycle
