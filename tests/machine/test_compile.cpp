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

TEST_CASE("compiled: a small 3x3 convolution", "[machine][compile]") {
  all_passes(machine_of("ci-1x1-s4"), conv(2, 16, 6, 16, 3, 1, 1));
}

TEST_CASE("compiled: 3x3 stride 2", "[machine][compile]") {
  all_passes(machine_of("ci-1x1-s4"), conv(2, 16, 7, 32, 3, 2, 1));
}

TEST_CASE("compiled: 1x1 stride 1 and 2", "[machine][compile]") {
  all_passes(machine_of("ci-1x1-s4"), conv(2, 32, 6, 16, 1, 1, 0));
  all_passes(machine_of("ci-1x1-s4"), conv(2, 32, 6, 16, 1, 2, 0));
}

}  // namespace
}  // namespace bitcycle
