// bc_axi_read_props with DW = 64, OUT = 4, BURST = 16.
#include <deque>
#include <random>

#include "tests/machine/unit/props.hpp"

int main() {
  bitcycle::unit::Props dut;
  const auto idle = [](Vdut& top) {
    top.arvalid = top.arready = top.rvalid = top.rready = top.rlast = 0;
    top.araddr = top.arlen = top.rdata = top.rresp = 0;
  };
  const auto reset = [&] { dut.reset(idle); };
  const auto ask = [&](unsigned len, unsigned long address = 0) {
    dut->arvalid = 1;
    dut->arready = 1;
    dut->araddr = address;
    dut->arlen = len;
    dut.step();
    dut->arvalid = 0;
  };

  // Legal traffic.
  reset();
  std::mt19937 random(1);
  std::deque<int> left;  // beats of open bursts
  for (int cycle = 0; cycle < 20000; ++cycle) {
    if (!dut->arvalid && left.size() < 4 && random() % 3 == 0) {
      dut->arvalid = 1;
      dut->arlen = random() % 16;
      dut->araddr = (random() % 4096 + 1ULL) * 4096 - 8ULL * (dut->arlen + 1 + random() % 8);
    }
    if (left.size() >= 4) dut->arvalid = 0;
    dut->arready = random() % 2;
    if (!dut->rvalid && !left.empty() && random() % 2 == 0) {
      dut->rvalid = 1;
      dut->rdata = random();
      dut->rresp = random() % 4;
      dut->rlast = left.front() == 1;
    }
    dut->rready = random() % 2;
    dut.step();
    if (dut->rvalid && dut->rready) {
      if (--left.front() == 0) left.pop_front();
      dut->rvalid = 0;
    }
    if (dut->arvalid && dut->arready) {
      left.push_back(dut->arlen + 1);
      dut->arvalid = 0;
    }
  }
  dut.require(!dut.fired(), "legal traffic passes");

  for (int what = 0; what < 3; ++what) {
    reset();
    dut.breaks("ARVALID or its payload changed", [&] {
      dut->arvalid = 1;
      dut.step();
      if (what == 0) dut->arvalid = 0;
      if (what == 1) dut->araddr = 8;
      if (what == 2) dut->arlen = 3;
      dut.step();
    });
  }
  for (int what = 0; what < 4; ++what) {
    reset();
    ask(2);
    dut.breaks("RVALID or its payload changed", [&] {
      dut->rvalid = 1;
      dut.step();
      if (what == 0) dut->rvalid = 0;
      if (what == 1) dut->rdata = 1;
      if (what == 2) dut->rresp = 2;
      if (what == 3) dut->rlast = 1;
      dut.step();
    });
  }
  reset();
  dut.breaks("read burst crosses 4 KB", [&] { ask(1, 4096 - 8); });
  reset();
  dut.breaks("read burst is not beat aligned", [&] { ask(1, 4); });
  reset();
  dut.breaks("read burst is longer than BURST", [&] { ask(16); });
  reset();
  for (int burst = 0; burst < 4; ++burst) ask(0);
  dut.require(!dut.fired(), "OUT bursts may be outstanding");
  dut.breaks("more than OUT read bursts", [&] { ask(0); });
  reset();
  dut.breaks("read data without a request", [&] {
    dut->rvalid = dut->rready = 1;
    dut.step();
  });
  for (int what = 0; what < 2; ++what) {
    reset();
    ask(what == 0 ? 1 : 0);
    dut.breaks("RLAST is out of place", [&] {
      dut->rvalid = dut->rready = 1;
      dut->rlast = what == 0;
      dut.step();
    });
  }
  reset();
  dut.breaks("ARVALID during reset", [&] {
    dut->rst_ni = 0;
    dut->arvalid = 1;
    dut.step();
    dut.step();
  });
  return dut.result();
}
