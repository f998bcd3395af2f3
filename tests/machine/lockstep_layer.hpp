// Single layers on RTL and core in lockstep, with the formula beside them: results against golden,
// cycles, counters and traffic against the formula, and what every run must conserve.
#pragma once

#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "model/machine/memory.hpp"
#include "model/machine/timed.hpp"
#include "sim/machine_lockstep.hpp"
#include "sim/rtl_library.hpp"
#include "tests/machine/compiled_run.hpp"

namespace bitcycle::testing {

inline ConvShape conv_shape(std::uint64_t batch, std::uint64_t cin, std::uint64_t size,
                            std::uint64_t cout, std::uint64_t kernel, std::uint64_t stride = 1,
                            std::uint64_t pad = 0, std::uint64_t groups = 1,
                            std::uint64_t dilation = 1) {
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

/// A dense layer: forward M x K by N x K.
inline ConvShape dense_shape(std::uint64_t m, std::uint64_t n, std::uint64_t k) {
  return conv_shape(m, k, 1, n, 1);
}

constexpr ConvPass kAllPasses[] = {ConvPass::kForward, ConvPass::kDx, ConvPass::kDw};

/// Unsigned activations, signed weights and gradients; raw results of 48 bits with sums.
inline ConvJob layer_job_of(const ConvShape& s, ConvPass pass, int first = 4, int second = 4) {
  ConvJob j;
  j.shape = s;
  j.pass = pass;
  j.first = {first, pass != ConvPass::kForward};
  j.second = {second, pass != ConvPass::kDw};
  j.out.form = OutputForm::kRaw48;
  return j;
}

/// Beats of the result unit, seen in its registers.
struct ResultBeats {
  std::uint64_t all = 0, saved = 0, restored = 0, results = 0;
};

struct LayerRun {
  Plan plan;
  MachineRun machine;
  ResultBeats beats;
  std::uint64_t formula_cycles = 0;
  std::array<EngineCycles, kEngines> formula_engines;
  std::uint64_t formula_read_beats = 0, formula_write_beats = 0;
  std::uint64_t formula_read_bursts = 0, formula_write_bursts = 0;
  std::vector<std::pair<MachineEngine, InstructionTimes>> times;  ///< by the formula
  std::vector<std::pair<MachineEngine, std::uint64_t>> steps;     ///< engine, step of the plan
  std::string violation;                                          ///< of the AXI rules, "" if none
};

inline void check_same(const EngineCycles& got, const EngineCycles& want) {
  CHECK(got.run == want.run);
  CHECK(got.idle == want.idle);
  CHECK(got.wait_in == want.wait_in);
  CHECK(got.wait_out == want.wait_out);
}

/// Holds on every run, stalled or not.
inline void check_conservation(const LayerRun& r) {
  const PlanCost& cost = r.plan.cost();
  for (const EngineCycles& e : r.machine.engines) CHECK(e.total() == r.machine.cycles);
  CHECK(r.machine.read_beats == cost.first_beats + cost.second_beats);
  CHECK(r.machine.write_beats == cost.out_beats);
  CHECK(r.machine.engines[1].run == cost.exec_cycles);
  // Every beat of the array is saved or a result, and what is saved comes back once.
  CHECK(r.beats.all == r.beats.saved + r.beats.results);
  CHECK(r.beats.restored == r.beats.saved);
  CHECK(r.beats.saved == cost.psb_written);
  CHECK(r.beats.restored == cost.psb_read);
  CHECK(r.violation.empty());
}

/// Stall-free: the formula to the last cycle.
inline void check_exact(const LayerRun& r) {
  CHECK(r.machine.cycles == r.formula_cycles);
  for (std::size_t e = 0; e < kEngines; ++e) {
    CAPTURE(e);
    check_same(r.machine.engines[e], r.formula_engines[e]);
  }
  CHECK(r.machine.read_beats == r.formula_read_beats);
  CHECK(r.machine.write_beats == r.formula_write_beats);
  CHECK(r.machine.read_bursts == r.formula_read_bursts);
  CHECK(r.machine.write_bursts == r.formula_write_bursts);
}

/// A machine that runs layer after layer, each on a memory of its own.
class LayerBench {
 public:
  explicit LayerBench(const MachineConfig& config, std::uint64_t seed = 1)
      : config_(config),
        pair_(config, make_rtl_machine(config, RtlFlavour::kPlain, seed)),
        random_(seed) {
    for (const RegisterView& view : pair_.rtl().registers()) {
      const auto ends = [&](const std::string& tail) {
        return view.name.size() >= tail.size() &&
               view.name.compare(view.name.size() - tail.size(), tail.size(), tail) == 0;
      };
      if (ends("u_result.u_psum.valid_q")) valid_ = view;
      if (ends("u_result.ps_read_q")) read_ = view;
      if (ends("u_result.ps_write_q")) write_ = view;
    }
    REQUIRE(valid_.data != nullptr);
    REQUIRE(read_.data != nullptr);
    REQUIRE(write_.data != nullptr);
  }

  MemoryTiming timing;              ///< of the next runs
  std::optional<StallSpec> stalls;  ///< of the next runs
  int layers = 0;                   ///< run so far
  std::uint64_t cycles = 0;         ///< of all runs
  std::uint64_t elements = 0;       ///< results compared with golden

  /// Compiles and runs `job`; checks registers in every cycle, memories, results and conservation,
  /// and without stalls the formula.
  LayerRun run(const ConvJob& job, Codes codes = Codes::kRandom,
               const CompileOptions& options = {}) {
    const ConvShape& s = job.shape;
    const bool forward = job.pass == ConvPass::kForward;
    const bool dw = job.pass == ConvPass::kDw;
    const auto first = make_codes(forward ? s.x_size() : s.y_size(), job.first, codes, random_);
    const auto second = make_codes(dw ? s.x_size() : s.w_size(), job.second, codes, random_);
    const ConvSums golden = golden_conv(job.pass, s, first, second);
    Plan plan = compile(GemmProblem(config_, job), options).plan;
    DramAllocator allocator(4096);
    const std::uint64_t a = allocator.allocate(plan.problem().first.bytes());
    const std::uint64_t b = allocator.allocate(plan.problem().second.bytes());
    const std::uint64_t c = allocator.allocate(plan.result_bytes());
    plan.set_addresses(a, b, c);
    INFO(plan.describe());
    std::vector<std::uint8_t> dram(allocator.end(), 0xA5);
    pack_conv(plan, first, second, dram);
    LayerRun out{std::move(plan), {}, {}, 0, {}, 0, 0, 0, 0, {}, {}, {}};
    execute(out, dram);
    if (job.out.form == OutputForm::kCodes) {
      std::uint64_t compared = 0;
      check_codes_conv(out.plan, dram, golden, compared);
      CHECK(compared == golden.value.size());
    } else {
      check_raw_conv(out.plan, dram, golden);
    }
    check_conservation(out);
    if (!stalls) check_exact(out);
    ++layers;
    cycles += out.machine.cycles;
    elements += golden.value.size();
    return out;
  }

  /// Runs a layer's three GEMMs.
  void all_passes(const ConvShape& shape, int first = 4, int second = 4,
                  Codes codes = Codes::kRandom) {
    for (const ConvPass pass : kAllPasses) {
      INFO(to_string(pass) << " " << first << "x" << second);
      run(layer_job_of(shape, pass, first, second), codes);
    }
  }

  LockstepMachine& machine() { return pair_; }
  const MachineConfig& config() const { return config_; }
  std::mt19937_64& random() { return random_; }

 private:
  void execute(LayerRun& out, std::vector<std::uint8_t>& dram) {
    Recurrence formula(config_, timing);
    formula.trace = &out.times;
    std::vector<std::uint64_t> stream;
    out.plan.emit([&](const Instruction& i, const InstructionInfo& info) {
      const auto words = encode(i);
      stream.insert(stream.end(), words.begin(), words.end());
      const TimedInstruction t = timed(i, config_);
      formula.add(t);
      out.steps.emplace_back(t.engine, info.step);
    });
    REQUIRE(formula.settled());
    out.formula_cycles = formula.cycles();
    for (std::size_t e = 0; e < kEngines; ++e) {
      out.formula_engines[e] = formula.engine(static_cast<MachineEngine>(e));
    }
    out.formula_read_beats = formula.read_beats;
    out.formula_write_beats = formula.write_beats;
    out.formula_read_bursts = formula.read_bursts;
    out.formula_write_bursts = formula.write_bursts;

    Memory memory(config_.dw, std::make_unique<BandwidthTimer>(timing));
    if (stalls) memory.stall(*stalls);
    memory.load(0, dram.data(), dram.size());
    MachineBench bench(config_, pair_, memory);
    WordList words(std::move(stream));
    out.machine = bench.run(words, std::uint64_t{1} << 34U, [&] {
      if (bit(valid_)) {
        ++out.beats.all;
        if (bit(read_)) ++out.beats.restored;
        ++(bit(write_) ? out.beats.saved : out.beats.results);
      }
      return pair_.mismatch().has_value();
    });
    pair_.compare_memories();
    if (const auto& m = pair_.mismatch()) {
      FAIL("cycle " << m->cycle << " " << m->signal << " RTL " << m->rtl << " model " << m->model);
    }
    REQUIRE_FALSE(out.machine.halted);
    REQUIRE_FALSE(out.machine.timed_out);
    out.violation = memory.violation();
    memory.dump(0, dram.data(), dram.size());
  }
  static bool bit(const RegisterView& view) {
    return (*static_cast<const std::uint8_t*>(view.data) & 1U) != 0;
  }

  MachineConfig config_;
  LockstepMachine pair_;
  std::mt19937_64 random_;
  RegisterView valid_, read_, write_;
};

}  // namespace bitcycle::testing
