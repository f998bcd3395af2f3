// Generated from rtl/machine.yaml by scripts/generate-layout: do not edit.
#pragma once

#include <cstdint>

// clang-format off
namespace bitcycle::layout {

/// Where a field lies: its lowest bit, counted from bit 0 of word 0, and its width.
struct Field {
  int bit;
  int width;
  bool is_signed;
};

// Reads lines from DRAM into an operand buffer.
constexpr int kFetchOpcode = 0;
constexpr int kFetchWords = 6;
constexpr Field kFetchOp{0, 2, false};
constexpr Field kFetchTarget{2, 1, false};
constexpr Field kFetchWaitE2f{8, 8, false};
constexpr Field kFetchWaitR2f{16, 16, false};
constexpr Field kFetchPostF2e{32, 1, false};
constexpr Field kFetchDram{64, 40, false};
constexpr Field kFetchLineBeats{128, 32, false};
constexpr Field kFetchN0{160, 16, false};
constexpr Field kFetchN1{176, 16, false};
constexpr Field kFetchN2{192, 16, false};
constexpr Field kFetchBuffer{208, 24, false};
constexpr Field kFetchStride0{256, 32, true};
constexpr Field kFetchStride1{288, 32, true};
constexpr Field kFetchStride2{320, 32, true};

// One matrix product and what becomes of its results.
constexpr int kExecOpcode = 1;
constexpr int kExecWords = 27;
constexpr Field kExecOp{0, 2, false};
constexpr Field kExecASigned{2, 1, false};
constexpr Field kExecWSigned{3, 1, false};
constexpr Field kExecPa{4, 5, false};
constexpr Field kExecPw{9, 5, false};
constexpr Field kExecPsRead{14, 1, false};
constexpr Field kExecPsWrite{15, 1, false};
constexpr Field kExecRaw{16, 1, false};
constexpr Field kExecColumn{17, 1, false};
constexpr Field kExecSums{18, 1, false};
constexpr Field kExecOutBits{19, 5, false};
constexpr Field kExecOutSigned{24, 1, false};
constexpr Field kExecRounding{25, 2, false};
constexpr Field kExecWaitF2e{27, 8, false};
constexpr Field kExecWaitR2e{35, 8, false};
constexpr Field kExecPostE2f{43, 1, false};
constexpr Field kExecPostE2r{44, 1, false};
constexpr Field kExecRaw32{45, 1, false};
constexpr Field kExecM{64, 32, false};
constexpr Field kExecN{96, 32, false};
constexpr Field kExecK{128, 32, false};
constexpr Field kExecPsBase{160, 16, false};
constexpr int kExecAWord = 3;
constexpr int kExecWWord = 11;
constexpr Field kExecObBase{1216, 24, false};
constexpr Field kExecOr0{1248, 16, false};
constexpr Field kExecOr1{1264, 16, false};
constexpr Field kExecO0{1280, 32, true};
constexpr Field kExecO1w{1312, 32, true};
constexpr Field kExecO2w{1344, 32, true};
constexpr Field kExecOc{1376, 32, true};
constexpr Field kExecSumA{1408, 24, false};
constexpr Field kExecSumW{1432, 24, false};
constexpr Field kExecMult{1472, 16, false};
constexpr Field kExecShift{1488, 6, false};
constexpr Field kExecZa{1494, 17, true};
constexpr Field kExecZw{1511, 17, true};
constexpr Field kExecKzz{1536, 64, true};
constexpr Field kExecZout{1600, 17, true};
constexpr Field kExecSeed{1632, 32, false};
constexpr Field kExecElement{1664, 32, false};
constexpr Field kExecElementRow{1696, 32, false};

// Writes lines from the output buffer to DRAM.
constexpr int kStoreOpcode = 2;
constexpr int kStoreWords = 6;
constexpr Field kStoreOp{0, 2, false};
constexpr Field kStoreWaitE2r{8, 8, false};
constexpr Field kStorePostR2e{16, 1, false};
constexpr Field kStorePostR2f{17, 1, false};
constexpr Field kStoreDram{64, 40, false};
constexpr Field kStoreLineBeats{128, 32, false};
constexpr Field kStoreN0{160, 16, false};
constexpr Field kStoreN1{176, 16, false};
constexpr Field kStoreN2{192, 16, false};
constexpr Field kStoreBuffer{208, 24, false};
constexpr Field kStoreStride0{256, 32, true};
constexpr Field kStoreStride1{288, 32, true};
constexpr Field kStoreStride2{320, 32, true};

// A side of exec, from the first bit of its first word.
constexpr int kSideWords = 8;
constexpr Field kSideBase{0, 24, false};
constexpr Field kSideTransposed{24, 1, false};
constexpr Field kSideR0{32, 16, false};
constexpr Field kSideR1{48, 16, false};
constexpr Field kSideA0{64, 32, true};
constexpr Field kSideA1w{96, 32, true};
constexpr Field kSideA2w{128, 32, true};
constexpr Field kSideH{160, 16, false};
constexpr Field kSideWd{176, 16, false};
constexpr Field kSideSy{192, 16, true};
constexpr Field kSideSx{208, 16, true};
constexpr Field kSideY0{224, 16, true};
constexpr Field kSideX0{240, 16, true};
constexpr Field kSideKb0{256, 16, false};
constexpr Field kSideCg{272, 16, false};
constexpr Field kSideBr{288, 8, false};
constexpr Field kSideLo{296, 8, false};
constexpr Field kSideHi{304, 8, false};
constexpr Field kSideB1w{320, 32, true};
constexpr Field kSideB0w{352, 32, true};
constexpr Field kSideSc{384, 32, true};
constexpr Field kSideDy{416, 16, true};
constexpr Field kSideDx{432, 16, true};
constexpr Field kSideXw{448, 16, true};
constexpr Field kSideYw{464, 16, true};
constexpr Field kSideDxw{480, 16, true};

/// Why the machine stopped or dropped an instruction; of several causes the lowest counts.
enum class MachineCause : std::uint8_t {
  kNone = 0,  ///< no error
  kDimZero = 1,  ///< exec: M, N or K is 0
  kWidthZero = 2,  ///< exec: bits of A or W are 0
  kWidthOver = 3,  ///< exec: bits of A or W over P_MAX
  kOutBits = 4,  ///< exec: codes are written and out_bits is 0 or over 16
  kRadix = 5,  ///< exec: R0, R1, KB0, CG or BR of a side is 0 or BR over GL; with results, OR0 or OR1 is 0
  kHeader = 6,  ///< no engine has this header (3)
  kCountZero = 7,  ///< fetch, store: line_beats, n0, n1 or n2 is 0
  kUnaligned = 8,  ///< fetch, store: DRAM address is no multiple of a beat
  kSlverr = 9,  ///< the memory answered SLVERR
  kDecerr = 10,  ///< the memory answered DECERR
  kWatchdog = 11,  ///< no progress for as long as the watchdog allows
  kTokenOverflow = 12,  ///< a token counter left its 16 bits
};

/// "width_over" and so on; "unknown" for a value without a name.
constexpr const char* cause_name(MachineCause cause) {
  switch (cause) {
    case MachineCause::kNone:
      return "none";
    case MachineCause::kDimZero:
      return "dim_zero";
    case MachineCause::kWidthZero:
      return "width_zero";
    case MachineCause::kWidthOver:
      return "width_over";
    case MachineCause::kOutBits:
      return "out_bits";
    case MachineCause::kRadix:
      return "radix";
    case MachineCause::kHeader:
      return "header";
    case MachineCause::kCountZero:
      return "count_zero";
    case MachineCause::kUnaligned:
      return "unaligned";
    case MachineCause::kSlverr:
      return "slverr";
    case MachineCause::kDecerr:
      return "decerr";
    case MachineCause::kWatchdog:
      return "watchdog";
    case MachineCause::kTokenOverflow:
      return "token_overflow";
  }
  return "unknown";
}

// AXI4-Lite registers: byte addresses and fields.
constexpr std::uint32_t kRegId = 0x000;
constexpr std::uint32_t kRegVersion = 0x004;
constexpr std::uint32_t kRegParam0 = 0x008;
constexpr Field kRegParam0Ra{0, 8, false};
constexpr Field kRegParam0Rw{8, 8, false};
constexpr Field kRegParam0Kl{16, 16, false};
constexpr std::uint32_t kRegParam1 = 0x00c;
constexpr Field kRegParam1Tm{0, 8, false};
constexpr Field kRegParam1Tn{8, 8, false};
constexpr Field kRegParam1S{16, 8, false};
constexpr Field kRegParam1PMax{24, 8, false};
constexpr std::uint32_t kRegParam2 = 0x010;
constexpr Field kRegParam2Ba{0, 16, false};
constexpr Field kRegParam2Bw{16, 16, false};
constexpr std::uint32_t kRegParam3 = 0x014;
constexpr Field kRegParam3AcW{0, 8, false};
constexpr Field kRegParam3AccW{8, 8, false};
constexpr Field kRegParam3Q{16, 16, false};
constexpr std::uint32_t kRegParam4 = 0x018;
constexpr Field kRegParam4Dw{0, 16, false};
constexpr Field kRegParam4Gl{16, 8, false};
constexpr Field kRegParam4Qd{24, 8, false};
constexpr std::uint32_t kRegParam5 = 0x01c;
constexpr Field kRegParam5Out{0, 8, false};
constexpr Field kRegParam5Burst{8, 16, false};
constexpr std::uint32_t kRegL1aD = 0x020;
constexpr std::uint32_t kRegL1wD = 0x024;
constexpr std::uint32_t kRegObD = 0x028;
constexpr std::uint32_t kRegPsD = 0x02c;
constexpr std::uint32_t kRegControl = 0x040;
constexpr Field kRegControlEnable{0, 1, false};
constexpr Field kRegControlSoftReset{1, 1, false};
constexpr Field kRegControlClearCounters{2, 1, false};
constexpr Field kRegControlSnapshot{3, 1, false};
constexpr Field kRegControlClearExtremes{4, 1, false};
constexpr std::uint32_t kRegStatus = 0x044;
constexpr Field kRegStatusBusy{0, 3, false};
constexpr Field kRegStatusHalted{3, 1, false};
constexpr Field kRegStatusQueueFull{4, 3, false};
constexpr Field kRegStatusDispatchBusy{7, 1, false};
constexpr Field kRegStatusPushReady{8, 1, false};
constexpr Field kRegStatusIdle{9, 1, false};
constexpr Field kRegStatusSoftPending{10, 1, false};
constexpr Field kRegStatusHalt{11, 1, false};
constexpr std::uint32_t kRegError = 0x048;
constexpr Field kRegErrorCause{0, 4, false};
constexpr Field kRegErrorEngine{8, 2, false};
constexpr std::uint32_t kRegIrqEnable = 0x04c;
constexpr Field kRegIrqEnableDone{0, 1, false};
constexpr Field kRegIrqEnableError{1, 1, false};
constexpr Field kRegIrqEnableWatchdog{2, 1, false};
constexpr std::uint32_t kRegIrqStatus = 0x050;
constexpr Field kRegIrqStatusDone{0, 1, false};
constexpr Field kRegIrqStatusError{1, 1, false};
constexpr Field kRegIrqStatusWatchdog{2, 1, false};
constexpr std::uint32_t kRegWatchdog = 0x054;
constexpr std::uint32_t kRegInstLo = 0x058;
constexpr std::uint32_t kRegInstHi = 0x05c;
constexpr std::uint32_t kRegF2e = 0x060;
constexpr std::uint32_t kRegE2f = 0x064;
constexpr std::uint32_t kRegE2r = 0x068;
constexpr std::uint32_t kRegR2e = 0x06c;
constexpr std::uint32_t kRegR2f = 0x070;
constexpr std::uint32_t kRegFetchIdleLow = 0x080;
constexpr std::uint32_t kRegFetchIdleHigh = 0x084;
constexpr std::uint32_t kRegFetchRunLow = 0x088;
constexpr std::uint32_t kRegFetchRunHigh = 0x08c;
constexpr std::uint32_t kRegFetchWaitInLow = 0x090;
constexpr std::uint32_t kRegFetchWaitInHigh = 0x094;
constexpr std::uint32_t kRegFetchWaitOutLow = 0x098;
constexpr std::uint32_t kRegFetchWaitOutHigh = 0x09c;
constexpr std::uint32_t kRegExecIdleLow = 0x0a0;
constexpr std::uint32_t kRegExecIdleHigh = 0x0a4;
constexpr std::uint32_t kRegExecRunLow = 0x0a8;
constexpr std::uint32_t kRegExecRunHigh = 0x0ac;
constexpr std::uint32_t kRegExecWaitInLow = 0x0b0;
constexpr std::uint32_t kRegExecWaitInHigh = 0x0b4;
constexpr std::uint32_t kRegExecWaitOutLow = 0x0b8;
constexpr std::uint32_t kRegExecWaitOutHigh = 0x0bc;
constexpr std::uint32_t kRegStoreIdleLow = 0x0c0;
constexpr std::uint32_t kRegStoreIdleHigh = 0x0c4;
constexpr std::uint32_t kRegStoreRunLow = 0x0c8;
constexpr std::uint32_t kRegStoreRunHigh = 0x0cc;
constexpr std::uint32_t kRegStoreWaitInLow = 0x0d0;
constexpr std::uint32_t kRegStoreWaitInHigh = 0x0d4;
constexpr std::uint32_t kRegStoreWaitOutLow = 0x0d8;
constexpr std::uint32_t kRegStoreWaitOutHigh = 0x0dc;
constexpr std::uint32_t kRegVminLow = 0x0e0;
constexpr std::uint32_t kRegVminHigh = 0x0e4;
constexpr std::uint32_t kRegVmaxLow = 0x0e8;
constexpr std::uint32_t kRegVmaxHigh = 0x0ec;
constexpr std::uint32_t kRegFlags = 0x0f0;
constexpr Field kRegFlagsOverflow{0, 1, false};
constexpr std::uint32_t kRegCyclesLow = 0x0f8;
constexpr std::uint32_t kRegCyclesHigh = 0x0fc;

}  // namespace bitcycle::layout
