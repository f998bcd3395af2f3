#include <catch2/catch.hpp>
#include <random>

#include "golden/gemm.hpp"
#include "model/machine/compile.hpp"
#include "tests/machine/compiled_run.hpp"

namespace bitcycle {
namespace {

using testing::Codes;
using testing::machine_of;

// Runs a matmul on the untimed machine and compares values, sums or codes with golden_gemm.
Compiled run_matmul(const MachineConfig& config, const MatmulJob& job, std::uint64_t seed,
                    const CompileOptions& options = {}) {
  std::mt19937_64 random(seed);
  const auto a = testing::make_codes(job.batch * job.m * job.k, job.first, Codes::kRandom, random);
  const auto w = testing::make_codes(job.batch * job.n * job.k, job.second, Codes::kRandom, random);
  Compiled c = compile(GemmProblem(config, job), options);
  INFO(c.plan.describe());
  CHECK(c.time <= c.naive_time);
  const auto code = [&](const std::vector<std::int32_t>& codes, std::uint64_t rows, bool columns) {
    return [&codes, rows, columns, k = job.k](std::uint64_t head, std::uint64_t, std::uint64_t x,
                                              std::uint64_t ch) {
      return codes[(head * rows + (columns ? ch : x)) * k + (columns ? x : ch)];
    };
  };
  const auto dram = testing::run_plan(c.plan, job.first.is_signed, job.second.is_signed,
                                      code(a, job.m, job.a_columns), code(w, job.n, job.w_columns));
  std::vector<GoldenResult> golden;
  for (std::uint64_t head = 0; head < job.batch; ++head) {
    const auto matrix = [&](const std::vector<std::int32_t>& codes, std::uint64_t rows) {
      CodeMatrix out(static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(job.k));
      for (std::uint64_t i = 0; i < rows * job.k; ++i) {
        out.data()[i] = codes[head * rows * job.k + i];
      }
      return out;
    };
    golden.push_back(golden_gemm(matrix(a, job.m), job.first, matrix(w, job.n), job.second, 48));
  }
  const auto at = [&](std::uint64_t head, std::uint64_t m, std::uint64_t n) {
    return golden[head].c(static_cast<Eigen::Index>(m), static_cast<Eigen::Index>(n));
  };
  std::uint64_t seen = 0, bad = 0;
  if (job.out.form == OutputForm::kCodes) {
    const GemmProblem& p = c.plan.problem();
    unpack_tensor(p.result, job.out.q.out_signed, dram,
                  [&](std::uint64_t head, std::uint64_t, std::uint64_t x, std::uint64_t ch,
                      std::int32_t value) {
                    const std::uint64_t m = job.out.transposed ? ch : x;
                    const std::uint64_t n = job.out.transposed ? x : ch;
                    const auto element = static_cast<std::uint32_t>((head * job.m + m) * job.n + n);
                    const std::int32_t wanted =
                        requantise(at(head, m, n), golden[head].sum_a[m], golden[head].sum_w[n],
                                   job.out.q, element);
                    ++seen;
                    if (value != wanted) ++bad;
                  });
  } else {
    read_raw(
        c.plan, dram,
        [&](const OutputBlock& b, std::uint64_t r, std::uint64_t q, std::int64_t value) {
          const std::uint64_t m =
              static_cast<std::uint64_t>(b.rows.start[2]) * (job.a_columns ? b.part->first.br : 1) +
              r;
          const std::uint64_t n = static_cast<std::uint64_t>(b.cols.start[2]) *
                                      (job.w_columns ? b.part->second.br : 1) +
                                  q;
          ++seen;
          if (value != at(b.part->group, m, n)) ++bad;
        },
        [&](const OutputBlock& b, bool of_first, std::uint64_t i, std::int64_t value) {
          const std::uint64_t index = of_first ? static_cast<std::uint64_t>(b.rows.start[2]) *
                                                         (job.a_columns ? b.part->first.br : 1) +
                                                     i
                                               : static_cast<std::uint64_t>(b.cols.start[2]) *
                                                         (job.w_columns ? b.part->second.br : 1) +
                                                     i;
          const GoldenResult& g = golden[b.part->group];
          if (value != (of_first ? g.sum_a : g.sum_w).at(index)) ++bad;
        });
  }
  CHECK(seen == job.batch * job.m * job.n);
  CHECK(bad == 0);
  return c;
}

MatmulJob matmul(std::uint64_t batch, std::uint64_t m, std::uint64_t n, std::uint64_t k) {
  MatmulJob j;
  j.batch = batch;
  j.m = m;
  j.n = n;
  j.k = k;
  j.first = {3, true};
  j.second = {5, false};
  return j;
}

TEST_CASE("compiled matmul: all four ways in which operands are stored", "[machine][compile]") {
  for (const char* array : {"ci-1x1-s4", "ci-1x8-s1"}) {
    for (int ways = 0; ways < 4; ++ways) {
      for (const auto& [m, n, k] : {std::array<std::uint64_t, 3>{33, 20, 47},
                                    {1, 20, 16},
                                    {20, 1, 17},
                                    {7, 9, 1},
                                    {1, 1, 1},
                                    {16, 16, 15}}) {
        MatmulJob j = matmul(2, m, n, k);
        j.a_columns = (ways & 1) != 0;
        j.w_columns = (ways & 2) != 0;
        INFO(array << " " << m << " " << n << " " << k << " ways " << ways);
        run_matmul(machine_of(array), j, 3);
        j.out.form = OutputForm::kCodes;
        j.out.q.shift = 4;
        j.out.q.za = 2;
        j.out.q.zw = -1;
        for (const bool transposed : {false, true}) {
          j.out.transposed = transposed;
          run_matmul(machine_of(array), j, 3);
        }
      }
    }
  }
}

TEST_CASE("compiled matmul: [12544, 27, 32]", "[machine][compile]") {
  MatmulJob j = matmul(1, 12544, 27, 32);
  run_matmul(machine_of("ci-1x1-s4"), j, 4);
}

TEST_CASE("compiled matmul: a reduction longer than the buffers", "[machine][compile]") {
  for (const bool columns : {false, true}) {
    MatmulJob j = matmul(1, 24, 20, 9000);
    j.a_columns = j.w_columns = columns;
    const Compiled c = run_matmul(machine_of("ci-4x4-s1"), j, 5);
    CHECK(c.plan.cost().psb_written > 0);
    CHECK(c.plan.cost().psb_written == c.plan.cost().psb_read);
  }
}

TEST_CASE("compiled matmul: what fits is read once, and half the bits are half the payload",
          "[machine][compile]") {
  std::uint64_t beats[2] = {};
  for (int i = 0; i < 2; ++i) {
    MatmulJob j = matmul(1, 64, 32, 64);
    j.first.bits = j.second.bits = i == 0 ? 8 : 4;
    const Compiled c = run_matmul(machine_of("ci-1x1-s4"), j, 6);
    CHECK(c.plan.cost().first_beats == c.plan.cost().first_unique);
    CHECK(c.plan.cost().second_beats == c.plan.cost().second_unique);
    beats[i] = c.plan.cost().first_beats + c.plan.cost().second_beats;
  }
  CHECK(beats[0] == 2 * beats[1]);
}

TEST_CASE("a fixed mapping is obeyed, and refused with the reason if it cannot be",
          "[machine][compile]") {
  const MachineConfig config = machine_of("ci-1x1-s4");
  const MatmulJob j = matmul(1, 64, 32, 64);
  CompileOptions options;
  options.mapping = parse_mapping(
      "rows (1, 1, 16) cols (1, 1, 8) reduction (1, 1, 2) out (1, 1, 8) (1, 1, 4) cols outer");
  const Compiled c = run_matmul(config, j, 7, options);
  CHECK(c.plan.mapping() == *options.mapping);
  CHECK(mapping_text(c.plan.mapping()) ==
        "rows (1, 1, 16) cols (1, 1, 8) reduction (1, 1, 2) out (1, 1, 8) (1, 1, 4) cols outer");
  CHECK(c.plan.cost().execs == 4 * 4 * 2 * 2 * 2);
  const auto refusal = [&](const char* text) -> std::string {
    try {
      CompileOptions o;
      o.mapping = parse_mapping(text);
      compile(GemmProblem(config, j), o);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  CHECK_THAT(
      refusal(
          "rows (1, 1, 65) cols (1, 1, 8) reduction (1, 1, 2) out (1, 1, 8) (1, 1, 4) rows outer"),
      Catch::Contains("rows: digit 2 is 65"));
  CHECK_THAT(refusal("rows (1, 1, 64) cols (1, 1, 32) reduction (1, 1, 1) out (1, 1, 8) (1, 1, 32) "
                     "rows outer"),
             Catch::Contains("partial sums"));
  CHECK_THAT(refusal("rows 3"), Catch::Contains("rows (a, b, c)"));
}

TEST_CASE("useful MACs are the same for the three GEMMs of a layer", "[machine][compile]") {
  ConvJob j;
  j.shape.cin = 6;
  j.shape.cout = 10;
  j.shape.hi = 9;
  j.shape.wi = 7;
  j.shape.kh = j.shape.kw = 3;
  j.shape.stride_h = 2;
  j.shape.pad_top = j.shape.pad_left = 1;
  const MachineConfig config = machine_of("ci-1x1-s4");
  std::uint64_t macs[3] = {};
  for (int i = 0; i < 3; ++i) {
    j.pass = static_cast<ConvPass>(i);
    macs[i] = GemmProblem(config, j).useful_macs;
  }
  CHECK(macs[0] > 0);
  CHECK(macs[0] == macs[1]);
  CHECK(macs[0] == macs[2]);
}

TEST_CASE("a first layer is expanded if that costs less, and says what was compared",
          "[machine][compile]") {
  ConvJob j;
  j.shape.cin = 3;
  j.shape.cout = 16;
  j.shape.hi = j.shape.wi = 32;
  j.shape.kh = j.shape.kw = 3;
  j.shape.pad_top = j.shape.pad_left = j.shape.pad_bottom = j.shape.pad_right = 1;
  j.first = {8, false};
  j.second = {8, true};
  const MachineConfig config = machine_of("ci-1x1-s4");
  CompileOptions options;
  options.host_cycles_per_byte = 0;
  const CompiledLayer free = compile_layer(config, j, options);
  CHECK(free.expanded);
  CHECK(free.host_bytes > 0);
  CHECK_THAT(free.reason, Catch::Contains("as it is") && Catch::Contains("expanded"));
  options.host_cycles_per_byte = 1000;
  CHECK_FALSE(compile_layer(config, j, options).expanded);
  // Kernel and stride too large for all phases at once: phase by phase they fit.
  j.pass = ConvPass::kDx;
  j.shape = ConvShape();
  j.shape.cin = j.shape.cout = 16;
  j.shape.hi = j.shape.wi = 15;
  j.shape.kh = j.shape.kw = 7;
  j.shape.stride_h = j.shape.stride_w = 4;
  CHECK_THROWS_AS(compile(GemmProblem(config, j)), InputError);
  const CompiledLayer apart = compile_layer(config, j, {});
  CHECK(apart.phases_apart);
  CHECK(apart.plans.size() == 16);
}

TEST_CASE("more buffer memory and fewer bits never cost time by the search's measure",
          "[machine][compile]") {
  ConvJob j;
  j.shape.batch = 2;
  j.shape.cin = 48;
  j.shape.cout = 40;
  j.shape.hi = j.shape.wi = 10;
  j.shape.kh = j.shape.kw = 3;
  for (int pass = 0; pass < 3; ++pass) {
    j.pass = static_cast<ConvPass>(pass);
    double before = 0;
    for (int bits = 1; bits <= 8; ++bits) {
      j.first.bits = j.second.bits = bits;
      const double time = compile(GemmProblem(machine_of("ci-1x1-s1"), j)).time;
      CHECK(time >= before);
      before = time;
    }
    before = 1e30;
    for (int depth = 256; depth <= 4096; depth *= 2) {
      MachineConfig config = machine_of("ci-1x1-s4");
      config.l1a_d = config.l1w_d = depth;
      const double time = compile(GemmProblem(config, j)).time;
      CHECK(time <= before);
      before = time;
    }
  }
}

}  // namespace
}  // namespace bitcycle
