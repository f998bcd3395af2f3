// Compiles a layer, runs its stream on the untimed machine and compares with plain loops.
#pragma once

#include <catch2/catch.hpp>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "golden/codes.hpp"
#include "golden/conv.hpp"
#include "golden/requantise.hpp"
#include "golden/widths.hpp"
#include "model/formula.hpp"
#include "model/machine/compile.hpp"
#include "model/machine/functional.hpp"
#include "model/machine/plan.hpp"

namespace bitcycle::testing {

enum class Codes { kRandom, kLow, kHigh };

inline std::vector<std::int32_t> make_codes(std::size_t count, Precision p, Codes codes,
                                            std::mt19937_64& random) {
  std::vector<std::int32_t> out(count);
  std::uniform_int_distribution<std::int32_t> any(code_min(p), code_max(p));
  for (std::int32_t& c : out) {
    c = codes == Codes::kLow ? code_min(p) : codes == Codes::kHigh ? code_max(p) : any(random);
  }
  return out;
}

inline MachineConfig machine_of(const std::string& array) {
  return machine_for(resolve_array(array));
}

struct Emitted {
  std::vector<Instruction> program;
  std::vector<InstructionInfo> info;
};

inline Emitted emit_all(const Plan& plan) {
  Emitted out;
  plan.emit([&](const Instruction& i, const InstructionInfo& info) {
    out.program.push_back(i);
    out.info.push_back(info);
  });
  return out;
}

// What the plan promised against what its stream does; every instruction survives its words.
inline void check_promises(const Plan& plan, const Emitted& emitted, const FunctionalResult& run) {
  const PlanCost& cost = plan.cost();
  const bool exchange = plan.mapping().exchange;
  CHECK(run.fetched_beats_a == (exchange ? cost.second_beats : cost.first_beats));
  CHECK(run.fetched_beats_w == (exchange ? cost.first_beats : cost.second_beats));
  CHECK(run.stored_beats == cost.out_beats);
  CHECK(run.macs_issued == cost.macs_issued);
  CHECK(run.psb_entries_written == cost.psb_written);
  CHECK(run.psb_entries_read == cost.psb_read);
  std::uint64_t fetches = 0, execs = 0, stores = 0, cycles = 0;
  const MachineConfig& config = plan.problem().config;
  for (const Instruction& i : emitted.program) {
    const std::vector<std::uint64_t> words = encode(i);
    std::size_t at = 0;
    const Instruction again = decode(words, at);
    REQUIRE(at == words.size());
    REQUIRE(disassemble(again) == disassemble(i));
    if (std::holds_alternative<FetchInstruction>(i)) ++fetches;
    if (std::holds_alternative<StoreInstruction>(i)) ++stores;
    if (const auto* e = std::get_if<ExecInstruction>(&i)) {
      ++execs;
      cycles += gemm_timing(config.array, {{e->m, e->n, e->k}, e->pa, e->pw}).cycles +
                static_cast<std::uint64_t>(config.setup_cycles()) + 5;
    }
  }
  CHECK(fetches == cost.fetches);
  CHECK(execs == cost.execs);
  CHECK(stores == cost.stores);
  CHECK(cycles == cost.exec_cycles);
}

// Places the tensors, runs the stream in every order of the engines and returns DRAM.
inline std::vector<std::uint8_t> run_plan(Plan& plan, bool first_signed, bool second_signed,
                                          const CodeAt& first, const CodeAt& second) {
  DramAllocator allocator(4096);
  const GemmProblem& p = plan.problem();
  const std::uint64_t a = allocator.allocate(p.first.bytes());
  const std::uint64_t b = allocator.allocate(p.second.bytes());
  const std::uint64_t c = allocator.allocate(plan.result_bytes());
  plan.set_addresses(a, b, c);
  std::vector<std::uint8_t> image(allocator.end(), 0xA5);
  pack_tensor(plan.problem().first, first_signed, first, image);
  pack_tensor(plan.problem().second, second_signed, second, image);
  const Emitted emitted = emit_all(plan);
  const std::optional<std::string> refused = refuse_stream(p.config, emitted.program);
  INFO((refused ? *refused : "the stream can run"));
  REQUIRE(!refused);
  std::vector<std::uint8_t> out;
  for (const FunctionalOrder order :
       {FunctionalOrder::kProgram, FunctionalOrder::kEagerFetch, FunctionalOrder::kLateFetch}) {
    std::vector<std::uint8_t> dram = image;
    FunctionalMachine machine(p.config);
    const FunctionalResult run = machine.run(emitted.program, &dram, order);
    if (order == FunctionalOrder::kProgram) {
      check_promises(plan, emitted, run);
      out = dram;
    }
    REQUIRE(dram == out);
  }
  return out;
}

struct ConvRun {
  std::vector<std::int32_t> first, second;
  ConvSums golden;
};

inline CodeAt image_code(const std::vector<std::int32_t>& codes, std::uint64_t h, std::uint64_t w,
                         std::uint64_t c) {
  return [&codes, h, w, c](std::uint64_t img, std::uint64_t y, std::uint64_t x, std::uint64_t ch) {
    return codes[((img * h + y) * w + x) * c + ch];
  };
}

inline CodeAt weight_code(const std::vector<std::int32_t>& codes, const ConvShape& s) {
  return [&codes, s](std::uint64_t ky, std::uint64_t kx, std::uint64_t n, std::uint64_t c) {
    const std::uint64_t filter = c / s.cg() * s.og() + n;
    return codes[((filter * s.kh + ky) * s.kw + kx) * s.cg() + c % s.cg()];
  };
}

// Index of the element behind (row, column) of an output block, in golden_conv's order; nothing for
// lanes that carry no channel of the group.
inline std::optional<std::size_t> golden_index(const GemmProblem& p, const OutputBlock& b,
                                               std::uint64_t r, std::uint64_t c) {
  const ConvShape& s = p.conv().shape;
  const GemmPart& part = *b.part;
  const auto u = [](std::int64_t v) { return static_cast<std::uint64_t>(v); };
  // Position of an outer space.
  const auto outer = [&](const Range3& range, std::uint64_t i) {
    const std::uint64_t n2 = u(range.n[2]), n1 = u(range.n[1]);
    return std::array<std::uint64_t, 3>{u(range.start[0]) + i / n2 / n1,
                                        u(range.start[1]) + i / n2 % n1,
                                        u(range.start[2]) + i % n2};
  };
  // Tap and channel of a mode T space; channels before or after the group's are nobody's.
  const auto lanes = [&](const OperandMap& map, const Range3& range, std::uint64_t i,
                         const TensorLayout& t, std::uint64_t first_channel,
                         std::uint64_t count) -> std::optional<std::array<std::uint64_t, 3>> {
    const std::uint64_t bit = i % map.br + map.lo;
    const auto at = outer(range, i / map.br);
    const std::uint64_t position =
        (u(map.granule.offset) + at[2]) * static_cast<std::uint64_t>(t.gl) + bit;
    for (std::uint64_t ch = first_channel; ch < first_channel + count; ++ch) {
      if (t.position(ch) == position)
        return std::array<std::uint64_t, 3>{at[0], at[1], ch - first_channel};
    }
    return std::nullopt;
  };
  const std::uint64_t g = part.group;
  if (p.conv().pass == ConvPass::kForward) {
    const auto at = outer(b.rows, r);
    return ((at[0] * s.ho() + at[1]) * s.wo() + at[2]) * s.cout + g * s.og() + u(b.cols.start[2]) +
           c;
  }
  if (p.conv().pass == ConvPass::kDx) {
    const auto at = outer(b.rows, r);
    const auto ch = lanes(part.second, b.cols, c, p.second, g * s.cg(), s.cg());
    if (!ch) return std::nullopt;
    return ((at[0] * s.hi + at[1] * s.stride_h + part.phase_y) * s.wi + at[2] * s.stride_w +
            part.phase_x) *
               s.cin +
           g * s.cg() + (*ch)[2];
  }
  const auto n = lanes(part.first, b.rows, r, p.first, g * s.og(), s.og());
  const auto ch = lanes(part.second, b.cols, c, p.second, g * s.cg(), s.cg());
  if (!n || !ch) return std::nullopt;
  return (((g * s.og() + (*n)[2]) * s.kh + (*ch)[0]) * s.kw + (*ch)[1]) * s.cg() + (*ch)[2];
}

inline void check_raw_conv(const Plan& plan, const std::vector<std::uint8_t>& dram,
                           const ConvSums& golden) {
  const GemmProblem& p = plan.problem();
  std::vector<std::int64_t> found(golden.value.size(), 0);
  std::vector<int> times(golden.value.size(), 0);
  std::vector<char> row_sums(golden.sum_a.size(), 0), col_sums(golden.sum_w.size(), 0);
  const ConvShape& s = p.conv().shape;
  const std::uint64_t taps = s.kh * s.kw * s.cg();
  std::size_t bad_sums = 0;
  read_raw(
      plan, dram,
      [&](const OutputBlock& b, std::uint64_t r, std::uint64_t c, std::int64_t value) {
        const auto index = golden_index(p, b, r, c);
        if (!index) return;
        found.at(*index) = value;
        ++times.at(*index);
      },
      [&](const OutputBlock& b, bool of_first, std::uint64_t i, std::int64_t value) {
        const auto index = golden_index(p, b, of_first ? i : 0, of_first ? 0 : i);
        // (a lane that is nobody's hides its row's or column's index only if lanes come first)
        if (!index) return;
        const std::uint64_t g = b.part->group;
        if (of_first) {
          const std::uint64_t at = p.conv().pass == ConvPass::kForward
                                       ? *index / s.cout * s.groups + g
                                   : p.conv().pass == ConvPass::kDx ? *index / s.cin * s.groups + g
                                                                    : *index / taps;
          row_sums.at(at) = 1;
          if (golden.sum_a.at(at) != value) ++bad_sums;
        } else if (p.conv().pass != ConvPass::kDx) {
          const std::uint64_t at =
              p.conv().pass == ConvPass::kForward ? *index % s.cout : g * taps + *index % taps;
          col_sums.at(at) = 1;
          if (golden.sum_w.at(at) != value) ++bad_sums;
        }
      });
  CHECK(found == golden.value);
  CHECK(std::all_of(times.begin(), times.end(), [](int t) { return t == 1; }));
  CHECK(bad_sums == 0);
  if (p.out.sums) {
    CHECK(std::all_of(row_sums.begin(), row_sums.end(), [](char c) { return c != 0; }));
    CHECK(std::all_of(col_sums.begin(), col_sums.end(), [](char c) { return c != 0; }));
  }
}

// Codes against the integer chain on golden's values and sums (dX: no zero point of A there, the
// sums of W by phase are not golden's).
inline void check_codes_conv(const Plan& plan, const std::vector<std::uint8_t>& dram,
                             const ConvSums& golden, std::uint64_t& compared) {
  const GemmProblem& p = plan.problem();
  const ConvShape& s = p.conv().shape;
  const Requantisation& q = p.out.q;
  std::size_t bad = 0;
  const auto expect = [&](std::size_t index, std::int64_t sum_a, std::int64_t sum_w,
                          std::uint32_t element, std::int32_t code) {
    if (requantise(golden.value.at(index), sum_a, sum_w, q, element) != code) ++bad;
    ++compared;
  };
  unpack_tensor(
      p.result, q.out_signed, dram,
      [&](std::uint64_t img, std::uint64_t y, std::uint64_t x, std::uint64_t c, std::int32_t code) {
        if (p.conv().pass == ConvPass::kForward) {
          const std::uint64_t pixel = (img * s.ho() + y) * s.wo() + x;
          expect(pixel * s.cout + c, golden.sum_a[pixel * s.groups + c / s.og()], golden.sum_w[c],
                 static_cast<std::uint32_t>(pixel * s.cout + c), code);
        } else if (p.conv().pass == ConvPass::kDx) {
          const std::uint64_t pixel = (img * s.hi + y) * s.wi + x;
          // Elements count phase by phase.
          std::uint64_t before = 0;
          for (std::uint64_t py = 0; py < s.stride_h; ++py) {
            for (std::uint64_t px = 0; px < s.stride_w; ++px) {
              if (py * s.stride_w + px < y % s.stride_h * s.stride_w + x % s.stride_w &&
                  py < s.hi && px < s.wi) {
                before += ((s.hi - py + s.stride_h - 1) / s.stride_h) *
                          ((s.wi - px + s.stride_w - 1) / s.stride_w);
              }
            }
          }
          const std::uint64_t rows = (s.hi - y % s.stride_h + s.stride_h - 1) / s.stride_h;
          const std::uint64_t columns = (s.wi - x % s.stride_w + s.stride_w - 1) / s.stride_w;
          const std::uint64_t number =
              before * s.batch + (img * rows + y / s.stride_h) * columns + x / s.stride_w;
          expect(pixel * s.cin + c, golden.sum_a[pixel * s.groups + c / s.cg()], 0,
                 static_cast<std::uint32_t>(number * s.cin + c), code);
        } else {
          const std::uint64_t n = c / s.cg() * s.og() + x;
          const std::uint64_t index = ((n * s.kh + img) * s.kw + y) * s.cg() + c % s.cg();
          const std::uint64_t taps = s.kh * s.kw * s.cg();
          expect(index, golden.sum_a[n], golden.sum_w[c / s.cg() * taps + index % taps], 0, code);
        }
      });
  CHECK(bad == 0);
}

/// Runs `job` on `config` under `options`; every check of this file.
inline Compiled run_conv(const MachineConfig& config, const ConvJob& job,
                         const CompileOptions& options, std::uint64_t seed,
                         Codes codes = Codes::kRandom) {
  std::mt19937_64 random(seed);
  const ConvShape& s = job.shape;
  const bool forward = job.pass == ConvPass::kForward;
  const bool dw = job.pass == ConvPass::kDw;
  ConvRun run;
  run.first = make_codes(forward ? s.x_size() : s.y_size(), job.first, codes, random);
  run.second = make_codes(dw ? s.x_size() : s.w_size(), job.second, codes, random);
  run.golden = golden_conv(job.pass, s, run.first, run.second);
  Compiled compiled = compile(GemmProblem(config, job), options);
  INFO(compiled.plan.describe());
  CHECK(compiled.time <= compiled.naive_time);
  const CodeAt first = forward ? image_code(run.first, s.hi, s.wi, s.cin)
                               : image_code(run.first, s.ho(), s.wo(), s.cout);
  const CodeAt second = dw ? image_code(run.second, s.hi, s.wi, s.cin) : weight_code(run.second, s);
  const std::vector<std::uint8_t> dram =
      run_plan(compiled.plan, job.first.is_signed, job.second.is_signed, first, second);
  if (job.out.form == OutputForm::kCodes) {
    std::uint64_t compared = 0;
    check_codes_conv(compiled.plan, dram, run.golden, compared);
    CHECK(compared == run.golden.value.size());
  } else {
    check_raw_conv(compiled.plan, dram, run.golden);
  }
  return compiled;
}

}  // namespace bitcycle::testing
