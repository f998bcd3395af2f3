// Probes of the array's modules.
#include <fmt/format.h>

#include <algorithm>

#include "golden/error.hpp"
#include "model/gates/pe_activity.hpp"
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
    module_ = "bc_pe";
    files_ = {"bc_pkg.sv", "bc_pe.sv"};
    parameters_ = {
        {"RA", c.ra}, {"RW", c.rw}, {"KL", c.kl}, {"AC_W", c.ac_w}, {"HOLD", hold_ ? 1 : 0}};
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

  void observe() override {
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

}  // namespace

const std::vector<std::string>& probe_names() {
  static const std::vector<std::string> names = {"pe"};
  return names;
}

std::unique_ptr<ModuleProbe> make_probe(const std::string& name, const ArrayConfig& array,
                                        ArrayCore& core) {
  if (name == "pe") return std::make_unique<PeProbe>(array, core);
  throw input_error("", 0, "--module", "'" + name + "'" + suggestion(name, probe_names()),
                    join(probe_names()));
}

}  // namespace bitcycle
