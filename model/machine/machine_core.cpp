#include "model/machine/machine_core.hpp"

#include <cstring>

namespace bitcycle {
namespace {

using layout::MachineCause;

std::uint16_t field(std::uint64_t word, const layout::Field& f) {
  return static_cast<std::uint16_t>(word >> static_cast<unsigned>(f.bit) &
                                    ((std::uint64_t{1} << static_cast<unsigned>(f.width)) - 1));
}

}  // namespace

MachineCore::MachineCore(const MachineConfig& config)
    : config_(config),
      regs_(config),
      queues_{InstructionQueue(layout::kFetchWords, config.qd),
              InstructionQueue(layout::kExecWords, config.qd),
              InstructionQueue(layout::kStoreWords, config.qd)},
      fetch_(config),
      exec_(config),
      array_(config.array),
      result_(config),
      store_(config),
      ob_beat_((static_cast<std::size_t>(config.dw) + 63) / 64) {
  config.validate();
  const std::string top = "bc_machine.";
  reset_.list(top + "u_reset", registers_);
  regs_.list(top + "u_regs", registers_);
  dispatch_.list(top + "u_dispatch", registers_);
  static const char* const names[] = {"u_fetch", "u_exec", "u_store"};
  for (std::size_t e = 0; e < kEngines; ++e) {
    queues_[e].list(top + names[e] + "_queue", registers_);
    engines_[e].list(top + names[e] + "_engine", registers_);
  }
  f2e_.list(top + "u_f2e", registers_);
  e2f_.list(top + "u_e2f", registers_);
  e2r_.list(top + "u_e2r", registers_);
  r2e_.list(top + "u_r2e", registers_);
  r2f_.list(top + "u_r2f", registers_);
  fetch_.list(top + "u_fetch", registers_);
  exec_.list(top + "u_exec", registers_);
  exec_.list_memories(top + "u_exec", registers_);
  result_.list(top + "u_result", registers_);
  store_.list(top + "u_store", registers_);
  constexpr std::size_t kOld = sizeof("bc_array") - 1;
  for (RegisterView view : array_.registers()) {
    view.name = top + "u_array" + view.name.substr(kOld);
    registers_.push_back(view);
  }
  reset();
}

void MachineCore::reset() {
  reset_.reset();
  regs_.reset();
  dispatch_.reset();
  for (auto& q : queues_) q.reset();
  for (auto& e : engines_) e.reset();
  for (Semaphore* s : {&f2e_, &e2f_, &e2r_, &r2e_, &r2f_}) s->reset();
  fetch_.reset();
  exec_.reset();
  array_.reset();
  result_.reset();
  store_.reset();
  evaluate();
  // The release passes two registers.
  for (int i = 0; i < 3; ++i) step({});
}

bool MachineCore::idle() const {
  for (std::size_t e = 0; e < kEngines; ++e) {
    if (engines_[e].busy() || queues_[e].valid()) return false;
  }
  return !dispatch_.busy();
}

void MachineCore::evaluate() {
  Comb& c = comb_;
  c = {};
  const bool enable = regs_.enable();
  const bool halt = regs_.halt();
  for (std::size_t e = 0; e < kEngines; ++e) {
    EngineControl::Inputs& in = c.in[e];
    in.enable = enable;
    in.halt = halt;
    in.valid = queues_[e].valid();
    if (!in.valid) continue;
    const std::uint64_t head = queues_[e].head(0);
    switch (e) {
      case kFetchEngine: {
        c.need_in[e] = field(head, layout::kFetchWaitR2f);
        c.need_out[e] = field(head, layout::kFetchWaitE2f);
        in.in_ok = r2f_.ok(c.need_in[e]);
        in.out_ok = e2f_.ok(c.need_out[e]);
        in.post = static_cast<std::uint8_t>(field(head, layout::kFetchPostF2e));
        if (!engines_[e].busy()) {
          queues_[e].head(fetch_words_.data());
          c.head_cause[e] = Transfer::decode(fetch_words_.data()).check(config_.dw);
          in.illegal = c.head_cause[e] != MachineCause::kNone;
        }
        break;
      }
      case kExecEngine:
        c.need_in[e] = field(head, layout::kExecWaitF2e);
        c.need_out[e] = field(head, layout::kExecWaitR2e);
        in.in_ok = f2e_.ok(c.need_in[e]);
        in.out_ok = r2e_.ok(c.need_out[e]);
        in.post = static_cast<std::uint8_t>(field(head, layout::kExecPostE2f) |
                                            field(head, layout::kExecPostE2r) << 1U);
        break;
      default:
        c.need_in[e] = field(head, layout::kStoreWaitE2r);
        in.in_ok = e2r_.ok(c.need_in[e]);
        in.out_ok = true;
        in.post = static_cast<std::uint8_t>(field(head, layout::kStorePostR2e) |
                                            field(head, layout::kStorePostR2f) << 1U);
        if (!engines_[e].busy()) {
          queues_[e].head(store_words_.data());
          c.head_cause[e] = Transfer::decode(store_words_.data()).check(config_.dw);
          in.illegal = c.head_cause[e] != MachineCause::kNone;
        }
        break;
    }
    c.pop[e] = engines_[e].pop(in);
    c.start[e] = engines_[e].start(in);
    c.drop[e] = engines_[e].drop(in);
  }
  for (std::size_t e = 0; e < kEngines; ++e) {
    if (c.pop[e]) c.pops = static_cast<std::uint8_t>(c.pops | 1U << e);
    if (queues_[e].room(c.pop[e])) c.room = static_cast<std::uint8_t>(c.room | 1U << e);
  }
}

void MachineCore::step(const MachineStep& in) {
  Comb& c = comb_;
  const ArrayPorts& array = array_.ports();

  FetchUnit::Inputs fetch;
  fetch.start = c.start[kFetchEngine];
  fetch.inst = fetch_words_.data();
  fetch.busy = engines_[kFetchEngine].busy();
  fetch.stop = regs_.stop();
  fetch.axi = in.read;
  StoreUnit::Inputs store;
  store.start = c.start[kStoreEngine];
  store.inst = store_words_.data();
  store.stop = regs_.stop();
  store.axi = in.write;
  std::memcpy(ob_beat_.data(), result_.read_beat(store_.ob_address()),
              static_cast<std::size_t>(config_.dw) / 8);
  store.ob_data = ob_beat_.data();

  const MachineCause fetch_error = fetch_.error(fetch);
  const MachineCause store_error = store_.error(store);
  const MachineCause exec_cause = exec_.cause();
  const bool exec_err = exec_.err();
  c.in[kFetchEngine].done = fetch_.done(fetch);
  c.in[kFetchEngine].err = fetch_error != MachineCause::kNone;
  c.in[kExecEngine].done = exec_err || result_.done();
  c.in[kExecEngine].err = exec_err;
  c.in[kStoreEngine].done = store_.done(store);
  c.in[kStoreEngine].err = store_error != MachineCause::kNone;
  std::array<std::uint8_t, kEngines> posts{};
  RegisterBlock::Inputs regs;
  regs.lite = in.lite;
  const bool clear = regs_.clear(regs);
  bool any_done = false;
  for (std::size_t e = 0; e < kEngines; ++e) {
    c.in[e].clear = clear;
    posts[e] = engines_[e].post(c.in[e]);
    any_done = any_done || c.in[e].done;
    if (engines_[e].busy()) regs.busy = static_cast<std::uint8_t>(regs.busy | 1U << e);
    if (queues_[e].valid()) {
      regs.queue_valid = static_cast<std::uint8_t>(regs.queue_valid | 1U << e);
    }
    if (queues_[e].full()) regs.queue_full = static_cast<std::uint8_t>(regs.queue_full | 1U << e);
    regs.counters[e] = &engines_[e].counters();
  }

  Dispatch::Inputs dispatch;
  dispatch.flush = regs_.halt();
  dispatch.inst_valid = in.inst_valid;
  dispatch.inst_data = in.inst_data;
  dispatch.mm_valid = regs_.mm_valid();
  dispatch.mm_data = regs_.mm_data();
  dispatch.room = c.room;
  const std::uint8_t push = dispatch_.push(dispatch);

  const bool f2e_post = (posts[kFetchEngine] & 1U) != 0;
  const bool e2f_post = (posts[kExecEngine] & 1U) != 0;
  const bool e2r_post = (posts[kExecEngine] & 2U) != 0;
  const bool r2e_post = (posts[kStoreEngine] & 1U) != 0;
  const bool r2f_post = (posts[kStoreEngine] & 2U) != 0;
  const bool lost = f2e_.overflow(f2e_post, c.need_in[kExecEngine], c.pop[kExecEngine]) ||
                    e2f_.overflow(e2f_post, c.need_out[kFetchEngine], c.pop[kFetchEngine]) ||
                    e2r_.overflow(e2r_post, c.need_in[kStoreEngine], c.pop[kStoreEngine]) ||
                    r2e_.overflow(r2e_post, c.need_out[kExecEngine], c.pop[kExecEngine]) ||
                    r2f_.overflow(r2f_post, c.need_in[kFetchEngine], c.pop[kFetchEngine]);

  const AxiReadReq read = fetch_.axi(fetch);
  const AxiWriteReq write = store_.axi(store);
  regs.mm_ready = dispatch_.mm_ready(dispatch);
  regs.pop = c.pops;
  regs.dispatch_busy = dispatch_.busy();
  regs.progress = (read.arvalid && in.read.arready) || (in.read.rvalid && read.rready) ||
                  (write.awvalid && in.write.awready) || (write.wvalid && in.write.wready) ||
                  (in.write.bvalid && write.bready) || c.pops != 0 || any_done ||
                  engines_[kExecEngine].busy();
  regs.quiet = fetch_.quiet(fetch) && store_.quiet(store);
  const bool fetch_failed =
      c.drop[kFetchEngine] || (c.in[kFetchEngine].done && c.in[kFetchEngine].err);
  const bool store_failed =
      c.drop[kStoreEngine] || (c.in[kStoreEngine].done && c.in[kStoreEngine].err);
  regs.err = static_cast<std::uint8_t>((fetch_failed ? 1U : 0U) | (exec_err ? 2U : 0U) |
                                       (store_failed ? 4U : 0U) |
                                       (dispatch_.err(dispatch) ? 8U : 0U) | (lost ? 16U : 0U));
  regs.err_cause[kFetchEngine] =
      static_cast<std::uint8_t>(c.drop[kFetchEngine] ? c.head_cause[kFetchEngine] : fetch_error);
  regs.err_cause[kExecEngine] = static_cast<std::uint8_t>(exec_cause);
  regs.err_cause[kStoreEngine] =
      static_cast<std::uint8_t>(c.drop[kStoreEngine] ? c.head_cause[kStoreEngine] : store_error);
  regs.tokens = {f2e_.count(), e2f_.count(), e2r_.count(), r2e_.count(), r2f_.count()};
  regs.min = static_cast<std::uint64_t>(result_.minimum());
  regs.max = static_cast<std::uint64_t>(result_.maximum());
  regs.overflow = result_.overflow();
  const bool soft = regs_.soft(regs);

  ArrayStep to_array;
  to_array.desc_valid = exec_.desc_valid();
  if (to_array.desc_valid) to_array.desc = exec_.descriptor();
  to_array.a_valid = exec_.a_valid();
  to_array.w_valid = exec_.w_valid();
  if (to_array.a_valid && array.a_ready) to_array.a_data = exec_.a_beat();
  if (to_array.w_valid && array.w_ready) to_array.w_data = exec_.w_beat();
  to_array.a_valid = to_array.a_valid && array.a_ready;
  to_array.w_valid = to_array.w_valid && array.w_ready;
  to_array.res_ready = true;

  ExecStep to_exec;
  to_exec.start = c.start[kExecEngine];
  if (to_exec.start) queue(kExecEngine).head(exec_words_.data());
  to_exec.inst = exec_words_.data();
  const FetchUnit::Write l1 = fetch_.write(fetch);
  to_exec.l1a_write = l1.we && l1.target == 0;
  to_exec.l1w_write = l1.we && l1.target == 1;
  to_exec.l1a_beat = l1.address & static_cast<std::uint32_t>(config_.l1a_d - 1);
  to_exec.l1w_beat = l1.address & static_cast<std::uint32_t>(config_.l1w_d - 1);
  to_exec.l1_data = l1.data;
  to_exec.desc_ready = array.desc_ready;
  to_exec.a_ready = array.a_ready;
  to_exec.w_ready = array.w_ready;

  ResultUnit::Inputs to_result;
  to_result.clear = regs_.clear_extremes(regs);
  if (to_exec.start) to_result.start = exec_words_.data();
  ResultBeat beat;
  if (array.res_valid) {
    beat.mask = array.res_mask;
    beat.data = array.res_data;
    beat.sum_a = array.res_sum_a;
    beat.sum_w = array.res_sum_w;
    beat.last = array.res_last;
    beat.overflow = array.overflow;
    to_result.beat = &beat;
  }

  // One edge: whoever reads another's registers goes first.
  const bool was_reset = !reset_.core_rst_n();
  const bool regs_were_reset = !reset_.rst_n();
  store_.step(store);
  result_.step(to_result);
  array_.step(to_array);
  exec_.step(to_exec);
  fetch_.step(fetch);
  regs_.step(regs);
  for (std::size_t e = 0; e < kEngines; ++e) {
    engines_[e].step(c.in[e]);
    queues_[e].step((push >> e & 1U) != 0, dispatch_.inst(), c.pop[e]);
  }
  dispatch_.step(dispatch);
  f2e_.step(f2e_post, c.need_in[kExecEngine], c.pop[kExecEngine]);
  e2f_.step(e2f_post, c.need_out[kFetchEngine], c.pop[kFetchEngine]);
  e2r_.step(e2r_post, c.need_in[kStoreEngine], c.pop[kStoreEngine]);
  r2e_.step(r2e_post, c.need_out[kExecEngine], c.pop[kExecEngine]);
  r2f_.step(r2f_post, c.need_in[kFetchEngine], c.pop[kFetchEngine]);
  reset_.step(soft);
  if (regs_were_reset || !reset_.rst_n()) regs_.reset();
  if (was_reset || !reset_.core_rst_n()) {
    dispatch_.reset();
    for (auto& q : queues_) q.reset();
    for (auto& e : engines_) e.reset();
    for (Semaphore* s : {&f2e_, &e2f_, &e2r_, &r2e_, &r2f_}) s->reset();
    fetch_.reset();
    exec_.reset();
    array_.reset();
    result_.reset();
    store_.reset();
  }
  evaluate();
  publish();
}

void MachineCore::publish() {
  Dispatch::Inputs dispatch;
  dispatch.flush = regs_.halt();
  dispatch.room = comb_.room;
  ports_.inst_ready = dispatch_.inst_ready(dispatch);
  ports_.irq = regs_.irq();
  ports_.lite = regs_.lite();
  FetchUnit::Inputs fetch;
  fetch.busy = engines_[kFetchEngine].busy();
  fetch.stop = regs_.stop();
  ports_.read = fetch_.axi(fetch);
  StoreUnit::Inputs store;
  store.stop = regs_.stop();
  ports_.write = store_.axi(store);
}

}  // namespace bitcycle
