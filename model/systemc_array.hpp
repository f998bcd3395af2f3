// The array as a SystemC module: ONE process around any implementation, with struct-valued ports.
#pragma once

#include <ostream>
#include <systemc>

#include "model/array.hpp"

namespace bitcycle {

// sc_signal wants these three for the value it carries.
inline bool operator==(const ArrayStep& x, const ArrayStep& y) {
  return x.desc_valid == y.desc_valid && x.a_valid == y.a_valid && x.w_valid == y.w_valid &&
         x.a_data == y.a_data && x.w_data == y.w_data && x.res_ready == y.res_ready &&
         x.desc.m == y.desc.m && x.desc.n == y.desc.n && x.desc.k == y.desc.k &&
         x.desc.pa == y.desc.pa && x.desc.pw == y.desc.pw && x.desc.a_signed == y.desc.a_signed &&
         x.desc.w_signed == y.desc.w_signed;
}
inline std::ostream& operator<<(std::ostream& out, const ArrayStep& step) {
  return out << "desc " << step.desc_valid << " a " << step.a_valid << " w " << step.w_valid
             << " res " << step.res_ready;
}
inline void sc_trace(sc_core::sc_trace_file* file, const ArrayStep& step, const std::string& name) {
  sc_core::sc_trace(file, step.desc_valid, name + ".desc_valid");
  sc_core::sc_trace(file, step.a_valid, name + ".a_valid");
  sc_core::sc_trace(file, step.w_valid, name + ".w_valid");
  sc_core::sc_trace(file, step.res_ready, name + ".res_ready");
}

/// What a SystemC neighbour of the array sees: its handshakes after the edge.
struct ArrayHandshakes {
  bool desc_ready = false, err = false, a_ready = false, w_ready = false;
  bool res_valid = false, res_last = false, overflow = false;
};
inline bool operator==(const ArrayHandshakes& x, const ArrayHandshakes& y) {
  return x.desc_ready == y.desc_ready && x.err == y.err && x.a_ready == y.a_ready &&
         x.w_ready == y.w_ready && x.res_valid == y.res_valid && x.res_last == y.res_last &&
         x.overflow == y.overflow;
}
inline std::ostream& operator<<(std::ostream& out, const ArrayHandshakes& h) {
  return out << "desc " << h.desc_ready << " a " << h.a_ready << " w " << h.w_ready << " res "
             << h.res_valid;
}
inline void sc_trace(sc_core::sc_trace_file* file, const ArrayHandshakes& h,
                     const std::string& name) {
  sc_core::sc_trace(file, h.desc_ready, name + ".desc_ready");
  sc_core::sc_trace(file, h.a_ready, name + ".a_ready");
  sc_core::sc_trace(file, h.w_ready, name + ".w_ready");
  sc_core::sc_trace(file, h.res_valid, name + ".res_valid");
}

/// Clocked shell. Inputs must be stable at the rising edge: write them at the falling one.
class ArrayModule : public sc_core::sc_module {
 public:
  sc_core::sc_in<bool> clk_i{"clk_i"};
  sc_core::sc_in<ArrayStep> step_i{"step_i"};
  sc_core::sc_out<ArrayHandshakes> handshakes_o{"handshakes_o"};

  // NOLINTNEXTLINE(performance-unnecessary-value-param): SystemC builds the hierarchy by this copy
  ArrayModule(sc_core::sc_module_name name, Array& array) : sc_module(name), array_(array) {
    SC_HAS_PROCESS(ArrayModule);
    SC_METHOD(edge);
    sensitive << clk_i.pos();
    dont_initialize();
  }

  /// The implementation inside, for whoever looks at registers and data.
  Array& array() { return array_; }

 private:
  void edge() {
    array_.step(step_i.read());
    const ArrayPorts& p = array_.ports();
    handshakes_o.write(
        {p.desc_ready, p.err, p.a_ready, p.w_ready, p.res_valid, p.res_last, p.overflow});
  }

  Array& array_;
};

}  // namespace bitcycle
