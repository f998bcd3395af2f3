// bc_axi_lite_props.
#include <random>

#include "tests/machine/unit/props.hpp"

int main() {
  bitcycle::unit::Props dut;
  const auto idle = [](Vdut& top) {
    top.awvalid = top.awready = top.wvalid = top.wready = top.bvalid = top.bready = 0;
    top.arvalid = top.arready = top.rvalid = top.rready = 0;
    top.awaddr = top.wdata = top.wstrb = top.bresp = top.araddr = top.rdata = top.rresp = 0;
  };
  const auto reset = [&] { dut.reset(idle); };

  // Legal traffic.
  reset();
  std::mt19937 random(1);
  int addresses = 0, datas = 0, reads = 0;
  for (int cycle = 0; cycle < 20000; ++cycle) {
    if (!dut->awvalid && random() % 3 == 0) dut->awvalid = 1, dut->awaddr = random() % 4096;
    if (!dut->wvalid && random() % 3 == 0) {
      dut->wvalid = 1;
      dut->wdata = random();
      dut->wstrb = random() % 16;
    }
    if (!dut->arvalid && random() % 3 == 0) dut->arvalid = 1, dut->araddr = random() % 4096;
    if (!dut->bvalid && addresses > 0 && datas > 0) dut->bvalid = 1, dut->bresp = random() % 4;
    if (!dut->rvalid && reads > 0)
      dut->rvalid = 1, dut->rdata = random(), dut->rresp = random() % 4;
    dut->awready = random() % 2;
    dut->wready = random() % 2;
    dut->bready = random() % 2;
    dut->arready = random() % 2;
    dut->rready = random() % 2;
    dut.step();
    if (dut->bvalid && dut->bready) --addresses, --datas, dut->bvalid = 0;
    if (dut->rvalid && dut->rready) --reads, dut->rvalid = 0;
    if (dut->awvalid && dut->awready) ++addresses, dut->awvalid = 0;
    if (dut->wvalid && dut->wready) ++datas, dut->wvalid = 0;
    if (dut->arvalid && dut->arready) ++reads, dut->arvalid = 0;
  }
  dut.require(!dut.fired(), "legal traffic passes");

  for (int what = 0; what < 2; ++what) {
    reset();
    dut.breaks("AWVALID or its payload changed", [&] {
      dut->awvalid = 1;
      dut.step();
      if (what == 0) dut->awvalid = 0;
      if (what == 1) dut->awaddr = 4;
      dut.step();
    });
    reset();
    dut.breaks("ARVALID or its payload changed", [&] {
      dut->arvalid = 1;
      dut.step();
      if (what == 0) dut->arvalid = 0;
      if (what == 1) dut->araddr = 4;
      dut.step();
    });
  }
  for (int what = 0; what < 3; ++what) {
    reset();
    dut.breaks("WVALID or its payload changed", [&] {
      dut->wvalid = 1;
      dut.step();
      if (what == 0) dut->wvalid = 0;
      if (what == 1) dut->wdata = 4;
      if (what == 2) dut->wstrb = 4;
      dut.step();
    });
    reset();
    dut->arvalid = dut->arready = 1;
    dut.step();
    dut->arvalid = 0;
    dut.breaks("RVALID or its payload changed", [&] {
      dut->rvalid = 1;
      dut.step();
      if (what == 0) dut->rvalid = 0;
      if (what == 1) dut->rdata = 4;
      if (what == 2) dut->rresp = 2;
      dut.step();
    });
  }
  for (int what = 0; what < 2; ++what) {
    reset();
    dut->awvalid = dut->awready = dut->wvalid = dut->wready = 1;
    dut.step();
    dut->awvalid = dut->wvalid = 0;
    dut.breaks("BVALID or its payload changed", [&] {
      dut->bvalid = 1;
      dut.step();
      if (what == 0) dut->bvalid = 0;
      if (what == 1) dut->bresp = 2;
      dut.step();
    });
    reset();
    dut->awvalid = dut->awready = what == 0;
    dut->wvalid = dut->wready = what == 1;
    dut.step();
    dut->awvalid = dut->wvalid = 0;
    dut.breaks("write response without a request", [&] {
      dut->bvalid = dut->bready = 1;
      dut.step();
    });
  }
  reset();
  dut.breaks("read data without a request", [&] {
    dut->rvalid = dut->rready = 1;
    dut.step();
  });
  reset();
  dut.breaks("BVALID or RVALID during reset", [&] {
    dut->rst_ni = 0;
    dut->rvalid = 1;
    dut.step();
    dut.step();
  });
  return dut.result();
}
