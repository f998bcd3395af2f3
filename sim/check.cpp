#include "sim/check.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "golden/checked.hpp"
#include "golden/counter_random.hpp"
#include "golden/error.hpp"
#include "golden/operands.hpp"
#include "model/core.hpp"
#include "sim/campaign.hpp"
#include "sim/judge.hpp"
#include "sim/lockstep.hpp"
#include "sim/rtl_library.hpp"

namespace bitcycle {
namespace {

// A second tile is added where it is cheap, so that overlapping drains are seen too.
constexpr std::uint64_t kCheapTile = 20000;  // cycles

using PairKey = std::pair<int, int>;

// A window of one or two tiles of a real descriptor, with the whole reduction.
struct Sample {
  Descriptor descriptor;
  std::uint64_t tiles = 1;
  bool edge = false;
  std::string label;
};

Sample take_window(const ArrayConfig& array, const CheckItem& item, bool want_edge, bool may_be_two,
                   std::uint64_t random) {
  const auto tm = static_cast<std::uint64_t>(array.tm);
  const auto tn = static_cast<std::uint64_t>(array.tn);
  const Gemm& g = item.descriptor.gemm;
  const std::uint64_t row_tiles = ceil_div(g.m, tm);
  const std::uint64_t col_tiles = ceil_div(g.n, tn);
  const std::uint64_t row = want_edge ? row_tiles - 1 : random % row_tiles;
  const std::uint64_t col = want_edge ? col_tiles - 1 : (random >> 32U) % col_tiles;
  // Backwards from the chosen tile, so that the edge is the last one.
  const bool two = may_be_two && row > 0 && gemm_timing(array, item.descriptor).ct < kCheapTile;
  const std::uint64_t first_row = two ? row - 1 : row;
  Sample sample;
  sample.descriptor = item.descriptor;
  sample.descriptor.gemm.m = std::min(g.m, (row + 1) * tm) - first_row * tm;
  sample.descriptor.gemm.n = std::min(g.n, (col + 1) * tn) - col * tn;
  sample.tiles = two ? 2 : 1;
  sample.edge = sample.descriptor.gemm.m % tm != 0 || sample.descriptor.gemm.n % tn != 0;
  sample.label = item.label;
  return sample;
}

bool has_leftover(const CheckItem& item) {
  const Gemm& g = item.descriptor.gemm;
  return g.m % static_cast<unsigned>(item.array.tm) != 0 ||
         g.n % static_cast<unsigned>(item.array.tn) != 0;
}

// All precision pairs in turn; of each pair any descriptor, the last tile first.
std::vector<Sample> sample_tiles(const std::vector<const CheckItem*>& items, std::uint64_t tiles,
                                 std::uint64_t seed) {
  std::map<PairKey, std::vector<const CheckItem*>> by_pair;
  for (const auto* item : items) {
    by_pair[{item->descriptor.a.bits, item->descriptor.w.bits}].push_back(item);
  }
  std::vector<Sample> samples;
  std::uint64_t taken = 0;
  for (std::uint64_t round = 0; taken < tiles; ++round) {
    std::uint64_t pairs_left = by_pair.size();
    for (const auto& [pair, list] : by_pair) {
      if (taken >= tiles) break;
      --pairs_left;
      const auto stream = static_cast<std::uint64_t>(pair.first * 32 + pair.second);
      const auto draw = [&](std::uint64_t what) {
        return counter_random(seed, stream, round * 4 + what);
      };
      // Every other round prefers descriptors that leave rows or columns of a tile empty.
      const bool want_edge = round % 2 == 0;
      std::vector<const CheckItem*> leftovers;
      for (const auto* item : list) {
        if (want_edge && has_leftover(*item)) leftovers.push_back(item);
      }
      const auto& choice = leftovers.empty() ? list : leftovers;
      const CheckItem& item = *choice[draw(0) % choice.size()];
      // A second tile must not cost another precision pair its only one.
      const bool may_be_two = taken + 2 + pairs_left <= tiles;
      samples.push_back(take_window(item.array, item, want_edge, may_be_two, draw(1)));
      taken += samples.back().tiles;
    }
  }
  return samples;
}

// One array with its share of the samples.
struct Job {
  ArrayConfig array;
  std::vector<Sample> samples;
  std::size_t pairs_in_job = 0;
  std::unique_ptr<RtlModel> rtl;
  std::unique_ptr<ArrayCore> model;
  std::unique_ptr<JudgedJobs> source;
  std::unique_ptr<Stimulus> stimulus;
  std::unique_ptr<Lockstep> lockstep;
};

// Cycles that the samples of a job take, by the formula.
std::uint64_t expected_cycles(const Job& job) {
  std::uint64_t cycles = 0;
  for (const auto& s : job.samples) cycles += gemm_timing(job.array, s.descriptor).cycles;
  return cycles;
}

void prepare(Job& job, std::uint64_t seed) {
  job.rtl = make_rtl_model(job.array, RtlFlavour::kPlain, seed);
  job.model = std::make_unique<ArrayCore>(job.array);
  const auto* samples = &job.samples;
  job.source = std::make_unique<JudgedJobs>(
      job.array, [samples, seed](std::uint64_t n) -> std::optional<GemmJob> {
        if (n >= samples->size()) return std::nullopt;
        const Sample& s = (*samples)[n];
        const Gemm& g = s.descriptor.gemm;
        return GemmJob{s.descriptor,
                       make_operands(OperandPattern::kUniform, g.m, g.n, g.k, s.descriptor.a,
                                     s.descriptor.w, seed + n),
                       {},
                       s.label + ", tile " + describe(s.descriptor)};
      });
  job.stimulus = std::make_unique<Stimulus>(job.array, *job.source, seed);
  LockstepOptions options;
  if (isatty(STDERR_FILENO) != 0) {
    options.progress = [&job, total = expected_cycles(job)](std::uint64_t cycle) {
      fmt::print(stderr, "\r{}: {} of {} cycles ", job.array.name, cycle, total);
    };
  }
  job.lockstep = std::make_unique<Lockstep>(*job.rtl, *job.model, *job.stimulus, options);
}

// Says what will run, so that nobody waits in silence.
void announce(const std::vector<Job>& jobs) {
  std::uint64_t cycles = 0;
  for (const auto& job : jobs) cycles += expected_cycles(job);
  fmt::print(stderr, "bitcycle: checking on the RTL: {} cycles on {} {}\n", cycles, jobs.size(),
             jobs.size() == 1 ? "array" : "arrays");
}

std::string failure_of(const Job& job) {
  const LockstepOutcome& outcome = job.lockstep->outcome();
  if (outcome.mismatch) {
    const Mismatch& m = *outcome.mismatch;
    return fmt::format("{}: cycle {}: {}: RTL {}, model {}", job.array.name, m.cycle, m.signal,
                       m.rtl, m.model);
  }
  if (!outcome.stopped.empty()) return job.array.name + ": " + outcome.stopped;
  const std::string& bad = job.source->totals().failure;
  return bad.empty() ? "" : job.array.name + ": " + bad;
}

}  // namespace

CheckVerdict check_tiles(const std::vector<CheckItem>& items, std::uint64_t tiles,
                         std::uint64_t seed) {
  CheckVerdict verdict;
  std::vector<std::pair<std::string, std::vector<const CheckItem*>>> by_array;
  for (const auto& item : items) {
    const std::string key = item.array.key();
    auto found = std::find_if(by_array.begin(), by_array.end(),
                              [&](const auto& entry) { return entry.first == key; });
    if (found == by_array.end()) {
      by_array.emplace_back(key, std::vector<const CheckItem*>{});
      found = by_array.end() - 1;
    }
    found->second.push_back(&item);
  }
  if (by_array.empty() || tiles == 0) {
    throw input_error("", 0, "--check", "nothing to check", "a job with at least one tile");
  }
  std::vector<Job> jobs(by_array.size());
  std::vector<Lockstep*> pairs;
  std::size_t all_pairs = 0;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    std::set<PairKey> in_job;
    for (const auto* item : by_array[i].second) {
      in_job.insert({item->descriptor.a.bits, item->descriptor.w.bits});
    }
    jobs[i].array = by_array[i].second.front()->array;
    jobs[i].pairs_in_job = in_job.size();
    all_pairs += in_job.size();
  }
  std::uint64_t tiles_left = tiles;
  std::size_t pairs_left = all_pairs;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    Job& job = jobs[i];
    // Each array gets tiles in proportion to the precision pairs that it runs, at least one.
    const std::uint64_t share = tiles_left * job.pairs_in_job / pairs_left;
    job.samples = sample_tiles(by_array[i].second, std::max<std::uint64_t>(1, share), seed);
    tiles_left -= std::min(tiles_left, share);
    pairs_left -= job.pairs_in_job;
    prepare(job, seed);
    pairs.push_back(job.lockstep.get());
  }
  announce(jobs);
  run_under_systemc(pairs);
  if (isatty(STDERR_FILENO) != 0) fmt::print(stderr, "\r{:60}\r", "");

  std::uint64_t registers = 0;
  std::uint64_t edges = 0;
  std::string coverage;
  for (const auto& job : jobs) {
    const std::string failure = failure_of(job);
    if (!failure.empty() && verdict.text.empty()) verdict.text = failure;
    verdict.tiles += job.source->totals().tiles;
    verdict.gemms += job.source->totals().gemms;
    verdict.cycles += job.source->totals().cycles;
    registers += job.lockstep->registers();
    std::set<PairKey> seen;
    for (const auto& s : job.samples) {
      seen.insert({s.descriptor.a.bits, s.descriptor.w.bits});
      edges += s.edge ? 1 : 0;
    }
    coverage += fmt::format("{}{} of {} precision pairs on {}", coverage.empty() ? "" : ", ",
                            seen.size(), job.pairs_in_job, job.array.name);
  }
  verdict.pass = verdict.text.empty();
  if (verdict.pass) {
    verdict.text = fmt::format(
        "{} tiles of this job ({}; {} of them at an edge) ran on the RTL: all {} registers equal "
        "to "
        "the SystemC model in each of {} cycles, results equal to golden, cycles and events equal "
        "to the formula (seed {})",
        verdict.tiles, coverage, edges, registers, verdict.cycles, seed);
  }
  return verdict;
}

}  // namespace bitcycle
