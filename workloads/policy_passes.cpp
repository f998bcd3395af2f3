#include "workloads/policy_passes.hpp"

#include <algorithm>

#include "golden/counter_random.hpp"
#include "golden/error.hpp"
#include "workloads/policy_settings.hpp"
#include "workloads/schedule_curve.hpp"

namespace bitcycle {
namespace {

std::vector<std::uint32_t> quantised_layers(const TraceLayers& layers) {
  return select_layers(layers, LayerSelection{}, "", 0);
}

}  // namespace

void HalpPolicy::write(const TraceLayers& /*layers*/, TraceSink& sink) const {
  sink.add(network_record(0, LayerBits(spec_.bits, spec_.bits)));
  TraceRecord centre = network_record(0, LayerBits(spec_.centre_bits, spec_.centre_bits));
  if (spec_.centre_bits == 0) centre.work = {LayerBits{}, WorkMode::kFp32, {1, 1, 1}};
  centre.pass = 1;
  sink.add(centre);
  TraceRecord sweep = centre;
  sweep.pass = 2;
  sweep.work.passes.fill(static_cast<std::uint32_t>(spec_.batches));
  if (spec_.recentre == 1) {
    sink.add(sweep);
    return;
  }
  for (std::uint64_t t = 0; t < spec_.iterations; t += spec_.recentre) {
    sweep.start = t;
    sweep.end = t + 1;
    sink.add(sweep);
  }
}

void SwalpPolicy::write(const TraceLayers& /*layers*/, TraceSink& sink) const {
  sink.add(network_record(0, spec_.bits));
  if (spec_.start >= spec_.iterations) return;
  TraceRecord average;
  average.kind = TraceRecord::Kind::kAveraging;
  average.start = spec_.start;
  average.end = spec_.iterations;
  average.every = spec_.every;
  average.read_bits = spec_.bits.bits + spec_.average_bits;
  average.write_bits = spec_.average_bits;
  sink.add(average);
}

void SpeqPolicy::write(const TraceLayers& layers, TraceSink& sink) const {
  const auto all = quantised_layers(layers);
  sink.add(network_record(0, spec_.student));
  TraceRecord teacher;
  teacher.pass = 1;
  teacher.work.passes = {1, 0, 0};
  std::vector<std::uint64_t> last(all.size(), 0);
  for (std::uint64_t t = 0; t < spec_.iterations; ++t) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::uint64_t drawn =
          spec_.teacher[counter_random(spec_.seed, all[i], t) % spec_.teacher.size()];
      if (drawn == last[i]) continue;
      last[i] = drawn;
      teacher.start = t;
      teacher.layers = LayerSelection::index(all[i]);
      teacher.work.bits =
          LayerBits(spec_.student.bits, static_cast<int>(drawn), spec_.student.grad_bits);
      sink.add(teacher);
    }
  }
}

void BlockPolicy::write(const TraceLayers& layers, TraceSink& sink) const {
  const auto all = quantised_layers(layers);
  if (all.size() < spec_.blocks) {
    throw input_error("", 0, "policy block-replacement: blocks", std::to_string(spec_.blocks),
                      "at most the quantised layers, " + std::to_string(all.size()));
  }
  sink.add(network_record(0, spec_.low));
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto block = static_cast<std::uint32_t>(i * spec_.blocks / all.size());
    TraceRecord fp32;
    fp32.pass = 1;
    fp32.layers = LayerSelection::index(all[i]);
    fp32.work.mode = WorkMode::kFp32;
    fp32.work.passes = {block + (spec_.teacher ? 1U : 0U), block, 0};
    if (fp32.work.passes[0] > 0) sink.add(fp32);
  }
}

std::unique_ptr<Policy> make_halp_policy(const std::string& /*name*/, PolicySettings& settings) {
  HalpPolicySpec s;
  s.bits = static_cast<int>(settings.number("bits", 8, kMinBits, kMaxBits));
  const std::string centre = settings.text("centre", "fp32");
  if (centre != "fp32") {
    s.centre_bits = static_cast<int>(settings.number("centre", 16, kMinBits, kMaxBits));
  }
  s.batches = settings.number("batches", s.batches, 1, 0xFFFFFFFF);
  s.recentre = settings.number("recentre", s.batches, 1, kMaxIterations);
  s.iterations = settings.iterations(s.iterations);
  return std::make_unique<HalpPolicy>(s);
}

std::unique_ptr<Policy> make_swalp_policy(const std::string& /*name*/, PolicySettings& settings) {
  SwalpPolicySpec s;
  s.bits = settings.pair("bits", s.bits);
  const std::uint64_t epoch = settings.number("epoch_iterations", 391, 1, 1'000'000'000);
  const std::uint64_t epochs = settings.number("epochs", 300, 1, 1'000'000);
  s.iterations = epoch * epochs;
  s.start = epoch * settings.number("average_from_epoch", 200, 0, epochs);
  s.every = settings.number("average_every", epoch, 1, kMaxIterations);
  s.average_bits = static_cast<int>(settings.number("average_bits", 32, 1, 64));
  return std::make_unique<SwalpPolicy>(s);
}

std::unique_ptr<Policy> make_speq_policy(const std::string& /*name*/, PolicySettings& settings) {
  SpeqPolicySpec s;
  s.student = settings.pair("student", s.student);
  const auto teacher = settings.numbers("teacher", kMinBits, kMaxBits);
  if (!teacher.empty()) s.teacher = teacher;
  s.iterations = settings.number("iterations", s.iterations, 1, kMostScanned);
  s.seed = settings.number("seed", s.seed, 0, ~std::uint64_t{0});
  return std::make_unique<SpeqPolicy>(s);
}

std::unique_ptr<Policy> make_block_policy(const std::string& /*name*/, PolicySettings& settings) {
  BlockPolicySpec s;
  s.low = settings.pair("low", s.low);
  s.blocks = settings.number("blocks", s.blocks, 1, kMostTraceLayers);
  s.teacher = settings.flag("teacher", s.teacher);
  s.iterations = settings.iterations(s.iterations);
  return std::make_unique<BlockPolicy>(s);
}

}  // namespace bitcycle
