// Parameters of one array build: the same names, meanings and limits as rtl/bc_array.sv.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace bitcycle {

/// Parameters of the bit-serial array (DESIGN: "The accelerator"). All are elaboration-time in RTL.
struct ArrayConfig {
  std::string name = "custom";
  int ra = 1;      ///< digit width of the A (row) operand, bits per cycle: 1, 2, 4, 8
  int rw = 1;      ///< digit width of the W (column) operand, bits per cycle: 1, 2, 4, 8
  int kl = 64;     ///< lanes: elements of the reduction per cycle, 1..256
  int tm = 16;     ///< rows of PEs, 1..64
  int tn = 16;     ///< columns of PEs, 1..64
  int s = 8;       ///< PEs of a column that share one wide accumulator; divides tm; 1 = private
  int ba = 8;      ///< A words (kl bits) per cycle into the chunk registers; divides tm or multiple
  int bw = 8;      ///< W words per cycle; divides tn or a multiple of it
  int ac_w = 24;   ///< chunk accumulator width: 2^(ac_w-1) > 65025*kl, at most 32
  int acc_w = 48;  ///< wide accumulator width: ac_w (+16 if p_max > 8) .. 64
  int p_max = 16;  ///< widest operand, bits, 1..16
  int q = 16;      ///< results drained per cycle; divides tn or a multiple of it, at most tm*tn

  /// Throws InputError (one line, names the parameter) if a rule above is broken. `file` and
  /// `lines` (by YAML key) locate the message when the values came from a file.
  void validate(const std::string& file = "", const std::map<std::string, int>& lines = {}) const;

  /// Stable identity of the hardware: every parameter, no name. Usable as a file name.
  std::string key() const;

  /// Bit operations per cycle: tm*tn*kl*ra*rw.
  std::uint64_t bitops_per_cycle() const;
};

/// Smallest legal ac_w for `kl` lanes: 2^(ac_w-1) > 65025*kl (65025 = 255^2, unsigned 8x8).
int min_ac_w(int kl);

/// The five presets at equal bit-op throughput (16,384 per cycle), P_MAX = 8, smallest AC_W.
const std::vector<ArrayConfig>& array_presets();

/// The small builds that CI co-simulates (4x4, P_MAX = 16), one per radix pair and S.
const std::vector<ArrayConfig>& ci_configs();

/// Preset or CI name, or path of a YAML file; throws InputError with a suggestion otherwise.
ArrayConfig resolve_array(const std::string& name_or_file);

/// Reads one YAML map of parameters (`preset: NAME` may give the start values). Unknown keys,
/// duplicate keys, wrong types and illegal values end in InputError with file and line.
ArrayConfig load_array_config(const std::string& path);
/// The same from text; the stem of `path` is the name unless the text has one.
ArrayConfig parse_array_config(const std::string& content, const std::string& path);

}  // namespace bitcycle
