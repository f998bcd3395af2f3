#include <catch2/catch.hpp>
#include <cstring>
#include <random>

#include "model/machine/exec.hpp"
#include "tests/machine/gather_cases.hpp"

namespace bitcycle {
namespace {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  std::uint64_t word() { return engine_(); }
  std::uint64_t bits(int width) { return engine_() >> (64 - width); }
  std::uint64_t below(std::uint64_t count) { return engine_() % count; }
  int range(int low, int high) {
    return low + static_cast<int>(below(static_cast<std::uint64_t>(high - low) + 1));
  }
  bool chance(int percent) { return below(100) < static_cast<std::uint64_t>(percent); }

 private:
  std::mt19937_64 engine_;
};

// A tensor in words of `gl` lanes as DRAM and buffers hold it, and its codes in plain form.
struct Tensor {
  int images, height, width, channels, planes, gl;
  std::vector<std::uint32_t> codes;  ///< [image][y][x][channel]

  int granules() const { return (channels + gl - 1) / gl; }
  int line() const { return width * planes; }  ///< words; no padding to whole beats here
  int image() const { return height * line(); }
  int granule() const { return images * image(); }
  std::uint32_t code(int n, int y, int x, int c) const {
    return codes[static_cast<std::size_t>(((n * height + y) * width + x) * channels + c)];
  }
  void store(OperandMemory& memory, int base, int dw) const {
    std::vector<std::uint64_t> bits(static_cast<std::size_t>(base + granules() * granule()) *
                                        static_cast<std::size_t>(gl) / 64 +
                                    64);
    for (int n = 0; n < images; ++n)
      for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
          for (int c = 0; c < channels; ++c)
            for (int p = 0; p < planes; ++p) {
              const int word =
                  base + c / gl * granule() + n * image() + y * line() + x * planes + p;
              put_bits(bits.data(), static_cast<std::size_t>(word * gl + c % gl), 1,
                       code(n, y, x, c) >> (planes - 1 - p) & 1U);
            }
    const auto beat = static_cast<std::size_t>(dw / 64);
    for (std::size_t at = 0; (at + 1) * beat <= bits.size(); ++at) {
      memory.write(static_cast<std::uint32_t>(at), &bits[at * beat]);
    }
  }
};

Tensor random_tensor(Random& random, int gl) {
  Tensor t{random.range(1, 3),
           random.range(1, 6),
           random.range(1, 6),
           random.range(1, 2 * gl + 1),
           random.range(1, 5),
           gl,
           {}};
  t.codes.resize(static_cast<std::size_t>(t.images * t.height * t.width * t.channels));
  for (auto& code : t.codes) code = static_cast<std::uint32_t>(random.bits(t.planes));
  return t;
}

}  // namespace

