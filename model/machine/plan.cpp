#include "model/machine/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "golden/checked.hpp"
#include "golden/error.hpp"
#include "model/array.hpp"
#include "model/machine/plan_walk.hpp"

namespace bitcycle {
namespace {

std::string index_text(const Index3& i) { return fmt::format("({}, {}, {})", i[0], i[1], i[2]); }

}  // namespace

bool outputs_alone(const GemmProblem& problem, const Mapping& m) {
  return problem.units == 1 && m.sub_rows == problem.rows() && m.sub_cols == problem.cols();
}

Plan::Plan(GemmProblem problem, const Mapping& mapping)
    : problem_(std::move(problem)), mapping_(mapping) {
  const PlanCheck check = check_mapping(problem_, mapping_);
  if (!check.refused.empty()) {
    throw input_error("", 0, "mapping of " + problem_.name,
                      check.refused + " with " + mapping_text(mapping_),
                      "blocks that fit the layer and the machine's buffers");
  }
  cost_ = check.cost;
}

std::uint64_t Plan::result_bytes() const {
  if (problem_.out.form == OutputForm::kCodes) return problem_.result.bytes();
  return cost_.stores * slot_bytes();
}

std::uint64_t Plan::slot_bytes() const {
  const std::uint64_t bytes = cost_.last_out * static_cast<std::uint64_t>(problem_.config.dw / 8);
  if (bytes >= kPageBytes) return ceil_div(bytes, kPageBytes) * kPageBytes;
  std::uint64_t slot = 1;
  while (slot < bytes) slot *= 2;
  return slot;
}

void Plan::set_addresses(std::uint64_t first, std::uint64_t second, std::uint64_t result) {
  problem_.first.base = first;
  problem_.second.base = second;
  problem_.result.base = result;
  result_base_ = result;
}

void Plan::emit(const Sink& sink) const {
  PlanWalk walk(*this);
  walk.run(0, walk.steps(), &sink, nullptr);
}

void Plan::outputs(const OutputSink& sink) const {
  PlanWalk walk(*this);
  walk.run(0, walk.steps(), nullptr, &sink);
}

std::string mapping_text(const Mapping& m) {
  return fmt::format("rows {} cols {} reduction {} out {} {} {} outer{}", index_text(m.rows),
                     index_text(m.cols), index_text(m.ks), index_text(m.sub_rows),
                     index_text(m.sub_cols), m.cols_outer ? "cols" : "rows",
                     m.exchange ? ", exchanged" : "");
}

Mapping parse_mapping(const std::string& text) {
  Mapping m;
  long long v[15];
  char outer[5] = {};
  int used = 0;
  const int found = std::sscanf(
      text.c_str(),
      "rows (%lld, %lld, %lld) cols (%lld, %lld, %lld) reduction (%lld, %lld, %lld) out (%lld, "
      "%lld, %lld) (%lld, %lld, %lld) %4[a-z] outer%n",
      &v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &v[6], &v[7], &v[8], &v[9], &v[10], &v[11], &v[12],
      &v[13], &v[14], outer, &used);
  const std::string order = outer;
  const std::string rest = used > 0 ? text.substr(static_cast<std::size_t>(used)) : "";
  if (found != 16 || used == 0 || (order != "rows" && order != "cols") ||
      (!rest.empty() && rest != ", exchanged")) {
    throw input_error("", 0, "mapping", "'" + text + "'",
                      "rows (a, b, c) cols (a, b, c) reduction (a, b, c) out (a, b, c) (a, b, c) "
                      "rows|cols outer[, exchanged]");
  }
  Index3* const fields[] = {&m.rows, &m.cols, &m.ks, &m.sub_rows, &m.sub_cols};
  for (std::size_t i = 0; i < 15; ++i) (*fields[i / 3])[i % 3] = v[i];
  m.cols_outer = order == "cols";
  m.exchange = !rest.empty();
  return m;
}

std::string Plan::describe() const {
  const PlanCost& c = cost_;
  const MachineConfig& m = problem_.config;
  const BlockGrid rows{problem_.rows(), mapping_.rows};
  const BlockGrid cols{problem_.cols(), mapping_.cols};
  const BlockGrid ks{problem_.ks(), mapping_.ks};
  std::string out = problem_.name + "\n";
  out += fmt::format("  units {} parts {}; rows {} cols {} reduction {}{}\n", problem_.units,
                     problem_.parts_per_unit, index_text(rows.extent), index_text(cols.extent),
                     index_text(ks.extent), problem_.k_granules ? " (granules)" : "");
  out += fmt::format("  mapping {}\n", mapping_text(mapping_));
  out += fmt::format("  blocks {} x {} x {}; {} exec, {} fetch, {} store instructions\n",
                     rows.count(), cols.count(), ks.count(), c.execs, c.fetches, c.stores);
  out += fmt::format(
      "  buffers: first {} of {} beats, second {} of {}, output {} of {}, partial sums {} of {}\n",
      c.first_box, mapping_.exchange ? m.l1w_d : m.l1a_d, c.second_box,
      mapping_.exchange ? m.l1a_d : m.l1w_d, c.last_out, m.ob_d, c.psb_entries, m.ps_d);
  out += fmt::format("  exec cycles {}; beats read {} (tensor {}) + {} (tensor {}), written {}\n",
                     c.exec_cycles, c.first_beats, c.first_unique, c.second_beats, c.second_unique,
                     c.out_beats);
  out += fmt::format("  MACs useful {}, issued {}, with whole tiles {}\n", problem_.useful_macs,
                     c.macs_issued, c.macs_padded);
  return out;
}

void read_raw(const Plan& plan, const std::vector<std::uint8_t>& dram,
              const std::function<void(const OutputBlock&, std::uint64_t r, std::uint64_t c,
                                       std::int64_t value)>& on_value,
              const std::function<void(const OutputBlock&, bool of_first, std::uint64_t index,
                                       std::int64_t value)>& on_sum) {
  const auto value_at = [&](std::uint64_t bit, std::uint64_t bits) {
    const std::uint64_t raw = get_bits(dram.data(), bit, bits);
    const std::uint64_t sign = std::uint64_t{1} << (bits - 1);
    return static_cast<std::int64_t>((raw ^ sign) - sign);
  };
  plan.outputs([&](const OutputBlock& b) {
    for (std::uint64_t r = 0; r < b.row_count; ++r) {
      for (std::uint64_t c = 0; c < b.col_count; ++c) {
        on_value(b, r, c,
                 value_at(b.values_bit + r * b.row_step_bits + c * b.col_step_bits, b.step_bits));
      }
    }
    if (!b.sums) return;
    for (std::uint64_t r = 0; r < b.row_count; ++r) {
      on_sum(b, true, r, value_at(b.sum_first_bit + r * b.step_bits, b.step_bits));
    }
    for (std::uint64_t c = 0; c < b.col_count; ++c) {
      on_sum(b, false, c, value_at(b.sum_second_bit + c * b.step_bits, b.step_bits));
    }
  });
}

}  // namespace bitcycle
