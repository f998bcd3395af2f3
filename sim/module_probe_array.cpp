// Probes of the array's modules.
#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "golden/error.hpp"
#include "model/gates/array_modules.hpp"
#include "model/gates/module_activity.hpp"
#include "model/gates/pe_activity.hpp"
#include "sim/array_area.hpp"
#include "sim/gate_stimuli.hpp"
#include "sim/module_probe.hpp"

namespace bitcycle {
namespace {

// A register that is looked at every cycle.
class Reg {
 public:
  Reg(const RegisterReader& reader, const std::string& name) : view_(&reader.view(name)) {}
  std::uint64_t get() const {
    return get_bits(view_->data, 0, std::min<std::size_t>(64, view_->bits));
  }
  bool bit(std::size_t i) const { return get_bits(view_->data, i, 1) != 0; }
  const RegisterView& view() const { return *view_; }
  /// Bits `from` on of element `index` into `out`.
  void copy(std::size_t index, std::vector<std::uint64_t>& out) const {
    const auto* data = static_cast<const std::uint8_t*>(view_->data) + index * view_->bytes;
    for (std::size_t at = 0; at < view_->bits; at += 64) {
      out[at / 64] = get_bits(data, at, std::min<std::size_t>(64, view_->bits - at));
    }
  }

 private:
  const RegisterView* view_;
};

class PeProbe final : public ModuleProbe {
 public:
  PeProbe(const ArrayConfig& c, ArrayCore& core)
      : core_(core),
        reader_(core),
        activity_(c),
        row_(1),
        col_(1),
        hold_(c.s > 1),
        valid_(reader_, "op_valid_q"),
        first_(reader_, "op_first_q"),
        d_(reader_, "op_d_q"),
        a_neg_(reader_, "op_a_neg_q"),
        w_neg_(reader_, "op_w_neg_q"),
        row_en_(reader_, "op_row_en_q"),
        col_en_(reader_, "op_col_en_q"),
        ac_valid_(reader_, "ac_valid_q"),
        ac_row_en_(reader_, "ac_row_en_q"),
        ac_col_en_(reader_, "ac_col_en_q"),
        a_(reader_, fmt::format("g_a[{}].u_chunk.digit_q", row_)),
        w_(reader_, fmt::format("g_w[{}].u_chunk.digit_q", col_)),
        ac_(reader_, fmt::format("g_col[{}].g_pe[{}].u_pe.ac_q", col_, row_)),
        out_(reader_, fmt::format(hold_ ? "g_col[{}].g_pe[{}].u_pe.g_hold.ah_q"
                                        : "g_col[{}].g_pe[{}].u_pe.ac_q",
                                  col_, row_)) {
    const ModuleKind pe = array_modules(c).front();
    module_ = pe.rtl_module;
    files_ = pe.files;
    parameters_ = pe.parameters;
    add_input("add_i", 1);
    add_input("first_i", 1);
    add_input("d_i", 3);
    add_input("a_i", static_cast<std::size_t>(c.kl * c.ra));
    add_input("a_neg_i", 1);
    add_input("w_i", static_cast<std::size_t>(c.kl * c.rw));
    add_input("w_neg_i", 1);
    add_input("hold_i", 1);
    add_output("sum_o", static_cast<std::size_t>(c.ac_w));
    for (std::size_t i = 0; i < activity_.names().size(); ++i) {
      add_feature(activity_.names()[i], activity_.descriptions()[i]);
    }
  }

