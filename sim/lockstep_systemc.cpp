// Lockstep under the SystemC kernel: the only translation unit of sim/ that includes it.
#include <memory>
#include <stdexcept>
#include <systemc>

#include "model/systemc_array.hpp"
#include "sim/lockstep.hpp"

namespace bitcycle {
namespace {

// RTL and model in a module each, fed from one signal. Checks and drives on the falling edge, when
// nothing else moves.
class Bench : public sc_core::sc_module {
 public:
  sc_core::sc_in<bool> clk_i{"clk_i"};

  // NOLINTNEXTLINE(performance-unnecessary-value-param): SystemC builds the hierarchy by this copy
  Bench(sc_core::sc_module_name name, Lockstep& pair, std::size_t& running)
      : sc_module(name),
        pair_(pair),
        running_(running),
        rtl_("rtl", pair.rtl()),
        model_("model", pair.model()) {
    rtl_.clk_i(clk_i);
    rtl_.step_i(rtl_step_);
    rtl_.handshakes_o(rtl_handshakes_);
    model_.clk_i(clk_i);
    model_.step_i(model_step_);
    model_.handshakes_o(model_handshakes_);
    SC_HAS_PROCESS(Bench);
    SC_METHOD(check);
    sensitive << clk_i.neg();
    dont_initialize();
  }

 private:
  void check() {
    if (finished_) return;
    const ArrayStep* step = pair_.tick();
    if (step == nullptr) {
      finished_ = true;
      // The arrays see idle inputs until the last bench is done.
      rtl_step_.write(ArrayStep{});
      model_step_.write(ArrayStep{});
      if (--running_ == 0) sc_core::sc_stop();
      return;
    }
    rtl_step_.write(*step);
    model_step_.write(*step);
  }

  Lockstep& pair_;
  std::size_t& running_;
  bool finished_ = false;
  ArrayModule rtl_, model_;
  sc_core::sc_signal<ArrayStep> rtl_step_, model_step_;
  sc_core::sc_signal<ArrayHandshakes> rtl_handshakes_, model_handshakes_;
};

}  // namespace

void run_under_systemc(const std::vector<Lockstep*>& pairs) {
  static bool used = false;
  if (used) throw std::logic_error("SystemC elaborates once in a process");
  used = true;
  if (pairs.empty()) return;
  std::size_t running = pairs.size();
  // The kernel's remark that sc_stop() was called is of no use to anyone.
  sc_core::sc_report_handler::set_actions("/OSCI/SystemC", sc_core::SC_INFO,
                                          sc_core::SC_DO_NOTHING);
  // The falling edge comes first: check() drives before the first rising edge.
  sc_core::sc_clock clock("clk", sc_core::sc_time(1, sc_core::SC_NS), 0.5, sc_core::SC_ZERO_TIME,
                          false);
  std::vector<std::unique_ptr<Bench>> benches;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const std::string name = "bench" + std::to_string(i);
    benches.push_back(std::make_unique<Bench>(name.c_str(), *pairs[i], running));
    benches.back()->clk_i(clock);
  }
  sc_core::sc_start();
}

}  // namespace bitcycle
