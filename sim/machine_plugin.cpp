// Adapter of one verilated build of the machine: beside rtl_plugin.cpp the only translation unit
// that sees Verilator's headers. Compiled by scripts/verilate-array.
#include "sim/machine_plugin.hpp"

#include <verilated.h>
#include <verilated_syms.h>

#include <cstring>
#include <memory>

#include "Vbc_machine.h"
#if VM_TRACE
#include <verilated_fst_c.h>
#endif

namespace bitcycle {
namespace {

// Verilator spells the index of a generate block "__BRA__3__KET__": back to "[3]".
std::string plain(std::string name) {
  for (const auto& [mangled, text] : {std::pair{"__BRA__", "["}, {"__KET__", "]"}}) {
    for (auto at = name.find(mangled); at != std::string::npos; at = name.find(mangled)) {
      name.replace(at, std::strlen(mangled), text);
    }
  }
  return name;
}

bool ends_with(const std::string& text, const char* tail) {
  const std::size_t n = std::strlen(tail);
  return text.size() >= n && text.compare(text.size() - n, n, tail) == 0;
}

class VerilatedMachine final : public RtlMachine {
 public:
  explicit VerilatedMachine(std::uint64_t seed) {
    context_.debug(0);
    context_.randReset(2);
    // Verilator takes a 31-bit seed, and 0 means "pick one".
    context_.randSeed(static_cast<int>(seed * 0x9E3779B97F4A7C15ULL >> 33U | 1U));
    context_.fatalOnError(false);
#if VM_TRACE
    context_.traceEverOn(true);
#endif
    // Scopes register with the THREAD's context, whatever context the model is given.
    Verilated::threadContextp(&context_);
    top_ = std::make_unique<Vbc_machine>(&context_, "TOP");
    top_->clk_i = 0;
    top_->rst_ni = 1;
    drive({});
    // Registers hold random values until the first reset: nothing can be asserted of them.
    context_.assertOn(false);
    top_->eval();
    reset();
    context_.assertOn(true);
    find_registers();
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

  // The scope table (--vpi) names everything that observe_machine.vlt makes public.
  void find_registers() {
    for (const auto& [scope_name, scope] : *context_.scopeNameMap()) {
      auto* variables = scope->varsp();
      if (variables == nullptr) continue;
      std::string path = plain(scope_name);
      if (path.rfind("TOP.", 0) == 0) path = path.substr(4);
      for (auto& [name, variable] : *variables) {
        const std::string text = name;
        if (!ends_with(text, "_q") && !ends_with(text, "_mem")) continue;
        RegisterView view;
        view.name = path + "." + text;
        view.data = variable.datap();
        view.count =
            variable.udims() > 0 ? static_cast<std::size_t>(variable.unpacked().elements()) : 1;
        view.bits = static_cast<std::size_t>(variable.packed().elements());
        view.bytes = variable.entSize();
        registers_.push_back(view);
      }
    }
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
