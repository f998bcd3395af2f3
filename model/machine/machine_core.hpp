// Cycle-accurate model of the whole machine in plain C++: the parts of rtl/bc_machine.sv, wired as
// there, equal in every register after every clock edge.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "model/core.hpp"
#include "model/machine/control.hpp"
#include "model/machine/dispatch.hpp"
#include "model/machine/dma.hpp"
#include "model/machine/exec.hpp"
#include "model/machine/machine.hpp"
#include "model/machine/machine_config.hpp"
#include "model/machine/regs.hpp"
#include "model/machine/result.hpp"

namespace bitcycle {

class MachineCore final : public Machine {
 public:
  /// Throws InputError if the configuration is illegal. Starts after a reset.
  explicit MachineCore(const MachineConfig& config);

  void reset() override;
  void step(const MachineStep& in) override;
  const MachinePorts& ports() const override { return ports_; }
  const std::vector<RegisterView>& registers() override { return registers_; }

  /// No engine is busy, no queue holds an instruction, none is being assembled.
  bool idle() const;
  const EngineControl& engine(int e) const { return engines_[static_cast<std::size_t>(e)]; }
  const ArrayCore& array() const { return array_; }
  const MachineConfig& config() const { return config_; }

 private:
  /// What the registers say about this cycle, whatever the inputs.
  struct Comb {
    std::array<EngineControl::Inputs, kEngines> in;
    std::array<std::uint16_t, kEngines> need_in{}, need_out{};  ///< tokens that heads wait for
    std::array<bool, kEngines> pop{}, start{}, drop{};
    std::array<layout::MachineCause, kEngines> head_cause{};
    std::uint8_t room = 0, pops = 0;
  };

  InstructionQueue& queue(int e) { return queues_[static_cast<std::size_t>(e)]; }
  void evaluate();
  void publish();

  MachineConfig config_;
  ResetControl reset_;
  RegisterBlock regs_;
  Dispatch dispatch_;
  std::array<InstructionQueue, kEngines> queues_;
  Semaphore f2e_, e2f_, e2r_, r2e_, r2f_;
  std::array<EngineControl, kEngines> engines_;
  FetchUnit fetch_;
  ExecUnit exec_;
  ArrayCore array_;
  ResultUnit result_;
  StoreUnit store_;

  Comb comb_;
  std::array<std::uint64_t, layout::kExecWords> exec_words_{};
  std::array<std::uint64_t, layout::kFetchWords> fetch_words_{}, store_words_{};
  std::vector<std::uint64_t> ob_beat_;
  MachinePorts ports_;
  std::vector<RegisterView> registers_;
};

}  // namespace bitcycle
