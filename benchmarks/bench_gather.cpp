// Time of a gathered beat in the model, by preset (side W, B words of KL lanes) and mode: it is
// paid in every cycle in which the array takes one.
#include <benchmark/benchmark.h>

#include <random>

#include "model/machine/gather.hpp"
#include "model/machine/instruction.hpp"

namespace {

using namespace bitcycle;

// A padded 3x3 convolution over 8x8 images of 4 granules, 4 planes.
OperandGather convolution(bool transposed, int gl) {
  OperandGather s;
  s.transposed = transposed;
  s.r0 = s.r1 = 8;
  s.a0 = 4;
  s.a1 = 32;
  s.a2 = 256;
  s.h = s.w = 8;
  s.sy = s.sx = s.dy = s.dx = 1;
  s.y0 = s.x0 = -1;
  s.kb0 = 3;
  s.cg = 4;
  s.br = s.hi = static_cast<std::uint32_t>(gl);
  s.b1 = 32;
  s.b0 = 4;
  s.sc = 1024;
  return s;
}

void gather(benchmark::State& state, const char* preset, bool transposed) {
  const ArrayConfig array = resolve_array(preset);
  const MachineConfig config = machine_for(array);
  constexpr int kBits = 4;
  OperandMemory memory(config.l1w_d, config.dw, config.gl);
  std::mt19937_64 random(1);
  std::vector<std::uint64_t> line(static_cast<std::size_t>(config.dw) / 64);
  for (int beat = 0; beat < config.l1w_d; ++beat) {
    for (auto& word : line) word = random();
    memory.write(static_cast<std::uint32_t>(beat), line.data());
  }
  Gather gather({array.tn, array.tm, array.bw, array.kl, config.gl, /*rows_first=*/false});
  ExecInstruction instruction;
  instruction.m = instruction.n = 160;
  instruction.k = 576;
  instruction.a = instruction.w = convolution(transposed, config.gl);
  const auto words = encode(instruction);

  GatherStep in;
  in.own = in.other = instruction.m;
  in.k = instruction.k;
  in.bits = kBits;
  for (auto _ : state) {
    if (!gather.valid()) {
      GatherStep start = in;
      start.start = true;
      start.side = words.data() + layout::kExecWWord;
      gather.step(start);
      start.start = false;
      start.setup = true;
      for (; start.setup_k < config.setup_cycles(); ++start.setup_k) gather.step(start);
      start.setup = false;
      start.load = true;
      gather.step(start);
      in.ready = true;
    }
    benchmark::DoNotOptimize(gather.beat(memory, kBits)[0]);
    gather.step(in);
  }
  state.SetItemsProcessed(state.iterations());
}

}  // namespace

int main(int argc, char** argv) {
  for (const ArrayConfig& array : array_presets()) {
    for (const bool transposed : {false, true}) {
      const std::string name = array.name + (transposed ? "/T" : "/N");
      benchmark::RegisterBenchmark(name.c_str(), [&array, transposed](benchmark::State& state) {
        gather(state, array.name.c_str(), transposed);
      });
    }
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
