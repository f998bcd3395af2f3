// Wires of bc_array itself.
#include <algorithm>

#include "model/gates/array_wires.hpp"

namespace bitcycle {

void ArrayWires::glue(GluePins& out) const {
  const auto stage = [](bool valid, const auto& pass) {
    return GluePins::Stage{valid,      pass.load != 0, pass.tile_last != 0, pass.bank != 0,
                           pass.shift, pass.row_en,    pass.col_en};
  };
  out.desc_valid = desc_valid_;
  out.start = start_;
  out.busy = core_.busy_ != 0;
  out.en = core_.comb_.en;
  out.a_valid = a_valid_;
  out.w_valid = w_valid_;
  out.res_ready = res_ready_;
  out.a_we = core_.comb_.a.write;
  out.w_we = core_.comb_.w.write;
  out.res_valid = core_.dr_valid_ != 0;
  out.res_last = core_.dr_last_ != 0;
  out.cause = core_.cause_;
  out.err = core_.err_ != 0;
  out.overflow = core_.overflow_ != 0;
  out.desc = desc_;
  out.held.m = core_.m_;
  out.held.n = core_.n_;
  out.held.k = core_.k_;
  out.held.pa = core_.pa_;
  out.held.pw = core_.pw_;
  out.held.a_signed = core_.a_signed_ != 0;
  out.held.w_signed = core_.w_signed_ != 0;
  seq(out.seq);
  FillPins fill;
  fill_a(fill);
  out.a_plane = fill.plane;
  out.a_sel = fill.row_sel;
  fill_w(fill);
  out.w_plane = fill.plane;
  out.w_sel = fill.row_sel;
  out.a_row_en = core_.row_mask(core_.walk_a_);
  out.w_col_en = core_.col_mask(core_.walk_w_);
  out.seq_row_en = core_.row_mask(core_.walk_seq_);
  out.seq_col_en = core_.col_mask(core_.walk_seq_);
  out.pe = pe_control();
  out.op_last = core_.op_last_ != 0;
  out.op = stage(core_.op_valid_ != 0, core_.op_);
  out.ac = stage(core_.ac_valid_ != 0, core_.ac_info_);
  out.fl = config_.s > 1 ? stage(core_.hold_valid_ != 0, core_.hold_) : out.ac;
  out.fl_index = config_.s > 1 ? core_.hold_index_ : 0;
  const bool done = out.fl.valid && out.en && out.fl.tile_last && core_.comb_.fl_end;
  out.tile_done = done ? static_cast<std::uint8_t>(out.fl.bank ? 2 : 1) : 0;
  out.ev = core_.ports_.ev;
  out.rd_row = core_.dr_row_;
  out.rd_bank = core_.dr_bank_ != 0;
  out.rd.clear();
  if (!read_multiplexers()) return;
  for (int col = 0; col <= config_.tn; ++col) {
    for (int group = 0; group < groups(); ++group) {
      const int row = group * config_.s + core_.dr_row_ % config_.s;
      out.rd.push_back(acc_register(row, col, core_.dr_bank_));
    }
  }
}

}  // namespace bitcycle
