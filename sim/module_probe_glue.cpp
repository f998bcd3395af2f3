// Probe of bc_array without its modules: what they say is driven, what they are told is compared.
#include <fmt/format.h>

#include <algorithm>

#include "model/gates/array_modules.hpp"
#include "model/gates/glue_activity.hpp"
#include "sim/module_probe.hpp"

namespace bitcycle {
namespace {

class GlueProbe final : public ModuleProbe {
 public:
  GlueProbe(const ArrayConfig& c, ArrayCore& core) : c_(c), wires_(c, core), activity_(c) {
    const ModuleKind kind = array_modules(c).back();
    module_ = kind.rtl_module;
    parameters_ = kind.parameters;
    files_ = kind.files;
    left_out_ = glued_modules(c);
    add_features(activity_.names(), activity_.descriptions());
    wires_.glue(glue_);
    pins();
    declaring_ = false;
  }

  void observe(const ArrayStep& coming) override {
    wires_.observe(coming);
    wires_.glue(glue_);
    activity_.step(glue_, features_.data());
    next_in_ = next_out_ = 0;
    pins();
  }

 private:
  // The pins below belong to this instance; "" is the array.
  template <class... Args>
  void instance(fmt::format_string<Args...> format, Args... args) {
    if (declaring_) prefix_ = fmt::format(format, args...) + ".";
  }
  void array() { prefix_.clear(); }

  // A pin that the glue reads, and one that it drives. The same calls declare them at first.
  template <class Value>
  void says(const char* pin, int bits, Value value) {
    if (declaring_) {
      add_input(prefix_ + pin, static_cast<std::size_t>(bits));
      inputs_.back().optional = true;
    } else {
      drive(next_in_++, value);
    }
  }
  template <class Value>
  void told(const char* pin, int bits, Value value, bool known = true) {
    if (declaring_) {
      add_output(prefix_ + pin, static_cast<std::size_t>(bits));
      outputs_.back().optional = true;
    } else {
      expect(next_out_, value);
      outputs_[next_out_++].known = known;
    }
  }
  static bool bit(std::uint64_t mask, int i) { return (mask >> i & 1U) != 0; }

  void pins() {
    array_pins();
    walker("u_walk_a", Walk::kA, c_.kl);
    walker("u_walk_w", Walk::kW, c_.kl);
    walker("u_walk_seq", Walk::kSeq, c_.kl);
    walker("u_walk_drain", Walk::kDrain, 1);
    fill("u_fill_a", true);
    fill("u_fill_w", false);
    sequencer();
    for (int r = 0; r < c_.tm; ++r) chunk(true, r);
    for (int c = 0; c < c_.tn; ++c) chunk(false, c);
    for (int c = 0; c <= c_.tn; ++c) {
      for (int r = 0; r < c_.tm; ++r) pe(r, c);
      for (int g = 0; g < wires_.groups(); ++g) acc(c, g);
    }
    for (int c = 0; c < c_.tn; ++c) pe(c_.tm, c);
    for (int g = 0; g < wires_.ones_groups(); ++g) ones_acc(g);
    drain();
  }

  void array_pins() {
    array();
    const GluePins& p = glue_;
    says("rst_ni", 1, std::uint64_t{1});
    says("desc_valid_i", 1, p.desc_valid);
    says("desc_m_i", 32, p.desc.m);
    says("desc_n_i", 32, p.desc.n);
    says("desc_k_i", 32, p.desc.k);
    says("desc_pa_i", 5, p.desc.pa);
    says("desc_pw_i", 5, p.desc.pw);
    says("desc_a_signed_i", 1, p.desc.a_signed);
    says("desc_w_signed_i", 1, p.desc.w_signed);
    says("res_ready_i", 1, p.res_ready);
    const EventPulses& e = p.ev;
    told("desc_ready_o", 1, !p.busy);
    told("err_o", 1, p.err);
    told("cause_o", 2, p.cause);
    told("overflow_o", 1, p.overflow);
    told("ev_digit_o", 1, e.digit);
    told("ev_idle_o", 1, e.idle);
    told("ev_freeze_o", 1, e.freeze);
    told("ev_add_o", 1, e.add);
    told("ev_flush_o", 1, e.flush);
    told("ev_rows_o", 7, e.rows);
    told("ev_cols_o", 7, e.cols);
    told("ev_flush_rows_o", 7, e.flush_rows);
    told("ev_flush_ones_o", 7, e.flush_ones);
    told("ev_flush_cols_o", 7, e.flush_cols);
    told("ev_a_words_o", 11, e.a_words);
    told("ev_w_words_o", 11, e.w_words);
  }

