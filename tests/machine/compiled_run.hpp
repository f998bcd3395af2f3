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
#include "model/machine/conv_data.hpp"
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

inline void check_raw_conv(const Plan& plan, const std::vector<std::uint8_t>& dram,
                           const ConvSums& golden) {
  const ConvSums found = unpack_conv(plan, dram);
  CHECK(found.value == golden.value);
  if (!plan.problem().out.sums) return;
  CHECK(found.sum_a == golden.sum_a);
  if (plan.problem().conv().pass != ConvPass::kDx) CHECK(found.sum_w == golden.sum_w);
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
