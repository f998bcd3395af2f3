// What a run conserves, on the RTL: traffic, partial sums, waits.
#include <array>
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "tests/machine/lockstep_layer.hpp"

namespace bitcycle {
namespace {

using testing::conv_shape;
using testing::kAllPasses;
using testing::layer_job_of;
using testing::LayerBench;
using testing::LayerRun;
using testing::machine_of;

// The whole layer in one block, unless `change` cuts it.
template <class Change>
LayerRun run_mapped(LayerBench& bench, const ConvJob& job, Change&& change) {
  const GemmProblem problem(bench.config(), job);
  CompileOptions options;
  Mapping m;
  m.rows = problem.rows();
  m.cols = problem.cols();
  m.ks = problem.ks();
  change(m);
  REQUIRE(choose_sub_blocks(problem, m));
  options.mapping = m;
  return bench.run(job, testing::Codes::kRandom, options);
}

LayerRun run_whole(LayerBench& bench, const ConvJob& job) {
  return run_mapped(bench, job, [](Mapping&) {});
}

struct Needed {
  std::uint64_t beats = 0;  ///< that hold an element which some window reads
  std::uint64_t runs = 0;   ///< with the beats between two such of a line: lines are read as runs
};

// Of X, by plain loops over the windows.
Needed needed_image_beats(const TensorLayout& t, const ConvShape& s) {
  std::set<std::array<std::uint64_t, 4>> beats;
  const std::uint64_t bits = static_cast<std::uint64_t>(t.bits);
  for (std::uint64_t img = 0; img < s.batch; ++img) {
    for (std::uint64_t g = 0; g < t.granules(); ++g) {
      for (std::uint64_t i = 0; i < s.ho() * s.kh; ++i) {
        const std::uint64_t y = i / s.kh * s.stride_h + i % s.kh * s.dilation_h - s.pad_top;
        if (y >= s.hi) continue;  // also those above the image: they wrap
        for (std::uint64_t j = 0; j < s.wo() * s.kw; ++j) {
          const std::uint64_t x = j / s.kw * s.stride_w + j % s.kw * s.dilation_w - s.pad_left;
          if (x >= s.wi) continue;
          for (std::uint64_t plane = 0; plane < bits; ++plane) {
            beats.insert({img, g, y, (x * bits + plane) / t.words_per_beat()});
          }
        }
      }
    }
  }
  Needed out;
  const std::array<std::uint64_t, 4>* before = nullptr;
  for (const auto& beat : beats) {
    ++out.beats;
    const bool same =
        before != nullptr && std::equal(beat.begin(), beat.begin() + 3, before->begin());
    out.runs += same ? beat[3] - (*before)[3] : 1;
    before = &beat;
  }
  return out;
}

// Exec waits for operands after its first start, and what the condition below says of the run.
struct Waits {
  std::uint64_t after_first = 0;
  int blocks = 0;
  bool covered = true;
};

// A run is covered if every block is computed for at least as long as all fetches of the next one
// take: then, and the fetches being queued before the block's own execs, exec never waits for
// operands after the first fill.
Waits waits_of(const LayerRun& r) {
  std::array<std::vector<InstructionTimes>, kEngines> times;
  for (const auto& [engine, t] : r.times) times[static_cast<std::size_t>(engine)].push_back(t);
  std::map<std::uint64_t, std::uint64_t> fetch, exec;
  std::array<std::size_t, kEngines> at{};
  for (const auto& [engine, step] : r.steps) {
    const auto e = static_cast<std::size_t>(engine);
    const InstructionTimes& t = times[e].at(at[e]++);
    if (engine == MachineEngine::kFetch) fetch[step] += t.done - t.start + 1;
    if (engine == MachineEngine::kExec) exec[step] += t.done - t.start + 1;
  }
  Waits out;
  const InstructionTimes& first = times[1].front();
  // Visible in its queue one cycle after the push.
  out.after_first = r.machine.engines[1].wait_in - (first.start - first.pushed - 1);
  out.blocks = static_cast<int>(exec.size());
  for (const auto& [step, cycles] : fetch) {
    if (step > 0 && cycles > exec.at(step - 1)) out.covered = false;
  }
  return out;
}

}  // namespace

TEST_CASE("machine conservation: partial sums saved are restored, once, and become results") {
  LayerBench bench(machine_of("ci-4x4-s1"), 21);
  for (const ConvPass pass : kAllPasses) {
    INFO(to_string(pass));
    const ConvJob job = layer_job_of(conv_shape(1, 32, 4, 8, 3, 1, 1), pass);
    std::uint64_t blocks = 0;
    const LayerRun cut = run_mapped(bench, job, [&](Mapping& m) {
      // The outermost digit that can be cut, into single steps.
      const std::size_t d = m.ks[0] > 1 ? 0 : 1;
      blocks = static_cast<std::uint64_t>(m.ks[d]);
      m.ks[d] = 1;
      // What the partial-sum buffer holds.
      if (pass == ConvPass::kDx) m.cols[2] = 1;
      if (pass == ConvPass::kDw) m.rows[2] = m.cols[0] = m.cols[1] = 1;
    });
    REQUIRE(blocks > 1);
    CHECK(cut.beats.saved == cut.beats.results * (blocks - 1));
    CHECK(cut.beats.restored == cut.beats.saved);
    CHECK(cut.beats.saved > 0);
    const LayerRun whole = run_whole(bench, job);
    CHECK(whole.beats.saved == 0);
    CHECK(whole.beats.results == whole.beats.all);
  }
}

TEST_CASE("machine conservation: DRAM reads are the needed beats, never fewer") {
  LayerBench bench(machine_of("ci-4x4-s1"), 22);
  for (const ConvShape& s : {conv_shape(1, 16, 8, 8, 3, 1, 1), conv_shape(2, 20, 6, 12, 3, 2, 1),
                             conv_shape(1, 16, 7, 16, 1, 2), conv_shape(1, 3, 12, 8, 7, 2, 3),
                             conv_shape(1, 16, 8, 16, 3, 1, 2, 1, 2)}) {
    const ConvJob job = layer_job_of(s, ConvPass::kForward);
    const GemmProblem problem(bench.config(), job);
    const Needed image = needed_image_beats(problem.first, s);
    const std::uint64_t needed = image.runs + problem.second.beats();
    CAPTURE(problem.name, image.beats, image.runs, problem.first.beats());
    // Windows that leave no pixel out between them need every beat of a run.
    if (s.kh >= s.stride_h) CHECK(image.beats == image.runs);
    const LayerRun whole = run_whole(bench, job);
    CHECK(whole.machine.read_beats == needed);
    // Windows overlap: blocks of rows read some lines twice.
    const LayerRun cut = run_mapped(bench, job, [](Mapping& m) { m.rows[1] = 1; });
    CHECK(cut.machine.read_beats >= needed);
    if (s.kh > 1) CHECK(cut.machine.read_beats > needed);
    // Chosen by the compiler, in every pass: never less than the tensors, if no pixel is skipped.
    for (const ConvPass pass : kAllPasses) {
      const LayerRun chosen = bench.run(layer_job_of(s, pass));
      if (s.kh >= s.stride_h && s.dilation_h == 1) {
        CHECK(chosen.machine.read_beats >=
              chosen.plan.cost().first_unique + chosen.plan.cost().second_unique);
      }
    }
  }
}

TEST_CASE("machine conservation: half the bits are half the beats") {
  LayerBench bench(machine_of("ci-4x4-s1"), 23);
  // Lines of whole beats at 2 bits: 8 pixels and 8 weights of 2 words.
  for (const ConvShape& s : {conv_shape(1, 16, 8, 8, 3, 1, 1), conv_shape(1, 32, 8, 16, 1),
                             conv_shape(2, 8, 8, 8, 3, 1, 1)}) {
    for (const ConvPass pass : kAllPasses) {
      std::uint64_t before = 0;
      for (const int bits : {8, 4, 2}) {
        CAPTURE(to_string(pass), bits);
        const LayerRun r = run_whole(bench, layer_job_of(s, pass, bits, bits));
        if (before != 0) CHECK(r.machine.read_beats * 2 == before);
        before = r.machine.read_beats;
      }
    }
  }
}

TEST_CASE("machine conservation: on the fastest memory exec waits for the first fill only") {
  int covered = 0, uncovered = 0;
  std::uint64_t blocks = 0, waited = 0;
  for (const char* array : {"ci-4x4-s1", "ci-1x1-s4"}) {
    LayerBench bench(machine_of(array), 24);
    for (const bool fast : {true, false}) {
      bench.timing = MemoryTiming{};  // a cycle's latency, a beat a cycle
      if (!fast) {
        bench.timing.latency = 150;
        bench.timing.read_cost = 2560;
      }
      for (const int bits : {1, 2, 4, 8}) {
        for (const ConvShape& s : {conv_shape(1, 16, 8, 16, 3, 1, 1), conv_shape(1, 64, 8, 4, 1),
                                   conv_shape(2, 32, 6, 8, 3, 2, 1)}) {
          for (const std::int64_t lines : {1, 2}) {
            CAPTURE(array, fast, bits, lines);
            const LayerRun r =
                run_mapped(bench, layer_job_of(s, ConvPass::kForward, bits, bits), [&](Mapping& m) {
                  m.rows[0] = 1;
                  m.rows[1] = lines;
                });
            const Waits w = waits_of(r);
            REQUIRE(w.blocks > 1);
            blocks += static_cast<std::uint64_t>(w.blocks);
            waited += w.after_first;
            if (fast) CHECK(w.covered);
            if (w.covered) CHECK(w.after_first == 0);
            ++(w.covered ? covered : uncovered);
          }
        }
      }
    }
  }
  WARN(covered << " runs whose fetches are covered, " << uncovered << " others, " << blocks
               << " blocks; waits of the others: " << waited << " cycles");
  CHECK(covered > 0);
  // The condition tells runs apart: on the slow memory others do wait.
  CHECK(uncovered > 0);
  CHECK(waited > 0);
}

}  // namespace bitcycle