  void observe(const ArrayStep& /*coming*/) override {
    const bool enabled = !core_.ports().ev.freeze;
    const auto row = static_cast<std::size_t>(row_);
    const auto col = static_cast<std::size_t>(col_);
    a_.copy(0, inputs_[3].value);
    w_.copy(0, inputs_[5].value);
    PePins pins;
    pins.add = enabled && valid_.bit(0) && row_en_.bit(row) && col_en_.bit(col);
    pins.first = first_.bit(0);
    pins.d = static_cast<std::uint8_t>(d_.get());
    pins.a_neg = a_neg_.bit(0);
    pins.w_neg = w_neg_.bit(0);
    pins.hold = enabled && ac_valid_.bit(0) && ac_row_en_.bit(row) && ac_col_en_.bit(col);
    pins.a = inputs_[3].value.data();
    pins.w = inputs_[5].value.data();
    pins.ac = static_cast<std::uint32_t>(ac_.get());
    pins.ah = static_cast<std::uint32_t>(out_.get());
    inputs_[0].value[0] = pins.add;
    inputs_[1].value[0] = pins.first;
    inputs_[2].value[0] = pins.d;
    inputs_[4].value[0] = pins.a_neg;
    inputs_[6].value[0] = pins.w_neg;
    inputs_[7].value[0] = pins.hold;
    outputs_[0].value[0] = pins.ah;
    // AC is determined an edge after it was loaded, AH an edge after it took such an AC.
    outputs_[0].known = hold_ ? held_ : loaded_;
    held_ = held_ || (pins.hold && loaded_);
    loaded_ = loaded_ || (pins.add && pins.first);
    activity_.step(pins, features_.data());
  }

 private:
  ArrayCore& core_;
  RegisterReader reader_;
  PeActivity activity_;
  int row_, col_;
  bool hold_;
  Reg valid_, first_, d_, a_neg_, w_neg_, row_en_, col_en_, ac_valid_, ac_row_en_, ac_col_en_;
  Reg a_, w_, ac_, out_;
  bool loaded_ = false, held_ = false;
};

// The common part of the probes below: wires, pins and features of one instance.
template <class Activity, class Pins>
class WireProbe : public ModuleProbe {
 public:
  WireProbe(const std::string& name, const ArrayConfig& c, const ArrayCore& core,
            std::unique_ptr<Activity> activity)
      : wires_(c, core), activity_(std::move(activity)) {
    for (const auto& m : array_modules(c)) {
      if (m.name != name) continue;
      module_ = m.rtl_module;
      parameters_ = m.parameters;
      files_ = m.files;
    }
    add_features(activity_->names(), activity_->descriptions());
  }
  void observe(const ArrayStep& coming) override {
    wires_.observe(coming);
    read();
    activity_->step(pins_, features_.data());
    connect();
  }

 protected:
  virtual void read() = 0;     ///< pins_
  virtual void connect() = 0;  ///< inputs and outputs, from pins_

  static std::size_t size(int a, int b = 1) {
    return static_cast<std::size_t>(a) * static_cast<std::size_t>(b);
  }
  ArrayWires wires_;
  std::unique_ptr<Activity> activity_;
  Pins pins_;
};

class AccProbe final : public WireProbe<AccActivity, AccPins> {
 public:
  AccProbe(const std::string& name, const ArrayConfig& c, const ArrayCore& core, int g, int rd)
      : WireProbe(name, c, core, std::make_unique<AccActivity>(c, g, rd)),
        ones_(name == "acc-ones") {
    for (const auto& [port, bits] : {std::pair<const char*, std::size_t>{"flush_i", 1},
                                     {"en_i", size(g)},
                                     {"load_i", 1},
                                     {"bank_i", 1},
                                     {"shift_i", 2},
                                     {"sum_i", size(g, c.ac_w)},
                                     {"rd_bank_i", 1},
                                     {"rd_index_i", 6}}) {
      add_input(port, bits);
    }
    std::size_t index_bits = 1;
    while ((1 << index_bits) < c.s) ++index_bits;
    add_input("index_i", index_bits);
    add_output("overflow_o", 1);
    add_output("rd_o", size(rd, c.acc_w));
  }

