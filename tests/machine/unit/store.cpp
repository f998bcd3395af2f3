// cpp: model/machine/control.cpp model/machine/burst.cpp model/machine/dma.cpp
// bc_store against StoreUnit before a random memory: every beat of every line is written once, in
// order, from consecutive buffer addresses; data follow their address; errors and stops.
#include <deque>

#include "Vdut.h"
#include "model/machine/dma.hpp"
#include "tests/machine/unit/transfer.hpp"

using namespace bitcycle;

int main(int argc, char** argv) {
  const unit::Arguments arguments(argc, argv);
  MachineConfig config;
  config.dw = arguments.get("DW", 64);
  config.out = arguments.get("OUT", 8);
  config.burst = arguments.get("BURST", 16);
  const auto bytes = static_cast<std::uint64_t>(config.dw / 8);
  unit::Random random(static_cast<std::uint64_t>(arguments.get("SEED", 1)));
  unit::Unit<Vdut> dut(random.word(), "bc_store");
  StoreUnit model(config);
  std::vector<RegisterView> registers;
  model.list("bc_store", registers);
  dut->start_i = dut->stop_i = dut->awready_i = dut->wready_i = dut->bvalid_i = 0;
  dut.reset();
  dut.attach(registers);

  std::deque<unsigned> accepted;  // beats of bursts whose data have not all come
  int responses = 0;              // bursts complete, not answered
  std::vector<std::uint64_t> want;
  std::size_t written = 0, asked = 0;
  unsigned beat = 0;
  unit::DmaWords inst{};
  bool busy = false, stop = false, bvalid = false;
  std::uint8_t bresp = 0;
  auto expected_error = layout::MachineCause::kNone;
  int aw_rate = 50, w_rate = 50, b_rate = 50, error_rate = 0, outstanding = 0, most = 0;
  std::uint64_t done_count = 0, errors = 0, illegal = 0, bursts = 0, total = 0, quiet_stops = 0;
  for (int cycle = arguments.get("CYCLES", 200000); cycle-- > 0;) {
    if (random.below(300) == 0) {
      aw_rate = random.chance(30) ? 100 : random.range(2, 100);
      w_rate = random.chance(30) ? 100 : random.range(2, 100);
      b_rate = random.chance(30) ? 100 : random.range(2, 100);
      error_rate = random.chance(20) ? 5 : 0;
    }
    stop = stop ? random.chance(95) : random.below(500) == 0;

    StoreUnit::Inputs in;
    const bool legal = random.chance(90);
    unit::DmaWords head = unit::random_transfer(random, config.dw, legal);
    in.inst = head.data();
    in.start = !busy && legal && random.chance(20);
    in.stop = stop;
    in.axi.awready = random.chance(aw_rate);
    in.axi.wready = random.chance(w_rate);
    bvalid = responses > 0 && random.chance(b_rate);
    bresp = static_cast<std::uint8_t>(bvalid ? (random.chance(error_rate) ? random.range(1, 3) : 0)
                                             : random.bits(2));
    in.axi.bvalid = bvalid;
    in.axi.bresp = bresp;
    const std::vector<std::uint64_t> data = unit::beat_data(model.ob_address(), config.dw);
    in.ob_data = data.data();

    unit::drive(dut->inst_i, head.data(), head.size() * 64);
    dut->start_i = in.start;
    dut->stop_i = in.stop;
    dut->awready_i = in.axi.awready;
    dut->wready_i = in.axi.wready;
    dut->bvalid_i = in.axi.bvalid;
    dut->bresp_i = in.axi.bresp;
    unit::drive(dut->ob_data_i, data.data(), static_cast<std::size_t>(config.dw));
    dut.settle();
    dut.same("illegal_o", dut->illegal_o, !legal);
    dut.same("cause_o", dut->cause_o, Transfer::decode(head.data()).check(config.dw));
    illegal += legal ? 0 : 1;

    const AxiWriteReq axi = model.axi(in);
    dut.same("ob_addr_o", dut->ob_addr_o, model.ob_address());
    dut.same("awvalid_o", dut->awvalid_o, axi.awvalid);
    dut.same("wvalid_o", dut->wvalid_o, axi.wvalid);
    dut.same("bready_o", dut->bready_o, axi.bready);
    dut.same("bready", axi.bready, 1);
    dut.same("quiet_o", dut->quiet_o, model.quiet(in));
    dut.same("done_o", dut->done_o, model.done(in));
    const std::vector<std::uint64_t> ones(16, ~std::uint64_t{0});
    if (!unit::equal(dut->wstrb_o, ones.data(), static_cast<std::size_t>(bytes))) {
      dut.fail("wstrb_o");
    }
    if (axi.awvalid) {
      dut.same("awaddr_o", dut->awaddr_o, axi.awaddr);
      dut.same("awlen_o", dut->awlen_o, axi.awlen);
    }
    if (axi.wvalid) {
      dut.same("wlast_o", dut->wlast_o, axi.wlast);
      if (!unit::equal(dut->wdata_o, axi.wdata, static_cast<std::size_t>(config.dw))) {
        dut.fail("wdata_o");
      }
      if (accepted.empty()) dut.fail("data before their address");
    }
    if (axi.wvalid && in.axi.wready) {
      // Address and data of the beat: the nth of the instruction.
      if (written >= want.size()) dut.fail("more data than wanted");
      const auto from =
          static_cast<std::uint32_t>((unit::get(inst, layout::kStoreBuffer) + written) & 0xffffffU);
      if (!unit::equal(dut->wdata_o, unit::beat_data(from, config.dw).data(),
                       static_cast<std::size_t>(config.dw))) {
        dut.fail("beats out of order");
      }
      ++written;
      ++total;
      ++beat;
      dut.same("wlast", axi.wlast, beat == accepted.front());
      if (beat == accepted.front()) {
        accepted.pop_front();
        beat = 0;
        ++responses;
      }
    }
    if (axi.awvalid && in.axi.awready) {
      const unsigned beats = axi.awlen + 1U;
      ++bursts;
      if (beats > static_cast<unsigned>(config.burst)) dut.fail("burst too long");
      if (axi.awaddr / kAxiPage != (axi.awaddr + beats * bytes - 1) / kAxiPage) {
        dut.fail("burst crosses 4 KB");
      }
      if (asked + beats > want.size()) dut.fail("more addresses than wanted");
      for (unsigned b = 0; b < beats; ++b) {
        dut.same("address", (axi.awaddr + b * bytes) & kAxiAddressMask, want[asked++]);
      }
      accepted.push_back(beats);
      most = std::max(most, ++outstanding);
      if (outstanding > config.out) dut.fail("too many bursts outstanding");
    }
    bool last_response = false;
    if (bvalid) {
      --responses;
      --outstanding;
      if ((bresp & 2U) != 0 && expected_error == layout::MachineCause::kNone) {
        expected_error = bresp == 2 ? layout::MachineCause::kSlverr : layout::MachineCause::kDecerr;
      }
      last_response = written == want.size() && outstanding == 0;
    }
    quiet_stops += stop && busy && model.quiet(in) ? 1 : 0;
    const bool done = model.done(in);
    dut.same("done", done, busy && last_response);
    if (done) {
      dut.same("err_o", dut->err_o, expected_error != layout::MachineCause::kNone);
      dut.same("error", model.error(in), expected_error);
      if (expected_error != layout::MachineCause::kNone) {
        dut.same("err_cause_o", dut->err_cause_o, expected_error);
        ++errors;
      }
      ++done_count;
      busy = false;
    }
    if (in.start) {
      busy = true;
      inst = head;
      want = unit::beats_of(inst, config.dw);
      written = asked = 0;
      expected_error = layout::MachineCause::kNone;
    }
    model.step(in);
    dut.edge();
  }
  std::printf(
      "ok: %llu instructions, %llu with errors, %llu beats in %llu bursts, %d outstanding\n",
      static_cast<unsigned long long>(done_count), static_cast<unsigned long long>(errors),
      static_cast<unsigned long long>(total), static_cast<unsigned long long>(bursts), most);
  return done_count > 50 && errors > 3 && illegal > 50 && quiet_stops > 10 && most == config.out
             ? 0
             : 1;
}