  void walker(const char* name, Walk which, int lanes) {
    instance("{}", name);
    WalkerPins w;
    wires_.walker(which, w);
    const auto low = [](std::uint32_t rest, int count) {
      const auto n = std::min<std::uint64_t>(rest, static_cast<unsigned>(count));
      return n >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n) - 1;
    };
    says("row_en_o", c_.tm, low(w.m_rem, c_.tm));
    says("col_en_o", c_.tn, low(w.n_rem, c_.tn));
    if (lanes <= 64) says("lane_en_o", lanes, low(w.k_rem, lanes));
    says("first_k_o", 1, w.first_k);
    says("last_k_o", 1, w.last_k);
    says("last_tile_o", 1, w.last_tile);
    told("load_i", 1, w.load);
    told("step_i", 1, w.step);
    told("m_i", 32, w.m);
    told("n_i", 32, w.n);
    told("k_i", 32, w.k);
  }

  void fill(const char* name, bool is_a) {
    instance("{}", name);
    FillPins f;
    if (is_a) {
      wires_.fill_a(f);
    } else {
      wires_.fill_w(f);
    }
    says("ready_o", 1, f.ready);
    says("chunk_done_o", 1, f.chunk_done);
    says("we_o", 1, f.we);
    says("bank_o", 1, f.bank);
    says("plane_o", 5, f.plane);
    says("row_sel_o", is_a ? c_.tm : c_.tn, f.row_sel);
    says("full_o", 2, f.full);
    told("start_i", 1, f.start);
    told("bits_i", 5, f.bits);
    told("last_chunk_i", 1, f.last_chunk);
    told("free_i", 2, f.free);
  }

  void sequencer() {
    instance("u_seq");
    const SeqPins& s = glue_.seq;
    says("free_o", 2, s.free);
    says("chunk_done_o", 1, s.chunk_done);
    says("digit_o", 1, s.digit);
    says("idle_o", 1, s.idle);
    says("bank_o", 1, s.bank);
    says("a_digit_o", 4, s.a_digit);
    says("w_digit_o", 4, s.w_digit);
    says("a_neg_o", 1, s.a_neg);
    says("w_neg_o", 1, s.w_neg);
    says("first_o", 1, s.first);
    says("d_o", 3, s.d);
    says("last_o", 1, s.last);
    says("shift_o", 2, s.shift);
    says("load_o", 1, s.load);
    says("tile_last_o", 1, s.tile_last);
    says("acc_bank_o", 1, s.acc_bank);
    told("start_i", 1, s.start);
    told("en_i", 1, s.en);
    told("a_bits_i", 5, s.a_bits);
    told("w_bits_i", 5, s.w_bits);
    told("a_signed_i", 1, s.a_signed);
    told("w_signed_i", 1, s.w_signed);
    told("last_k_i", 1, s.last_k);
    told("last_tile_i", 1, s.last_tile);
  }