 private:
  void read() override {
    if (ones_) {
      wires_.ones_acc(0, pins_);
    } else {
      wires_.acc(1, 0, pins_);
    }
  }
  void connect() override {
    drive(0, pins_.flush);
    drive(1, pins_.en);
    drive(2, pins_.load);
    drive(3, pins_.bank);
    drive(4, pins_.shift);
    drive(5, pins_.sum.data());
    drive(6, pins_.rd_bank);
    drive(7, pins_.rd_index);
    drive(8, pins_.index);
    expect(0, activity_->overflow());
    expect(1, activity_->read().data());
  }
  bool ones_;
};

class ChunkProbe final : public WireProbe<ChunkActivity, ChunkPins> {
 public:
  ChunkProbe(const std::string& name, const ArrayConfig& c, const ArrayCore& core)
      : WireProbe(name, c, core, std::make_unique<ChunkActivity>(c, name == "chunk-a")),
        is_a_(name == "chunk-a") {
    const int planes = is_a_ ? wires_.planes_a() : wires_.planes_w();
    for (const auto& [port, bits] : {std::pair<const char*, std::size_t>{"we_i", 1},
                                     {"wr_bank_i", 1},
                                     {"plane_i", 5},
                                     {"data_i", size(planes, c.kl)},
                                     {"lane_en_i", size(c.kl)},
                                     {"sel_i", 1},
                                     {"bank_i", 1},
                                     {"digit_i", 4},
                                     {"bits_i", 5},
                                     {"signed_i", 1}}) {
      add_input(port, bits);
    }
    add_output("digit_o", size(c.kl, is_a_ ? c.ra : c.rw));
  }

 private:
  void read() override {
    if (is_a_) {
      wires_.chunk_a(1, pins_);
    } else {
      wires_.chunk_w(1, pins_);
    }
  }
  void connect() override {
    drive(0, pins_.we);
    drive(1, pins_.wr_bank);
    drive(2, pins_.plane);
    drive(3, pins_.data.data());
    drive(4, pins_.lane_en.data());
    drive(5, pins_.sel);
    drive(6, pins_.bank);
    drive(7, pins_.digit);
    drive(8, pins_.bits);
    drive(9, pins_.is_signed);
    expect(0, pins_.digit_q);
  }
  bool is_a_;
};

class FillProbe final : public WireProbe<FillActivity, FillPins> {
 public:
  FillProbe(const std::string& name, const ArrayConfig& c, const ArrayCore& core)
      : WireProbe(name, c, core, std::make_unique<FillActivity>(c, name == "fill-a")),
        is_a_(name == "fill-a") {
    const std::size_t data = size(is_a_ ? c.ba : c.bw, c.kl);
    for (const auto& [port, bits] : {std::pair<const char*, std::size_t>{"rst_ni", 1},
                                     {"start_i", 1},
                                     {"bits_i", 5},
                                     {"valid_i", 1},
                                     {"data_i", data},
                                     {"last_chunk_i", 1},
                                     {"free_i", 2}}) {
      add_input(port, bits);
    }
    for (const auto& [port, bits] : {std::pair<const char*, std::size_t>{"ready_o", 1},
                                     {"chunk_done_o", 1},
                                     {"we_o", 1},
                                     {"bank_o", 1},
                                     {"plane_o", 5},
                                     {"row_sel_o", size(is_a_ ? c.tm : c.tn)},
                                     {"data_o", data},
                                     {"full_o", 2}}) {
      add_output(port, bits);
    }
  }

 private:
  void read() override {
    if (is_a_) {
      wires_.fill_a(pins_);
    } else {
      wires_.fill_w(pins_);
    }
  }
  void connect() override {
    drive(0, 1);
    drive(1, pins_.start);
    drive(2, pins_.bits);
    drive(3, pins_.valid);
    drive(4, pins_.data);
    drive(5, pins_.last_chunk);
    drive(6, pins_.free);
    expect(0, pins_.ready);
    expect(1, pins_.chunk_done);
    expect(2, pins_.we);
    expect(3, pins_.bank);
    expect(4, pins_.plane);
    expect(5, pins_.row_sel);
    expect(6, pins_.in_data);
    expect(7, pins_.full);
  }
  bool is_a_;
};

class WalkerProbe final : public WireProbe<WalkerActivity, WalkerPins> {
 public:
  WalkerProbe(const std::string& name, const ArrayConfig& c, const ArrayCore& core)
      : WireProbe(name, c, core, std::make_unique<WalkerActivity>(c)) {
    for (const auto& [port, bits] : {std::pair<const char*, std::size_t>{"rst_ni", 1},
                                     {"load_i", 1},
                                     {"step_i", 1},
                                     {"m_i", 32},
                                     {"n_i", 32},
                                     {"k_i", 32}}) {
      add_input(port, bits);
    }
    for (const auto& [port, bits] : {std::pair<const char*, std::size_t>{"row_en_o", size(c.tm)},
                                     {"col_en_o", size(c.tn)},
                                     {"lane_en_o", size(c.kl)},
                                     {"first_k_o", 1},
                                     {"last_k_o", 1},
                                     {"last_tile_o", 1}}) {
      add_output(port, bits);
    }
  }

