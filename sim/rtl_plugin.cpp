// Adapter of one verilated build: the only translation unit that sees Verilator's headers.
// Compiled by scripts/verilate-array into a shared object together with the generated code.
#include "sim/rtl_plugin.hpp"

#include <cstring>
#include <memory>

#include "Vbc_array.h"
#include "sim/verilated_model.hpp"
#if VM_TRACE
#include <verilated_fst_c.h>
#endif

namespace bitcycle {
namespace {

class VerilatedArray final : public RtlModel {
 public:
  explicit VerilatedArray(std::uint64_t seed) {
    prepare(context_, seed);
    top_ = std::make_unique<Vbc_array>(&context_, "TOP");
    top_->clk_i = 0;
    top_->rst_ni = 1;
    top_->eval();
    reset();
    registers_ = public_registers(context_, {"_q"});
  }

  ~VerilatedArray() override {
    close_wave();
    top_->final();
    // ... and leave the thread's context, which may be that of a model destroyed earlier.
    Verilated::threadContextp(&context_);
    top_.reset();
    Verilated::threadContextp(Verilated::defaultContextp());
  }
  VerilatedArray(const VerilatedArray&) = delete;
  VerilatedArray& operator=(const VerilatedArray&) = delete;

  void reset() override {
    top_->desc_valid_i = 0;
    top_->a_valid_i = 0;
    top_->w_valid_i = 0;
    top_->res_ready_i = 0;
    top_->rst_ni = 0;
    // Control registers clear at once, so that the edge finds nothing to write into data registers.
    top_->eval();
    clock();
    top_->rst_ni = 1;
    top_->eval();
    read_ports();
  }

  void step(const ArrayStep& in) override {
    top_->desc_valid_i = in.desc_valid;
    if (in.desc_valid) {
      top_->desc_m_i = in.desc.m;
      top_->desc_n_i = in.desc.n;
      top_->desc_k_i = in.desc.k;
      top_->desc_pa_i = in.desc.pa;
      top_->desc_pw_i = in.desc.pw;
      top_->desc_a_signed_i = in.desc.a_signed;
      top_->desc_w_signed_i = in.desc.w_signed;
    }
    top_->a_valid_i = in.a_valid;
    if (in.a_valid) std::memcpy(&top_->a_data_i, in.a_data, sizeof(top_->a_data_i));
    top_->w_valid_i = in.w_valid;
    if (in.w_valid) std::memcpy(&top_->w_data_i, in.w_data, sizeof(top_->w_data_i));
    top_->res_ready_i = in.res_ready;
    clock();
    read_ports();
  }

  const ArrayPorts& ports() const override { return ports_; }
  const std::vector<RegisterView>& registers() override { return registers_; }

  bool open_wave(const char* path) override {
#if VM_TRACE
    wave_ = std::make_unique<VerilatedFstC>();
    top_->trace(wave_.get(), 99);
    wave_->open(path);
    return wave_->isOpen();
#else
    (void)path;
    return false;
#endif
  }
  void close_wave() override {
#if VM_TRACE
    if (wave_) wave_->close();
    wave_.reset();
#endif
  }
  bool can_inject() const override {
#ifdef BITCYCLE_INJECT
    return true;
#else
    return false;
#endif
  }
  bool stopped() const override { return context_.gotFinish() || context_.gotError(); }

 private:
  void clock() {
#ifdef BITCYCLE_GATED
    top_->eval();  // enables reach the latches before the edge
#endif
    top_->clk_i = 1;
    top_->eval();
    dump();
    top_->clk_i = 0;
    top_->eval();
    dump();
  }

  void dump() {
    context_.timeInc(1);
#if VM_TRACE
    if (wave_) wave_->dump(context_.time());
#endif
  }

  void read_ports() {
    ports_.desc_ready = top_->desc_ready_o;
    ports_.err = top_->err_o;
    ports_.cause = top_->cause_o;
    ports_.a_ready = top_->a_ready_o;
    ports_.w_ready = top_->w_ready_o;
    ports_.res_valid = top_->res_valid_o;
    ports_.res_last = top_->res_last_o;
    ports_.overflow = top_->overflow_o;
    ports_.ev.digit = top_->ev_digit_o;
    ports_.ev.idle = top_->ev_idle_o;
    ports_.ev.freeze = top_->ev_freeze_o;
    ports_.ev.add = top_->ev_add_o;
    ports_.ev.flush = top_->ev_flush_o;
    ports_.ev.rows = top_->ev_rows_o;
    ports_.ev.cols = top_->ev_cols_o;
    ports_.ev.flush_rows = top_->ev_flush_rows_o;
    ports_.ev.flush_ones = top_->ev_flush_ones_o;
    ports_.ev.flush_cols = top_->ev_flush_cols_o;
    ports_.ev.a_words = top_->ev_a_words_o;
    ports_.ev.w_words = top_->ev_w_words_o;
    ports_.res_mask = &top_->res_mask_o;
    ports_.res_data = &top_->res_data_o;
    ports_.res_sum_a = &top_->res_sum_a_o;
    ports_.res_sum_w = &top_->res_sum_w_o;
  }

  VerilatedContext context_;
  std::unique_ptr<Vbc_array> top_;
#if VM_TRACE
  std::unique_ptr<VerilatedFstC> wave_;
#endif
  ArrayPorts ports_;
  std::vector<RegisterView> registers_;
};

}  // namespace
}  // namespace bitcycle

extern "C" __attribute__((visibility("default"))) bitcycle::RtlModel* bitcycle_make_rtl_model(
    std::uint64_t seed) {
  return new bitcycle::VerilatedArray(seed);
}

extern "C" __attribute__((visibility("default"))) int bitcycle_rtl_plugin_version() {
  return bitcycle::kRtlPluginVersion;
}