  void chunk(bool is_a, int i) {
    instance("{}[{}].u_chunk", is_a ? "g_a" : "g_w", i);
    const GluePins& p = glue_;
    told("we_i", 1, bit(is_a ? p.a_sel & p.a_row_en : p.w_sel & p.w_col_en, i));
    told("sel_i", 1, p.seq.digit && bit(is_a ? p.seq_row_en : p.seq_col_en, i));
    told("bits_i", 5, is_a ? p.held.pa : p.held.pw);
    told("signed_i", 1, is_a ? p.held.a_signed : p.held.w_signed);
  }

  // Column TN and row TM are those of ones.
  void pe(int r, int c) {
    const bool ones_row = r == c_.tm, ones_col = c == c_.tn;
    if (ones_row) {
      instance("g_ones[{}].u_pe", c);
    } else {
      instance("g_col[{}].g_pe[{}].u_pe", c, r);
    }
    const PeControl& p = glue_.pe;
    const auto in = [&](std::uint64_t rows, std::uint64_t cols) {
      return (ones_row || bit(rows, r)) && (ones_col || bit(cols, c));
    };
    told("add_i", 1, p.add && in(p.row_en, p.col_en));
    told("hold_i", 1, p.hold && in(p.hold_row_en, p.hold_col_en));
    told("first_i", 1, p.first);
    told("d_i", 3, p.d);
    told("a_neg_i", 1, p.a_neg && !ones_row);
    told("w_neg_i", 1, p.w_neg && !ones_col);
    if (ones_row) told("a_i", c_.kl * c_.ra, wires_.a_digit(r));
    if (ones_col) told("w_i", c_.kl * c_.rw, wires_.w_digit(c));
  }

  void acc_pins(int g, int rd, const AccPins& a) {
    says("overflow_o", 1, acc_flush(a, c_, g).overflow);
    if (wires_.read_multiplexers() && rd == 1) {
      says("rd_o", c_.acc_w, a.acc[(a.rd_bank ? g : 0) + a.rd_index % g]);
    }
    told("flush_i", 1, a.flush);
    told("index_i", index_bits(), a.index);
    told("en_i", g, a.en);
    told("load_i", 1, a.load);
    told("bank_i", 1, a.bank);
    told("shift_i", 2, a.shift);
    told("rd_index_i", 6, a.rd_index);
  }
  void acc(int c, int group) {
    instance("g_col[{}].g_acc[{}].u_acc", c, group);
    AccPins a;
    wires_.acc(c, group, a);
    acc_pins(c_.s, 1, a);
  }
  void ones_acc(int group) {
    instance("g_ones_acc[{}].u_acc", group);
    AccPins a;
    wires_.ones_acc(group, a);
    acc_pins(wires_.ones_group(), wires_.ones_group(), a);
  }
  int index_bits() const {
    int bits = 1;
    while ((1 << bits) < c_.s) ++bits;
    return bits;
  }

  void drain() {
    instance("u_drain");
    DrainPins d;
    wires_.drain(d);
    says("busy_o", 2, d.busy);
    says("rd_bank_o", 1, d.rd_bank);
    says("rd_row_o", 6, d.rd_row);
    says("tile_read_o", 1, d.tile_read);
    says("valid_o", 1, d.valid);
    says("last_o", 1, d.last);
    told("tile_done_i", 2, d.tile_done);
    // Past the tile there is no such row, and the drain does not look.
    const bool known = d.rd_row < c_.tm;
    told("acc_i", c_.tn * wires_.read_rows() * c_.acc_w, d.acc.data(), known);
    told("sum_a_i", wires_.read_rows() * c_.acc_w, d.sum_a.data(), known);
  }

  ArrayConfig c_;
  ArrayWires wires_;
  GlueActivity activity_;
  GluePins glue_;
  bool declaring_ = true;
  std::string prefix_;
  std::size_t next_in_ = 0, next_out_ = 0;
};

}  // namespace

std::unique_ptr<ModuleProbe> make_glue_probe(const ArrayConfig& array, ArrayCore& core) {
  return std::make_unique<GlueProbe>(array, core);
}

}  // namespace bitcycle