 private:
  void read() override { wires_.walker(Walk::kA, pins_); }
  void connect() override {
    const ArrayConfig& c = wires_.config();
    drive(0, 1);
    drive(1, pins_.load);
    drive(2, pins_.step);
    drive(3, pins_.m);
    drive(4, pins_.n);
    drive(5, pins_.k);
    const auto first = [](std::uint32_t rest, int count, std::vector<std::uint64_t>& out) {
      const std::uint64_t end = std::min<std::uint64_t>(rest, static_cast<unsigned>(count));
      for (std::size_t w = 0; w < out.size(); ++w) {
        const std::uint64_t bits = end > 64 * w ? std::min<std::uint64_t>(64, end - 64 * w) : 0;
        out[w] = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
      }
    };
    first(pins_.m_rem, c.tm, outputs_[0].value);
    first(pins_.n_rem, c.tn, outputs_[1].value);
    first(pins_.k_rem, c.kl, outputs_[2].value);
    for (std::size_t o = 0; o < 3; ++o) outputs_[o].known = true;
    expect(3, pins_.first_k);
    expect(4, pins_.last_k);
    expect(5, pins_.last_tile);
  }
};

class SeqProbe final : public WireProbe<SeqActivity, SeqPins> {
 public:
  SeqProbe(const std::string& name, const ArrayConfig& c, const ArrayCore& core)
      : WireProbe(name, c, core, std::make_unique<SeqActivity>(c)) {
    for (const auto& [port, bits] : {std::pair<const char*, std::size_t>{"rst_ni", 1},
                                     {"start_i", 1},
                                     {"en_i", 1},
                                     {"a_bits_i", 5},
                                     {"w_bits_i", 5},
                                     {"a_signed_i", 1},
                                     {"w_signed_i", 1},
                                     {"a_full_i", 2},
                                     {"w_full_i", 2},
                                     {"first_k_i", 1},
                                     {"last_k_i", 1},
                                     {"last_tile_i", 1}}) {
      add_input(port, bits);
    }
    for (const auto& [port, bits] : {std::pair<const char*, std::size_t>{"free_o", 2},
                                     {"chunk_done_o", 1},
                                     {"digit_o", 1},
                                     {"idle_o", 1},
                                     {"bank_o", 1},
                                     {"a_digit_o", 4},
                                     {"w_digit_o", 4},
                                     {"a_neg_o", 1},
                                     {"w_neg_o", 1},
                                     {"first_o", 1},
                                     {"d_o", 3},
                                     {"last_o", 1},
                                     {"shift_o", 2},
                                     {"load_o", 1},
                                     {"tile_last_o", 1},
                                     {"acc_bank_o", 1}}) {
      add_output(port, bits);
    }
  }

