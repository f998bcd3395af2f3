// A whole training iteration of a small ResNet on the RTL, with real tensor values.
#include <catch2/catch.hpp>

#include "golden/training.hpp"
#include "sim/machine_backend.hpp"
#include "sim/rtl_library.hpp"

namespace bitcycle {
namespace {

MemoryTiming timing() {
  MemoryTiming t;
  t.latency = 40;
  t.write_latency = 20;
  t.read_cost = 320;
  t.write_cost = 448;
  return t;
}

void train_on_rtl(const char* array, const TrainingOptions& options, int steps) {
  const MachineConfig config = machine_for(resolve_array(array));
  LockstepMachine pair(config, make_rtl_machine(config, RtlFlavour::kPlain, 3));
  MachineBackend machine(config, pair, timing());
  machine.stop = [&] { return pair.mismatch().has_value(); };
  ResnetTrainer on_machine(options), on_golden(options);
  for (int i = 0; i < steps; ++i) {
    const float loss = on_machine.step([&](const ConvRequest& request) {
      const ConvSums sums = machine.run(request);
      if (const auto& m = pair.mismatch()) {
        FAIL(request.label << ": cycle " << m->cycle << " " << m->signal << " RTL " << m->rtl
                           << " model " << m->model);
      }
      const ConvSums want = golden_backend(request);
      INFO(request.label);
      REQUIRE(sums.value == want.value);
      REQUIRE(sums.sum_a == want.sum_a);
      if (request.pass != ConvPass::kDx) REQUIRE(sums.sum_w == want.sum_w);
      REQUIRE(machine.products().back().exact());
      return sums;
    });
    CHECK(loss == on_golden.step(golden_backend));
  }
  pair.compare_memories();
  CHECK_FALSE(pair.mismatch());
  for (std::size_t l = 0; l < on_golden.layers().size(); ++l) {
    const ConvLayer& x = on_machine.layers()[l];
    const ConvLayer& y = on_golden.layers()[l];
    INFO(x.name);
    CHECK(x.output == y.output);
    CHECK(x.grad_input == y.grad_input);
    CHECK(x.grad_weight == y.grad_weight);
    CHECK(x.weight == y.weight);
  }
  CHECK(on_machine.classifier() == on_golden.classifier());
}

TrainingOptions resnet8() {
  TrainingOptions o;
  o.blocks = 1;
  o.batch = 4;
  o.size = 32;
  o.bits = 4;
  o.grad_bits = 8;
  return o;
}

}  // namespace

TEST_CASE("machine: two steps of a ResNet-8 on 8x8 images run on the RTL") {
  TrainingOptions o = resnet8();
  o.size = 8;
  o.batch = 2;
  o.bits = 3;
  train_on_rtl("ci-1x1-s4", o, 2);
}

TEST_CASE("machine: a training iteration of ResNet-8, batch 4, 32x32, runs on the RTL") {
  train_on_rtl("ci-4x4-s1", resnet8(), 1);
}

TEST_CASE("machine: the same at 8x8 bits on the bit-serial array", "[.full]") {
  TrainingOptions o = resnet8();
  o.bits = 8;
  train_on_rtl("ci-1x1-s4", o, 1);
}

}  // namespace bitcycle