TEST_CASE("the address rule is an unfolded convolution, along both dimensions of the tensor") {
  const std::uint64_t seed = std::random_device{}();
  CAPTURE(seed);
  Random random(seed);
  std::uint64_t ones = 0, padded = 0;
  for (int repeat = 0; repeat < 60; ++repeat) {
    const int gl = 1 << random.range(0, 4);
    const Tensor t = random_tensor(random, gl);
    OperandMemory memory(1 << 12, 64, gl);
    const int base = random.range(0, 100);
    t.store(memory, base, 64);
    const int kernel = random.range(1, 3), stride = random.range(1, 2),
              dilation = random.range(1, 2);
    const int pad = random.range(0, 2);
    const int reach = dilation * (kernel - 1) + 1;
    const int out_h = (t.height + 2 * pad - reach) / stride + 1;
    const int out_w = (t.width + 2 * pad - reach) / stride + 1;
    if (t.height + 2 * pad < reach || t.width + 2 * pad < reach) continue;
    CAPTURE(gl, t.images, t.height, t.width, t.channels, t.planes, kernel, stride, dilation, pad);

    OperandGather s;
    s.base = static_cast<std::uint32_t>(base);
    s.r0 = static_cast<std::uint32_t>(out_w);
    s.r1 = static_cast<std::uint32_t>(out_h);
    s.a0 = stride * t.planes;
    s.a1 = stride * t.line();
    s.a2 = t.image();
    s.h = static_cast<std::uint32_t>(t.height);
    s.w = static_cast<std::uint32_t>(t.width);
    s.sy = s.sx = stride;
    s.y0 = s.x0 = -pad;
    s.base -= static_cast<std::uint32_t>(pad * (t.line() + t.planes));  // pixel (-pad, -pad)
    s.dy = s.dx = dilation;
    s.kb0 = static_cast<std::uint32_t>(kernel);
    s.cg = static_cast<std::uint32_t>(t.granules());
    s.br = static_cast<std::uint32_t>(gl);
    s.b0 = dilation * t.planes;
    s.b1 = dilation * t.line();
    s.sc = t.granule();
    s.hi = static_cast<std::uint32_t>((t.channels - 1) % gl + 1);

    const int pixels = t.images * out_h * out_w;
    const int taps = kernel * kernel * t.granules() * gl;
    for (int pixel = 0; pixel < pixels; ++pixel) {
      for (int tap = 0; tap < taps; ++tap) {
        const int c = tap % (t.granules() * gl), kx = tap / (t.granules() * gl) % kernel;
        const int ky = tap / (t.granules() * gl) / kernel;
        const int y = pixel / out_w % out_h * stride + ky * dilation - pad;
        const int x = pixel % out_w * stride + kx * dilation - pad;
        const bool inside = y >= 0 && y < t.height && x >= 0 && x < t.width;
        const std::uint32_t code =
            inside && c < t.channels ? t.code(pixel / out_w / out_h, y, x, c) : 0;
        padded += inside ? 0 : 1;
        for (int p = 0; p < t.planes; ++p) {
          const std::uint64_t expected = code >> (t.planes - 1 - p) & 1U;
          const auto i = static_cast<std::uint64_t>(pixel), k = static_cast<std::uint64_t>(tap);
          s.transposed = false;
          REQUIRE(gather_bit(s, memory, gl, i, k, i + 1, k + 1, p) == expected);
          REQUIRE(gather_bit(s, memory, gl, i, k, i, k + 1, p) == 0);
          REQUIRE(gather_bit(s, memory, gl, i, k, i + 1, k, p) == 0);
          s.transposed = true;  // row = tap, reduction = pixel: the lane after the last is stored 0
          REQUIRE(gather_bit(s, memory, gl, k, i, k + 1, i + 1, p) == expected);
          ones += expected;
        }
      }
    }
  }
  CHECK(ones > 1000);
  CHECK(padded > 1000);
}

