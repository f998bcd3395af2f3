// cpp: model/machine/control.cpp model/machine/burst.cpp model/machine/dma.cpp
// bc_fetch against FetchUnit before a random memory: every beat of every line arrives once, in
// order, at consecutive buffer addresses; bursts keep to page, BURST and OUT; errors and stops.
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
  unit::Unit<Vdut> dut(random.word(), "bc_fetch");
  FetchUnit model(config);
  std::vector<RegisterView> registers;
  model.list("bc_fetch", registers);
  dut->start_i = dut->busy_i = dut->stop_i = dut->arready_i = dut->rvalid_i = 0;
  dut.reset();
  dut.attach(registers);

  struct Beat {
    std::uint64_t address;
    bool last;
  };
  std::deque<Beat> memory;  // accepted, not delivered
  std::vector<std::uint64_t> want;
  std::size_t got = 0, asked = 0;
  unit::DmaWords inst{};
  bool busy = false, stop = false, rvalid = false;
  std::uint8_t rresp = 0;
  auto expected_error = layout::MachineCause::kNone;
  int ar_rate = 50, r_rate = 50, error_rate = 0, outstanding = 0, most = 0;
  std::uint64_t done_count = 0, errors = 0, illegal = 0, bursts = 0, total = 0, quiet_stops = 0;
  for (int cycle = arguments.get("CYCLES", 200000); cycle-- > 0;) {
    if (random.below(300) == 0) {
      ar_rate = random.chance(30) ? 100 : random.range(2, 100);
      r_rate = random.chance(30) ? 100 : random.range(2, 100);
      error_rate = random.chance(20) ? 1 : 0;
    }
    stop = stop ? random.chance(95) : random.below(500) == 0;

    FetchUnit::Inputs in;
    // The head of the queue: legal or not; it starts now and then.
    const bool legal = random.chance(90);
    unit::DmaWords head = unit::random_transfer(random, config.dw, legal);
    in.inst = head.data();
    in.start = !busy && legal && random.chance(20);
    in.busy = busy;
    in.stop = stop;
    in.axi.arready = random.chance(ar_rate);
    if (!rvalid && !memory.empty() && random.chance(r_rate)) {
      rvalid = true;
      rresp = random.chance(error_rate) ? static_cast<std::uint8_t>(random.range(1, 3)) : 0;
    }
    std::vector<std::uint64_t> data(static_cast<std::size_t>(config.dw + 63) / 64);
    in.axi.rvalid = rvalid;
    if (rvalid) {
      in.axi.rresp = rresp;
      in.axi.rlast = memory.front().last;
      data = unit::beat_data(memory.front().address, config.dw);
    } else {  // whatever
      in.axi.rresp = static_cast<std::uint8_t>(random.bits(2));
      in.axi.rlast = random.chance(50);
    }
    in.axi.rdata = data.data();

    unit::drive(dut->inst_i, head.data(), head.size() * 64);
    dut->start_i = in.start;
    dut->busy_i = in.busy;
    dut->stop_i = in.stop;
    dut->arready_i = in.axi.arready;
    dut->rvalid_i = in.axi.rvalid;
    dut->rresp_i = in.axi.rresp;
    dut->rlast_i = in.axi.rlast;
    unit::drive(dut->rdata_i, data.data(), static_cast<std::size_t>(config.dw));
    dut.settle();
    const layout::MachineCause check =
        unit::get(head, layout::kFetchN0) == 0 || unit::get(head, layout::kFetchN1) == 0 ||
                unit::get(head, layout::kFetchN2) == 0 ||
                unit::get(head, layout::kFetchLineBeats) == 0
            ? layout::MachineCause::kCountZero
        : unit::get(head, layout::kFetchDram) % bytes != 0 ? layout::MachineCause::kUnaligned
                                                           : layout::MachineCause::kNone;
    dut.same("legal", check == layout::MachineCause::kNone, legal);
    dut.same("cause_o", dut->cause_o, check);
    dut.same("cause", Transfer::decode(head.data()).check(config.dw), check);
    dut.same("illegal_o", dut->illegal_o, !legal);
    illegal += legal ? 0 : 1;

    const AxiReadReq axi = model.axi(in);
    dut.same("arvalid_o", dut->arvalid_o, axi.arvalid);
    dut.same("rready_o", dut->rready_o, axi.rready);
    if (axi.arvalid) {
      dut.same("araddr_o", dut->araddr_o, axi.araddr);
      dut.same("arlen_o", dut->arlen_o, axi.arlen);
    }
    const FetchUnit::Write write = model.write(in);
    dut.same("l1_we_o", dut->l1_we_o, write.we);
    dut.same("quiet_o", dut->quiet_o, model.quiet(in));
    dut.same("done_o", dut->done_o, model.done(in));
    if (write.we) {
      dut.same("l1_target_o", dut->l1_target_o, write.target);
      dut.same("l1_addr_o", dut->l1_addr_o, write.address);
      if (!unit::equal(dut->l1_data_o, write.data, static_cast<std::size_t>(config.dw))) {
        dut.fail("l1_data_o");
      }
      // The beat that it should be.
      if (got >= want.size()) dut.fail("more beats than asked for");
      if (data != unit::beat_data(want[got], config.dw)) dut.fail("beats out of order");
      dut.same("target", write.target, unit::get(inst, layout::kFetchTarget));
      dut.same("address", write.address, (unit::get(inst, layout::kFetchBuffer) + got) & 0xffffffU);
      ++got;
      ++total;
      if ((rresp & 2U) != 0 && expected_error == layout::MachineCause::kNone) {
        expected_error = rresp == 2 ? layout::MachineCause::kSlverr : layout::MachineCause::kDecerr;
      }
      if (memory.front().last) --outstanding;
      memory.pop_front();
      rvalid = false;
    }
    if (axi.arvalid && in.axi.arready) {
      const unsigned beats = axi.arlen + 1U;
      ++bursts;
      if (beats > static_cast<unsigned>(config.burst)) dut.fail("burst too long");
      if (axi.araddr / kAxiPage != (axi.araddr + beats * bytes - 1) / kAxiPage) {
        dut.fail("burst crosses 4 KB");
      }
      if (asked + beats > want.size()) dut.fail("more asked for than wanted");
      // Greedy: a burst ends at a line's end, a page's end or at BURST.
      const std::uint64_t line = unit::get(inst, layout::kFetchLineBeats);
      const bool whole = (asked + beats) % line == 0 ||
                         (axi.araddr + beats * bytes) % kAxiPage == 0 ||
                         beats == static_cast<unsigned>(config.burst);
      if (!whole) dut.fail("burst shorter than needed");
      for (unsigned b = 0; b < beats; ++b) {
        const std::uint64_t address = (axi.araddr + b * bytes) & kAxiAddressMask;
        dut.same("address asked for", address, want[asked++]);
        memory.push_back({address, b + 1 == beats});
      }
      ++outstanding;
      most = std::max(most, outstanding);
      if (outstanding > config.out) dut.fail("too many bursts outstanding");
    }
    quiet_stops += stop && busy && model.quiet(in) ? 1 : 0;
    const bool done = model.done(in);
    dut.same("done", done, busy && got == want.size() && write.we);
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
      got = asked = 0;
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
