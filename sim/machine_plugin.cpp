// Adapter of one verilated build of the machine: beside rtl_plugin.cpp the only translation unit
// that sees Verilator's headers. Compiled by scripts/verilate-array.
#include "sim/machine_plugin.hpp"

#include <cstring>
#include <memory>

#include "Vbc_machine.h"
#include "sim/verilated_model.hpp"
#if VM_TRACE
#include <verilated_fst_c.h>
#endif

namespace bitcycle {
namespace {

class VerilatedMachine final : public RtlMachine {
 public:
  explicit VerilatedMachine(std::uint64_t seed) {
    prepare(context_, seed);
    top_ = std::make_unique<Vbc_machine>(&context_, "TOP");
    top_->clk_i = 0;
    top_->rst_ni = 1;
    drive({});
    // Registers hold random values until the first reset: nothing can be asserted of them.
    context_.assertOn(false);
    top_->eval();
    reset();
    context_.assertOn(true);
    registers_ = public_registers(context_, {"_q", "_mem"});
  }

  ~VerilatedMachine() override {
    close_wave();
    top_->final();
    // ... and leave the thread's context, which may be that of a model destroyed earlier.
    Verilated::threadContextp(&context_);
    top_.reset();
    Verilated::threadContextp(Verilated::defaultContextp());
  }
  VerilatedMachine(const VerilatedMachine&) = delete;
  VerilatedMachine& operator=(const VerilatedMachine&) = delete;

  void reset() override {
    drive({});
    top_->rst_ni = 0;
    top_->eval();
    clock();
    top_->rst_ni = 1;
    top_->eval();
    // The release passes two registers.
    for (int i = 0; i < 3; ++i) clock();
    read_ports();
  }

  void step(const MachineStep& in) override {
    drive(in);
    clock();
    read_ports();
  }

  const MachinePorts& ports() const override { return ports_; }
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
  bool stopped() const override { return context_.gotFinish() || context_.gotError(); }

 private:
  void drive(const MachineStep& in) {
    top_->inst_valid_i = in.inst_valid;
    top_->inst_data_i = in.inst_data;
    top_->s_awvalid_i = in.lite.awvalid;
    top_->s_awaddr_i = in.lite.awaddr & 0xFFFU;
    top_->s_wvalid_i = in.lite.wvalid;
    top_->s_wdata_i = in.lite.wdata;
    top_->s_wstrb_i = in.lite.wstrb & 0xFU;
    top_->s_bready_i = in.lite.bready;
    top_->s_arvalid_i = in.lite.arvalid;
    top_->s_araddr_i = in.lite.araddr & 0xFFFU;
    top_->s_rready_i = in.lite.rready;
    top_->arready_i = in.read.arready;
    top_->rvalid_i = in.read.rvalid;
    if (in.read.rvalid) std::memcpy(&top_->rdata_i, in.read.rdata, sizeof(top_->rdata_i));
    top_->rresp_i = in.read.rresp;
    top_->rlast_i = in.read.rlast;
    top_->awready_i = in.write.awready;
    top_->wready_i = in.write.wready;
    top_->bvalid_i = in.write.bvalid;
    top_->bresp_i = in.write.bresp;
  }

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
    ports_.inst_ready = top_->inst_ready_o;
    ports_.irq = top_->irq_o;
    ports_.lite.awready = top_->s_awready_o;
    ports_.lite.wready = top_->s_wready_o;
    ports_.lite.bvalid = top_->s_bvalid_o;
    ports_.lite.bresp = top_->s_bresp_o;
    ports_.lite.arready = top_->s_arready_o;
    ports_.lite.rvalid = top_->s_rvalid_o;
    ports_.lite.rdata = top_->s_rdata_o;
    ports_.lite.rresp = top_->s_rresp_o;
    ports_.read.arvalid = top_->arvalid_o;
    ports_.read.araddr = top_->araddr_o;
    ports_.read.arlen = top_->arlen_o;
    ports_.read.rready = top_->rready_o;
    ports_.write.awvalid = top_->awvalid_o;
    ports_.write.awaddr = top_->awaddr_o;
    ports_.write.awlen = top_->awlen_o;
    ports_.write.wvalid = top_->wvalid_o;
    std::memcpy(w_data_, &top_->wdata_o, sizeof(top_->wdata_o));
    ports_.write.wdata = w_data_;
    ports_.write.wlast = top_->wlast_o;
    ports_.write.bready = top_->bready_o;
  }

  VerilatedContext context_;
  std::unique_ptr<Vbc_machine> top_;
#if VM_TRACE
  std::unique_ptr<VerilatedFstC> wave_;
#endif
  MachinePorts ports_;
  std::uint64_t w_data_[16] = {};  // DW is at most 1024 bits
  std::vector<RegisterView> registers_;
};

}  // namespace
}  // namespace bitcycle

extern "C" __attribute__((visibility("default"))) bitcycle::RtlMachine* bitcycle_make_rtl_machine(
    std::uint64_t seed) {
  return new bitcycle::VerilatedMachine(seed);
}

extern "C" __attribute__((visibility("default"))) int bitcycle_machine_plugin_version() {
  return bitcycle::kMachinePluginVersion;
}