 private:
  void read() override { wires_.seq(pins_); }
  void connect() override {
    const SeqPins& p = pins_;
    std::size_t i = 0;
    for (const std::uint64_t value : std::initializer_list<std::uint64_t>{
             1, p.start, p.en, p.a_bits, p.w_bits, p.a_signed, p.w_signed, p.a_full, p.w_full,
             p.first_k, p.last_k, p.last_tile}) {
      drive(i++, value);
    }
    i = 0;
    for (const std::uint64_t value : std::initializer_list<std::uint64_t>{
             p.free, p.chunk_done, p.digit, p.idle, p.bank, p.a_digit, p.w_digit, p.a_neg, p.w_neg,
             p.first, p.d, p.last, p.shift, p.load, p.tile_last, p.acc_bank}) {
      expect(i++, value);
    }
    // Before the first descriptor there is no operand that a digit could be the top of.
    outputs_[7].known = outputs_[8].known = p.a_bits != 0;
  }
};

class DrainProbe final : public WireProbe<DrainActivity, DrainPins> {
 public:
  DrainProbe(const std::string& name, const ArrayConfig& c, const ArrayCore& core)
      : WireProbe(name, c, core, std::make_unique<DrainActivity>(c)) {
    const int rd = wires_.read_rows();
    for (const auto& [port, bits] : {std::pair<const char*, std::size_t>{"rst_ni", 1},
                                     {"tile_done_i", 2},
                                     {"acc_i", size(c.tn * rd, c.acc_w)},
                                     {"sum_a_i", size(rd, c.acc_w)},
                                     {"sum_w_i", size(c.tn, c.acc_w)},
                                     {"row_en_i", size(c.tm)},
                                     {"col_en_i", size(c.tn)},
                                     {"last_tile_i", 1},
                                     {"ready_i", 1}}) {
      add_input(port, bits);
    }
    for (const auto& [port, bits] : {std::pair<const char*, std::size_t>{"busy_o", 2},
                                     {"rd_bank_o", 1},
                                     {"rd_row_o", 6},
                                     {"tile_read_o", 1},
                                     {"valid_o", 1},
                                     {"last_o", 1},
                                     {"mask_o", size(c.q)},
                                     {"data_o", size(c.q, c.acc_w)},
                                     {"sum_a_o", size(wires_.rows_per_beat(), c.acc_w)},
                                     {"sum_w_o", size(wires_.cols_per_beat(), c.acc_w)}}) {
      add_output(port, bits);
    }
  }

 private:
  void read() override { wires_.drain(pins_); }
  void connect() override {
    drive(0, 1);
    drive(1, pins_.tile_done);
    drive(2, pins_.acc.data());
    drive(3, pins_.sum_a.data());
    drive(4, pins_.sum_w.data());
    drive(5, pins_.row_en);
    drive(6, pins_.col_en);
    drive(7, pins_.last_tile);
    drive(8, pins_.ready);
    expect(0, pins_.busy);
    expect(1, pins_.rd_bank);
    expect(2, pins_.rd_row);
    expect(3, pins_.tile_read);
    expect(4, pins_.valid);
    expect(5, pins_.last);
    expect(6, pins_.mask);
    expect(7, pins_.data);
    expect(8, pins_.out_sum_a);
    expect(9, pins_.out_sum_w);
  }
};

// The array as a whole: its ports.
class WholeProbe final : public ModuleProbe {
 public:
  WholeProbe(const ArrayConfig& c, ArrayCore& core)
      : core_(core), a_(words(c.ba, c.kl), 0), w_(words(c.bw, c.kl), 0) {
    module_ = "bc_array";
    files_ = array_files();
    parameters_ = array_parameters(c);
    const auto bits = [](int n, int width) { return static_cast<std::size_t>(n * width); };
    for (const auto& [port, width] : {std::pair<const char*, std::size_t>{"rst_ni", 1},
                                      {"desc_valid_i", 1},
                                      {"desc_m_i", 32},
                                      {"desc_n_i", 32},
                                      {"desc_k_i", 32},
                                      {"desc_pa_i", 5},
                                      {"desc_pw_i", 5},
                                      {"desc_a_signed_i", 1},
                                      {"desc_w_signed_i", 1},
                                      {"a_valid_i", 1},
                                      {"a_data_i", bits(c.ba, c.kl)},
                                      {"w_valid_i", 1},
                                      {"w_data_i", bits(c.bw, c.kl)},
                                      {"res_ready_i", 1}}) {
      add_input(port, width);
    }
    const int rows = c.q > c.tn ? c.q / c.tn : 1;
    const int cols = c.q > c.tn ? c.tn : c.q;
    for (const auto& [port, width] : {std::pair<const char*, std::size_t>{"desc_ready_o", 1},
                                      {"err_o", 1},
                                      {"cause_o", 2},
                                      {"a_ready_o", 1},
                                      {"w_ready_o", 1},
                                      {"res_valid_o", 1},
                                      {"res_last_o", 1},
                                      {"overflow_o", 1},
                                      {"ev_rows_o", 7},
                                      {"ev_a_words_o", 11},
                                      {"res_mask_o", bits(c.q, 1)},
                                      {"res_data_o", bits(c.q, c.acc_w)},
                                      {"res_sum_a_o", bits(rows, c.acc_w)},
                                      {"res_sum_w_o", bits(cols, c.acc_w)}}) {
      add_output(port, width);
    }
    add_feature("cycle", "1");
    features_[0] = 1.0;
  }
  void observe(const ArrayStep& coming) override {
    if (coming.a_valid) std::copy_n(coming.a_data, a_.size(), a_.begin());
    if (coming.w_valid) std::copy_n(coming.w_data, w_.size(), w_.begin());
    const RawDescriptor& d = coming.desc;
    std::size_t i = 0;
    for (const std::uint64_t value :
         std::initializer_list<std::uint64_t>{1, coming.desc_valid, d.m, d.n, d.k, d.pa, d.pw,
                                              d.a_signed, d.w_signed, coming.a_valid}) {
      drive(i++, value);
    }
    drive(i++, a_.data());
    drive(i++, coming.w_valid);
    drive(i++, w_.data());
    drive(i++, coming.res_ready);
    const ArrayPorts& p = core_.ports();
    std::size_t o = 0;
    for (const std::uint64_t value : std::initializer_list<std::uint64_t>{
             p.desc_ready, p.err, p.cause, p.a_ready, p.w_ready, p.res_valid, p.res_last,
             p.overflow, p.ev.rows, p.ev.a_words}) {
      expect(o++, value);
    }
    for (const void* data : {p.res_mask, p.res_data, p.res_sum_a, p.res_sum_w}) {
      expect(o++, static_cast<const std::uint64_t*>(data));
    }
  }

