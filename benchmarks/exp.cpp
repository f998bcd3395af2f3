#include <fmt/format.h>
#include <ctime>
#include <cstdlib>
#include "model/machine/recurrence.hpp"
#include "model/machine/compile.hpp"
#include "model/machine/plan_cursor.hpp"
#include "model/machine/timed.hpp"
#include "model/formula.hpp"
#include "sim/machine_cost.hpp"
#include "sim/memory_choice.hpp"
#include "workloads/network.hpp"
#include <set>
using namespace bitcycle;
static double now() { timespec t; clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); return t.tv_sec * 1e3 + t.tv_nsec * 1e-6; }
struct Emit { std::uint64_t instr = 0, bursts = 0; };
int main(int argc, char** argv) {
  const std::string net = argc > 1 ? argv[1] : "resnet50-imagenet", arr = argc > 2 ? argv[2] : "serial-1x1";
  const int b = argc > 3 ? atoi(argv[3]) : 8, g = argc > 4 ? atoi(argv[4]) : 8;
  const std::uint64_t batch = argc > 5 ? atoi(argv[5]) : 256;
  const Network n = make_network(net);
  MachineCostOptions o;
  o.machine = machine_for(resolve_array(arr));
  o.memory = view_memory(resolve_memory("bandwidth-latency"), o.machine.dw, 1e9, "clock").timing;
  if (argc > 6) o.memory.read_cost = o.memory.write_cost = atoi(argv[6]);
  std::set<std::string> seen;
  double tc = 0, tr = 0, tg = 0; std::uint64_t total = 0, est = 0;
  for (std::size_t l = 0; l < n.layers.size(); ++l) for (GemmKind k : {GemmKind::kForward, GemmKind::kDx, GemmKind::kDw}) {
    if (!n.layers[l].quantised) continue;
    const LayerJob job = layer_job(n.layers[l], k, batch, {b, b, g}, o);
    if (!seen.insert(job.key).second) continue;
    const double t0 = now();
    CompileOptions co = compile_options(o); static auto pools = std::make_shared<MappingPools>(); co.pools = pools;
    CompiledLayer c;
    if (job.is_conv) c = compile_layer(o.machine, job.conv, co); else c.plans.push_back(compile(GemmProblem(o.machine, job.matmul), co));
    const double t1 = now();
    for (const auto& p : c.plans) { PlanCursor cur(p.plan); asm volatile("" :: "r"(&cur)); }
    const double t2 = now();
    MachineCost mc(o);
    MachineGemm r = mc.gemm(n, l, k, batch, {b, b, g});
    const double t3 = now();
    tc += t1 - t0; tg += t2 - t1; tr += t3 - t2 - (t1 - t0);
    double e = 0; for (auto& p : c.plans) e += p.time * c.batch_parts; est += e; total += r.cycles;
    if (getenv("V")) fmt::print("{:24} {:4} {:>12} est {:.4f} execs {:>7} fetches {:>7} compile {:6.2f} cursor {:6.2f} run {:6.2f} ms cand {} eval {} {}\n", n.layers[l].name, to_string(k), r.cycles, r.cycles / e, r.execs, r.fetches, t1 - t0, t2 - t1, t3 - t2 - (t1 - t0), c.plans[0].candidates, c.plans[0].evaluated, r.mapping);
  }
  fmt::print("{} {} {}x{}: {} cycles, R/est {:.4f}, compile {:.1f} ms cursor {:.1f} ms run {:.1f} ms, distinct {}\n", net, arr, b, g, total, double(total) / est, tc, tg, tr, seen.size());
}
