#include "sim/machine_listing.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>
#include <vector>

#include "golden/error.hpp"
#include "model/machine/timed.hpp"

namespace bitcycle {
namespace {

constexpr std::uint64_t kMost = 20'000;

MachineEngine engine_of(const Instruction& instruction) {
  if (std::holds_alternative<FetchInstruction>(instruction)) return MachineEngine::kFetch;
  if (std::holds_alternative<StoreInstruction>(instruction)) return MachineEngine::kStore;
  return MachineEngine::kExec;
}

// Later lines of a disassembly stand below the first one.
std::string indented(const std::string& text, std::size_t blanks) {
  std::string out;
  for (const char c : text) {
    out += c;
    if (c == '\n') out += std::string(blanks, ' ');
  }
  return out;
}

std::string plan_listing(const Plan& plan, const MachineConfig& config,
                         const MemoryTiming& memory) {
  const PlanCost& cost = plan.cost();
  const std::uint64_t count = cost.execs + cost.fetches + cost.stores;
  if (count > kMost) {
    throw input_error("", 0, "--instructions", std::to_string(count) + " instructions in a GEMM",
                      "at most " + std::to_string(kMost) + ": a smaller --batch");
  }
  std::vector<Instruction> program;
  std::vector<std::pair<MachineEngine, InstructionTimes>> trace;
  Recurrence time(config, memory);
  time.trace = &trace;
  plan.emit([&](const Instruction& i, const InstructionInfo&) {
    program.push_back(i);
    time.add(timed(i, config));
  });
  if (!time.settled()) throw InputError("the instruction stream stops: " + time.stuck());
  // Each engine takes its instructions in program order.
  std::array<std::vector<InstructionTimes>, 3> times;
  for (const auto& [engine, t] : trace) times[static_cast<std::size_t>(engine)].push_back(t);
  std::array<std::size_t, 3> next{};
  std::string out = fmt::format("{} instructions, {} cycles\n{:>9} {:>9} {:>9}  instruction\n",
                                program.size(), time.cycles(), "push", "start", "done");
  for (const Instruction& i : program) {
    const auto e = static_cast<std::size_t>(engine_of(i));
    const InstructionTimes& t = times[e].at(next[e]++);
    std::string text = disassemble(i);
    while (!text.empty() && text.back() == '\n') text.pop_back();
    out += fmt::format("{:>9} {:>9} {:>9}  {}\n", t.pushed, t.start, t.done, indented(text, 31));
  }
  return out;
}

}  // namespace

std::string run_listing(const RunResult& result) {
  const RunRequest& q = result.request;
  const Layer& layer = q.network.layers.front();
  const MachineConfig& config = q.options.machine;
  const CompileOptions compiling = compile_options(q.options);
  std::string out;
  for (const GemmKind kind : {GemmKind::kForward, GemmKind::kDx, GemmKind::kDw}) {
    const LayerJob job = layer_job(layer, kind, q.batch, q.bits, q.options);
    std::vector<Compiled> compiled;
    std::uint64_t batch_parts = 1;
    if (job.is_conv) {
      CompiledLayer made = compile_layer(config, job.conv, compiling);
      batch_parts = made.batch_parts;
      compiled = std::move(made.plans);
    } else {
      compiled.push_back(compile(GemmProblem(config, job.matmul), compiling));
    }
    for (Compiled& c : compiled) {
      DramAllocator allocator(kPageBytes);
      const std::uint64_t first = allocator.allocate(c.plan.problem().first.bytes());
      const std::uint64_t second = allocator.allocate(c.plan.problem().second.bytes());
      c.plan.set_addresses(first, second, allocator.allocate(c.plan.result_bytes()));
      out += fmt::format("{} {}: ", layer.name, to_string(kind));
      if (batch_parts > 1) out += fmt::format("{} parts of the batch, each ", batch_parts);
      if (job.repeats > 1) out += fmt::format("{} times ", job.repeats);
      out += plan_listing(c.plan, config, q.options.memory);
    }
  }
  return out;
}

}  // namespace bitcycle