 private:
  static std::size_t words(int n, int width) {
    return (static_cast<std::size_t>(n * width) + 63) / 64;
  }
  ArrayCore& core_;
  std::vector<std::uint64_t> a_, w_;
};

}  // namespace

const std::vector<std::string>& probe_names() {
  static const std::vector<std::string> names = {"pe",      "acc",    "acc-ones", "chunk-a",
                                                 "chunk-w", "fill-a", "fill-w",   "walker",
                                                 "seq",     "drain",  "glue"};
  return names;
}

ArrayConfig probe_array(const std::string& name, const ArrayConfig& config) {
  const bool local = name == "pe" || name == "acc" || name == "chunk-a" || name == "chunk-w";
  // The accumulator's read port depends on the rows of a result beat.
  if (!local || (name == "acc" && config.q > config.tn)) return config;
  return small_array(config);
}

std::unique_ptr<ModuleProbe> make_probe(const std::string& name, const ArrayConfig& array,
                                        ArrayCore& core) {
  if (name == "whole") return std::make_unique<WholeProbe>(array, core);
  const auto& names = probe_names();
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    throw input_error("", 0, "--module", "'" + name + "'" + suggestion(name, names), join(names));
  }
  const ArrayConfig& c = array;
  const auto modules = array_modules(c);
  const bool present = std::any_of(modules.begin(), modules.end(),
                                   [&](const ModuleKind& m) { return m.name == name; });
  if (!present) {
    throw input_error("", 0, "--module", "'" + name + "', which is 'acc' in this array",
                      "a module of the array");
  }
  if (name == "acc") return std::make_unique<AccProbe>(name, c, core, c.s, c.q > c.tn ? c.s : 1);
  if (name == "acc-ones") {
    const int g = c.tn % c.s == 0 ? c.s : 1;
    return std::make_unique<AccProbe>(name, c, core, g, g);
  }
  if (name == "chunk-a" || name == "chunk-w") return std::make_unique<ChunkProbe>(name, c, core);
  if (name == "fill-a" || name == "fill-w") return std::make_unique<FillProbe>(name, c, core);
  if (name == "walker") return std::make_unique<WalkerProbe>(name, c, core);
  if (name == "seq") return std::make_unique<SeqProbe>(name, c, core);
  if (name == "drain") return std::make_unique<DrainProbe>(name, c, core);
  if (name == "glue") return make_glue_probe(c, core);
  return std::make_unique<PeProbe>(array, core);
}

}  // namespace bitcycle
