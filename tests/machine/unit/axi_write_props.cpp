// bc_axi_write_props with DW = 64, OUT = 4, BURST = 16.
#include <deque>
#include <random>

#include "tests/machine/unit/props.hpp"

int main() {
  bitcycle::unit::Props dut;
  const auto idle = [](Vdut& top) {
    top.awvalid = top.awready = top.wvalid = top.wready = top.wlast = top.bvalid = top.bready = 0;
    top.awaddr = top.awlen = top.wdata = top.wstrb = top.bresp = 0;
  };
  const auto reset = [&] { dut.reset(idle); };
  const auto ask = [&](unsigned len, unsigned long address = 0) {
    dut->awvalid = 1;
    dut->awready = 1;
    dut->awaddr = address;
    dut->awlen = len;
    dut.step();
    dut->awvalid = 0;
  };
  const auto send = [&](bool last) {
    dut->wvalid = dut->wready = 1;
    dut->wlast = last;
    dut.step();
    dut->wvalid = 0;
  };

  // Legal traffic.
  reset();
  std::mt19937 random(1);
  std::deque<int> left;  // beats of bursts without all data
  int answers = 0;       // due
  int open = 0;
  for (int cycle = 0; cycle < 20000; ++cycle) {
    if (!dut->awvalid && open < 4 && random() % 3 == 0) {
      dut->awvalid = 1;
      dut->awlen = random() % 16;
      dut->awaddr = (random() % 4096 + 1ULL) * 4096 - 8ULL * (dut->awlen + 1 + random() % 8);
    }
    dut->awready = random() % 2;
    if (!dut->wvalid && !left.empty() && random() % 2 == 0) {
      dut->wvalid = 1;
      dut->wdata = random();
      dut->wstrb = 0xff;
      dut->wlast = left.front() == 1;
    }
    dut->wready = random() % 2;
    if (!dut->bvalid && answers > 0 && random() % 2 == 0) {
      dut->bvalid = 1;
      dut->bresp = random() % 4;
    }
    dut->bready = random() % 2;
    dut.step();
    if (dut->bvalid && dut->bready) {
      --answers;
      --open;
      dut->bvalid = 0;
    }
    if (dut->wvalid && dut->wready) {
      if (--left.front() == 0) {
        left.pop_front();
        ++answers;
      }
      dut->wvalid = 0;
    }
    if (dut->awvalid && dut->awready) {
      left.push_back(dut->awlen + 1);
      ++open;
      dut->awvalid = 0;
    }
  }
  dut.require(!dut.fired(), "legal traffic passes");

  for (int what = 0; what < 3; ++what) {
    reset();
    dut.breaks("AWVALID or its payload changed", [&] {
      dut->awvalid = 1;
      dut.step();
      if (what == 0) dut->awvalid = 0;
      if (what == 1) dut->awaddr = 8;
      if (what == 2) dut->awlen = 3;
      dut.step();
    });
  }
  for (int what = 0; what < 4; ++what) {
    reset();
    ask(2);
    dut.breaks("WVALID or its payload changed", [&] {
      dut->wvalid = 1;
      dut.step();
      if (what == 0) dut->wvalid = 0;
      if (what == 1) dut->wdata = 1;
      if (what == 2) dut->wstrb = 1;
      if (what == 3) dut->wlast = 1;
      dut.step();
    });
  }
  for (int what = 0; what < 2; ++what) {
    reset();
    ask(0);
    send(true);
    dut.breaks("BVALID or its payload changed", [&] {
      dut->bvalid = 1;
      dut.step();
      if (what == 0) dut->bvalid = 0;
      if (what == 1) dut->bresp = 2;
      dut.step();
    });
  }
  reset();
  dut.breaks("write burst crosses 4 KB", [&] { ask(1, 4096 - 8); });
  reset();
  dut.breaks("write burst is not beat aligned", [&] { ask(1, 4); });
  reset();
  dut.breaks("write burst is longer than BURST", [&] { ask(16); });
  reset();
  for (int burst = 0; burst < 4; ++burst) ask(0);
  dut.require(!dut.fired(), "OUT bursts may be outstanding");
  dut.breaks("more than OUT write bursts", [&] { ask(0); });
  reset();
  dut.breaks("write data before their address", [&] { send(false); });
  for (int what = 0; what < 2; ++what) {
    reset();
    ask(what == 0 ? 1 : 0);
    dut.breaks("WLAST is out of place", [&] { send(what == 0); });
  }
  for (int what = 0; what < 2; ++what) {
    reset();
    if (what == 1) {  // half of a burst
      ask(1);
      send(false);
    }
    dut.breaks("write response without a whole burst", [&] {
      dut->bvalid = dut->bready = 1;
      dut.step();
    });
  }
  reset();
  dut.breaks("AWVALID or WVALID during reset", [&] {
    dut->rst_ni = 0;
    dut->wvalid = 1;
    dut.step();
    dut.step();
  });
  return dut.result();
}