TEST_CASE("the fast gather sends the beats of the address rule") {
  struct Sizes {
    int kl, gl, tm, tn, ba, bw, dw;
  };
  const Sizes sizes = GENERATE(Sizes{16, 16, 4, 4, 4, 4, 64}, Sizes{64, 16, 16, 16, 8, 8, 512},
                               Sizes{1, 1, 16, 16, 128, 128, 512}, Sizes{8, 8, 16, 16, 16, 64, 512},
                               Sizes{4, 4, 4, 2, 16, 1, 32}, Sizes{32, 16, 2, 8, 8, 16, 128},
                               Sizes{256, 16, 2, 1, 4, 1, 64}, Sizes{1, 1, 1, 1, 1, 2, 8},
                               Sizes{2, 2, 8, 4, 2, 64, 8}, Sizes{16, 16, 2, 4, 8, 1, 1024});
  const std::uint64_t seed = std::random_device{}();
  CAPTURE(seed, sizes.kl, sizes.tm, sizes.ba);
  Random random(seed);
  MachineConfig c;
  c.array.kl = sizes.kl;
  c.array.tm = sizes.tm;
  c.array.tn = sizes.tn;
  c.array.ba = sizes.ba;
  c.array.bw = sizes.bw;
  c.gl = sizes.gl;
  c.dw = sizes.dw;
  c.l1a_d = c.l1w_d = 128;
  ExecUnit unit(c);
  gather_cases::Oracle a(c, true), w(c, false);

  std::vector<std::uint64_t> line(static_cast<std::size_t>(c.dw + 63) / 64);
  const auto write = [&](ExecStep& in, std::uint32_t beat) {
    for (auto& word : line) word = random.word();
    in.l1a_write = in.l1w_write = true;
    in.l1a_beat = in.l1w_beat = beat;
    in.l1_data = line.data();
    a.memory().write(beat, line.data());
    w.memory().write(beat, line.data());
  };
  for (std::uint32_t beat = 0; beat < 128; ++beat) {
    ExecStep in;
    write(in, beat);
    unit.step(in);
  }
  const std::size_t a_bits = static_cast<std::size_t>(c.array.ba * c.array.kl);
  const std::size_t w_bits = static_cast<std::size_t>(c.array.bw * c.array.kl);
  const auto same = [](const std::uint64_t* x, const std::vector<std::uint64_t>& y, std::size_t n) {
    return std::memcmp(x, y.data(), (n + 63) / 64 * 8) == 0;
  };
  for (int repeat = 0; repeat < 12; ++repeat) {
    const ExecInstruction instruction = gather_cases::any_instruction(random, c);
    const auto words = encode(instruction);
    ExecStep in;
    in.start = true;
    in.inst = words.data();
    unit.step(in);
    int set_up = 0;
    while (!unit.desc_valid()) {
      REQUIRE_FALSE(unit.err());
      REQUIRE(++set_up <= c.setup_cycles());
      unit.step({});
    }
    REQUIRE(set_up == c.setup_cycles());
    in = {};
    in.desc_ready = true;
    unit.step(in);
    a.start(instruction);
    w.start(instruction);
    while (a.valid() || w.valid()) {
      REQUIRE(unit.a_valid() == a.valid());
      REQUIRE(unit.w_valid() == w.valid());
      in = {};
      in.a_ready = random.chance(80);
      in.w_ready = random.chance(80);
      if (a.valid() && in.a_ready) {
        REQUIRE(same(unit.a_beat(), a.beat(), a_bits));
        a.taken();
      }
      if (w.valid() && in.w_ready) {
        REQUIRE(same(unit.w_beat(), w.beat(), w_bits));
        w.taken();
      }
      if (random.chance(10)) write(in, static_cast<std::uint32_t>(random.below(128)));
      unit.step(in);
    }
    REQUIRE_FALSE(unit.a_valid());
    REQUIRE_FALSE(unit.w_valid());
  }
}

TEST_CASE("exec drops an illegal instruction in the cycle after its start") {
  const std::uint64_t seed = std::random_device{}();
  CAPTURE(seed);
  Random random(seed);
  const MachineConfig c = machine_for(ci_configs().front());
  ExecUnit unit(c);
  int illegal = 0;
  for (int repeat = 0; repeat < 300; ++repeat) {
    ExecInstruction instruction = gather_cases::any_instruction(random, c);
    gather_cases::break_something(random, c, instruction);
    const auto cause = cause_of(instruction, c);  // none: the field does not matter here
    const auto words = encode(instruction);
    ExecStep in;
    in.start = true;
    in.inst = words.data();
    in.desc_ready = true;
    unit.step(in);
    REQUIRE(unit.cause() == cause);
    REQUIRE(unit.err() == (cause != layout::MachineCause::kNone));
    if (unit.err()) {
      ++illegal;
      in.start = false;
      for (int cycle = 0; cycle < 12; ++cycle) {
        REQUIRE_FALSE(unit.desc_valid());
        unit.step(in);
        REQUIRE_FALSE(unit.err());
        REQUIRE_FALSE(unit.a_valid());
      }
    } else {
      unit.reset();
    }
  }
  CHECK(illegal > 100);
}

}  // namespace bitcycle
