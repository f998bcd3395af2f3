#include "model/machine/exec.hpp"

namespace bitcycle {

ExecUnit::ExecUnit(const MachineConfig& config)
    : p_max_(config.array.p_max),
      setup_cycles_(config.setup_cycles()),
      gather_a_({config.array.tm, config.array.tn, config.array.ba, config.array.kl, config.gl,
                 /*rows_first=*/true}),
      gather_w_({config.array.tn, config.array.tm, config.array.bw, config.array.kl, config.gl,
                 /*rows_first=*/false}),
      l1a_(config.l1a_d, config.dw, config.gl),
      l1w_(config.l1w_d, config.dw, config.gl) {}

void ExecUnit::reset() {
  run_ = setup_k_ = 0;
  gather_a_.reset();
  gather_w_.reset();
}

layout::MachineCause ExecUnit::cause() const {
  using layout::MachineCause;
  if (m_ == 0 || n_ == 0 || k_ == 0) return MachineCause::kDimZero;
  if (pa_ == 0 || pw_ == 0) return MachineCause::kWidthZero;
  if (pa_ > p_max_ || pw_ > p_max_) return MachineCause::kWidthOver;
  if (out_bits_bad_ != 0) return MachineCause::kOutBits;
  if (gather_a_.illegal() || gather_w_.illegal() || out_radix_bad_ != 0) {
    return MachineCause::kRadix;
  }
  return MachineCause::kNone;
}

RawDescriptor ExecUnit::descriptor() const {
  return {m_, n_, k_, pa_, pw_, a_signed_ != 0, w_signed_ != 0};
}

void ExecUnit::step(const ExecStep& in) {
  const bool is_setup = setup();
  const bool is_err = err();
  const bool is_load = load(in.desc_ready);

  GatherStep a;
  a.start = in.start;
  a.setup = is_setup;
  a.setup_k = setup_k_;
  a.load = is_load;
  a.k = k_;
  GatherStep w = a;
  a.own = w.other = m_;
  w.own = a.other = n_;
  a.bits = pa_;
  w.bits = pw_;
  a.ready = in.a_ready;
  w.ready = in.w_ready;
  if (in.start) {
    a.side = in.inst + layout::kExecAWord;
    w.side = in.inst + layout::kExecWWord;
  }
  gather_a_.step(a);
  gather_w_.step(w);
  if (in.l1a_write) l1a_.write(in.l1a_beat, in.l1_data);
  if (in.l1w_write) l1w_.write(in.l1w_beat, in.l1_data);

  if (in.start) {
    run_ = 1;
    setup_k_ = 0;
  } else {
    if (is_err || is_load) run_ = 0;
    if (is_setup) ++setup_k_;
  }
  if (!in.start) return;

  const auto field = [&](const layout::Field& f) {
    return get_bits(in.inst, static_cast<std::size_t>(f.bit), static_cast<std::size_t>(f.width));
  };
  m_ = static_cast<std::uint32_t>(field(layout::kExecM));
  n_ = static_cast<std::uint32_t>(field(layout::kExecN));
  k_ = static_cast<std::uint32_t>(field(layout::kExecK));
  pa_ = static_cast<std::uint8_t>(field(layout::kExecPa));
  pw_ = static_cast<std::uint8_t>(field(layout::kExecPw));
  a_signed_ = static_cast<std::uint8_t>(field(layout::kExecASigned));
  w_signed_ = static_cast<std::uint8_t>(field(layout::kExecWSigned));
  const bool results = field(layout::kExecPsWrite) == 0;
  const auto out_bits = field(layout::kExecOutBits);
  const bool codes = results && field(layout::kExecRaw) == 0;
  out_bits_bad_ = codes && (out_bits == 0 || out_bits > 16) ? 1 : 0;
  out_radix_bad_ =
      results && (field(layout::kExecOr0) == 0 || field(layout::kExecOr1) == 0) ? 1 : 0;
}

void ExecUnit::list(const std::string& prefix, std::vector<RegisterView>& out) {
  const auto one = [&](const char* name, auto& value, std::size_t bits) {
    out.push_back({prefix + name, &value, 1, sizeof(value), bits});
  };
  one(".a_signed_q", a_signed_, 1);
  one(".w_signed_q", w_signed_, 1);
  one(".pa_q", pa_, 5);
  one(".pw_q", pw_, 5);
  one(".out_bits_bad_q", out_bits_bad_, 1);
  one(".out_radix_bad_q", out_radix_bad_, 1);
  one(".m_q", m_, 32);
  one(".n_q", n_, 32);
  one(".k_q", k_, 32);
  one(".run_q", run_, 1);
  one(".setup_k_q", setup_k_, 4);
  gather_a_.list(prefix + ".u_gather_a", out);
  gather_w_.list(prefix + ".u_gather_w", out);
}

void ExecUnit::list_memories(const std::string& prefix, std::vector<RegisterView>& out) {
  l1a_.list(prefix + ".u_l1a", out);
  l1w_.list(prefix + ".u_l1w", out);
}

}  // namespace bitcycle
