// The cost of layers on the whole machine: skipping what repeats changes nothing.
#include <catch2/catch.hpp>
#include <random>

#include "golden/error.hpp"
#include "model/formula.hpp"
#include "model/machine/timed.hpp"
#include "sim/machine_cost.hpp"

namespace {

using namespace bitcycle;

Network network_of(const Layer& layer) {
  Network n;
  n.name = "one";
  n.layers = {layer};
  return n;
}

MachineCostOptions options_of(const std::string& array) {
  MachineCostOptions out;
  out.machine = machine_for(resolve_array(array));
  out.memory = {40, 40, 320, 320};
  return out;
}

std::uint64_t instructions_seen = 0;

// Every instruction, one after the other.
MachineGemm plain(const Layer& layer, GemmKind kind, std::uint64_t batch, const IterationBits& bits,
                  const MachineCostOptions& options) {
  const MachineConfig& config = options.machine;
  const LayerJob job = layer_job(layer, kind, batch, bits, options);
  std::vector<Compiled> compiled;
  std::uint64_t runs = job.repeats;
  if (job.is_conv) {
    CompiledLayer made = compile_layer(config, job.conv, compile_options(options));
    runs *= made.batch_parts;
    compiled = std::move(made.plans);
  } else {
    compiled.push_back(compile(GemmProblem(config, job.matmul), compile_options(options)));
  }
  MachineGemm out;
  for (const Compiled& c : compiled) {
    Recurrence time(config, options.memory);
    c.plan.emit([&](const Instruction& i, const InstructionInfo&) {
      const TimedInstruction t = timed(i, config);
      time.add(t);
      if (const auto* e = std::get_if<ExecInstruction>(&i)) {
        out.array_cycles += t.array_cycles;
        out.steady += gemm_timing(config.array, {{e->m, e->n, e->k}, e->pa, e->pw}).steady;
        ++out.execs;
      } else {
        ++(std::holds_alternative<FetchInstruction>(i) ? out.fetches : out.stores);
      }
    });
    REQUIRE(time.settled());
    out.cycles += time.cycles();
    for (std::size_t e = 0; e < 3; ++e) {
      const EngineCycles now = time.engine(static_cast<MachineEngine>(e));
      out.engines[e].idle += now.idle;
      out.engines[e].run += now.run;
      out.engines[e].wait_in += now.wait_in;
      out.engines[e].wait_out += now.wait_out;
    }
    out.first_bits += (time.read_beats) * static_cast<std::uint64_t>(config.dw);
    out.result_bits += (time.write_beats) * static_cast<std::uint64_t>(config.dw);
  }
  instructions_seen += out.execs + out.fetches + out.stores;
  out.scale(runs);
  return out;
}

void compare(const Layer& layer, std::uint64_t batch, const IterationBits& bits,
             const MachineCostOptions& options) {
  MachineCost cost(options);
  const Network network = network_of(layer);
  for (const GemmKind kind : {GemmKind::kForward, GemmKind::kDx, GemmKind::kDw}) {
    INFO(layer.name << " " << to_string(kind) << " batch " << batch << " " << layer.cin << "x"
                    << layer.hi << "x" << layer.wi << " -> " << layer.cout << " k" << layer.kh
                    << "x" << layer.kw << " s" << layer.stride_h << " g" << layer.groups);
    const MachineGemm want = plain(layer, kind, batch, bits, options);
    const MachineGemm got = cost.gemm(network, 0, kind, batch, bits);
    CHECK(got.cycles == want.cycles);
    CHECK(got.array_cycles == want.array_cycles);
    CHECK(got.steady == want.steady);
    CHECK(got.execs == want.execs);
    CHECK(got.fetches == want.fetches);
    CHECK(got.stores == want.stores);
    CHECK(got.first_bits + got.second_bits == want.first_bits);
    CHECK(got.result_bits == want.result_bits);
    for (std::size_t e = 0; e < 3; ++e) {
      INFO("engine " << e);
      CHECK(got.engines[e].idle == want.engines[e].idle);
      CHECK(got.engines[e].run == want.engines[e].run);
      CHECK(got.engines[e].wait_in == want.engines[e].wait_in);
      CHECK(got.engines[e].wait_out == want.engines[e].wait_out);
      CHECK(got.engines[e].total() == got.cycles);
    }
    CHECK(got.wait_fetch + got.wait_store + got.lead + got.array_cycles + got.set_up == got.cycles);
  }
}

Layer conv(std::uint64_t cin, std::uint64_t size, std::uint64_t cout, std::uint64_t kernel,
           std::uint64_t stride, std::uint64_t groups = 1) {
  Layer l;
  l.name = "conv";
  l.cin = cin;
  l.cout = cout;
  l.hi = l.wi = size;
  l.kh = l.kw = kernel;
  l.stride_h = l.stride_w = stride;
  l.pad_h = l.pad_w = kernel / 2;
  l.groups = groups;
  return l;
}

TEST_CASE("machine cost: skipping repeats is exact, layers by hand", "[machine][cost]") {
  const MachineCostOptions small = options_of("ci-1x1-s4");
  compare(conv(16, 16, 16, 3, 1), 12, {4, 4, 8}, small);
  compare(conv(16, 16, 32, 3, 2), 12, {4, 4, 8}, small);
  compare(conv(3, 20, 16, 7, 2), 4, {3, 3, 8}, small);
  compare(conv(32, 12, 32, 3, 1, 32), 6, {3, 5, 8}, small);
  compare(conv(32, 8, 32, 3, 1, 2), 6, {3, 5, 8}, small);
  compare(conv(40, 8, 24, 1, 1), 40, {2, 2, 2}, small);
  const MachineCostOptions large = options_of("serial-1x1");
  compare(conv(64, 14, 64, 3, 1), 40, {4, 4, 8}, large);
  compare(conv(64, 14, 128, 3, 2), 40, {3, 3, 8}, large);
  compare(conv(256, 7, 256, 1, 1), 64, {6, 6, 8}, options_of("nibble-4x4"));
}

TEST_CASE("machine cost: skipping repeats is exact on random layers and memories",
          "[machine][cost]") {
  const std::uint64_t seed = 20261201;
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  const auto pick = [&](std::uint64_t low, std::uint64_t high) {
    return std::uniform_int_distribution<std::uint64_t>(low, high)(random);
  };
  instructions_seen = 0;
  for (int i = 0; i < 60; ++i) {
    CAPTURE(i);
    MachineCostOptions options = options_of(pick(0, 1) == 0 ? "ci-1x1-s4" : "ci-4x4-s1");
    options.memory.latency = pick(1, 200);
    options.memory.write_latency = pick(1, 100);
    options.memory.read_cost = 256 + 37 * pick(0, 20);
    options.memory.write_cost = 256 + 37 * pick(0, 20);
    options.machine.qd = 1 << pick(0, 3);
    options.machine.out = 1 << pick(0, 4);
    options.machine.burst = 1 << pick(2, 6);
    options.machine.l1a_d = 128 << pick(0, 3);
    options.machine.l1w_d = 256 << pick(0, 2);
    options.results = pick(0, 1) == 0 ? OutputForm::kRaw32 : OutputForm::kRaw48;
    options.lowering = pick(0, 3) == 0 ? DxLowering::kGemm : DxLowering::kPhases;
    const std::uint64_t groups = pick(0, 3) == 0 ? 4 : 1;
    Layer l = conv(groups * pick(1, 10), pick(3, 16), groups * pick(1, 8), 2 * pick(0, 1) + 1,
                   pick(1, 2), groups);
    l.pad_w = pick(0, l.kw - 1);
    compare(
        l, pick(1, 24),
        {static_cast<int>(pick(1, 8)), static_cast<int>(pick(1, 8)), static_cast<int>(pick(1, 8))},
        options);
  }
  CHECK(instructions_seen > 10'000);
}

TEST_CASE("machine cost: recurrent layers, products of activations, transposed convolutions",
          "[machine][cost]") {
  const MachineCostOptions small = options_of("ci-1x1-s4");
  Layer recurrent;
  recurrent.name = "recurrent";
  recurrent.kind = LayerKind::kRecurrent;
  recurrent.dense = true;
  recurrent.cin = 40;
  recurrent.cout = 64;
  recurrent.hi = 7;
  compare(recurrent, 9, {4, 4, 8}, small);
  MachineCost cost(small);
  const Network network = network_of(recurrent);
  const MachineGemm forward = cost.gemm(network, 0, GemmKind::kForward, 9, {4, 4, 8});
  Layer step = recurrent;
  step.kind = LayerKind::kWeight;
  step.hi = 1;
  MachineCost single(small);
  const MachineGemm one = single.gemm(network_of(step), 0, GemmKind::kForward, 9, {4, 4, 8});
  CHECK(forward.repeats == 7);
  CHECK(forward.cycles == 7 * one.cycles);
  CHECK(forward.result_bits == 7 * one.result_bits);
  // dW has all steps in one product.
  CHECK(cost.gemm(network, 0, GemmKind::kDw, 9, {4, 4, 8}).repeats == 1);

  Layer matmul;
  matmul.name = "scores";
  matmul.kind = LayerKind::kMatmul;
  matmul.hi = 19;
  matmul.groups = 4;
  matmul.cin = 4 * 24;
  matmul.cout = 4 * 17;
  compare(matmul, 6, {4, 6, 8}, small);
  compare(matmul, 40, {4, 6, 8}, options_of("serial-1x1"));
  MachineCost heads(small);
  const MachineGemm scores = heads.gemm(network_of(matmul), 0, GemmKind::kForward, 6, {4, 6, 8});
  CHECK(scores.macs_useful == 6 * 4 * 19 * 24 * 17);
  CHECK(scores.first.bits == 4);
  CHECK(scores.second.bits == 6);

  Layer transposed = conv(16, 6, 8, 3, 2);
  transposed.name = "transposed";
  transposed.kind = LayerKind::kTransposed;
  transposed.output_pad_h = transposed.output_pad_w = 1;
  compare(transposed, 5, {4, 4, 8}, small);
}

TEST_CASE("machine cost: a known product costs the same again", "[machine][cost]") {
  const MachineCostOptions options = options_of("ci-1x1-s4");
  Network n = network_of(conv(16, 8, 16, 3, 1));
  n.layers.push_back(n.layers[0]);
  n.layers[1].name = "again";
  MachineCost cost(options);
  const MachineIteration first = cost.iteration(n, 4, {4, 4, 8});
  const std::uint64_t distinct = cost.distinct();
  CHECK(distinct == 6);  // three products and their masks
  const MachineIteration second = cost.iteration(n, 4, {4, 4, 8});
  CHECK(cost.distinct() == distinct);
  CHECK(first.cycles() == second.cycles());
  REQUIRE(first.gemms.size() == 12);
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK(first.gemms[i].cycles == first.gemms[i + 6].cycles);
    CHECK(first.gemms[i + 6].layer == 1);
    CHECK(first.gemms[i].mask == (i % 2 == 1));
    CHECK(second.gemms[i].cycles == first.gemms[i].cycles);
    CHECK(second.gemms[i].mask == first.gemms[i].mask);
  }
  CHECK(cost.iteration(n, 4, {4, 3, 8}).cycles() < first.cycles());
  CHECK(cost.distinct() > distinct);
}

TEST_CASE("machine cost: a mask is one bit, one image or one channel", "[machine][cost]") {
  const MachineCostOptions options = options_of("ci-1x1-s4");
  const Network n = network_of(conv(16, 8, 24, 3, 1));
  MachineCost cost(options);
  const std::uint64_t batch = 6;
  const IterationBits bits{4, 5, 8};
  const auto mask = [&](GemmKind kind) { return cost.gemm(n, 0, kind, batch, bits, true); };
  const auto full = [&](GemmKind kind) { return cost.gemm(n, 0, kind, batch, bits); };
  CHECK(mask(GemmKind::kForward).macs_useful * batch == full(GemmKind::kForward).macs_useful);
  CHECK(mask(GemmKind::kDx).macs_useful * batch == full(GemmKind::kDx).macs_useful);
  CHECK(mask(GemmKind::kDw).macs_useful * 16 == full(GemmKind::kDw).macs_useful);
  CHECK(mask(GemmKind::kForward).first.bits == 1);
  CHECK(mask(GemmKind::kForward).second.bits == 5);
  CHECK(mask(GemmKind::kDx).first.bits == 1);
  CHECK(mask(GemmKind::kDw).first.bits == 8);
  CHECK(mask(GemmKind::kDw).second.bits == 1);
  for (const GemmKind kind : {GemmKind::kForward, GemmKind::kDx, GemmKind::kDw}) {
    CHECK(mask(kind).mask);
    CHECK(mask(kind).cycles < full(kind).cycles);
  }
}

TEST_CASE("machine cost: masks are needed at borders only", "[machine][cost]") {
  Layer l = conv(8, 8, 8, 3, 1);
  CHECK(needs_mask(l, GemmKind::kForward));
  CHECK(needs_mask(l, GemmKind::kDx));
  CHECK(needs_mask(l, GemmKind::kDw));
  l.pad_h = l.pad_w = 0;  // the gradient still meets borders
  CHECK_FALSE(needs_mask(l, GemmKind::kForward));
  CHECK(needs_mask(l, GemmKind::kDx));
  CHECK_FALSE(needs_mask(l, GemmKind::kDw));
  l.pad_bottom = 1;
  CHECK(needs_mask(l, GemmKind::kForward));
  l = conv(8, 8, 8, 1, 1);
  CHECK_FALSE(needs_mask(l, GemmKind::kDx));
  l.stride_h = 2;
  CHECK(needs_mask(l, GemmKind::kDx));
  l.kind = LayerKind::kMatmul;
  CHECK_FALSE(needs_mask(l, GemmKind::kDx));
}

TEST_CASE("machine cost: what cannot run is refused by name", "[machine][cost]") {
  MachineCost cost(options_of("ci-1x1-s4"));
  Network n = network_of(conv(8, 8, 8, 3, 1));
  CHECK_THROWS_WITH(cost.iteration(n, 0, {4, 4, 8}), Catch::Matchers::Contains("batch"));
  n.layers[0].quantised = false;
  CHECK_THROWS_WITH(cost.iteration(n, 1, {4, 4, 8}), Catch::Matchers::Contains("no quantised"));
  n.layers[0].quantised = true;
  CHECK_THROWS_WITH(cost.iteration(n, 1, {4, 17, 8}), Catch::Matchers::Contains("layer 'conv'"));
  MachineCostOptions bad = options_of("ci-1x1-s4");
  bad.memory.read_cost = 255;
  CHECK_THROWS_AS(MachineCost(bad), InputError);
}

}  // namespace
