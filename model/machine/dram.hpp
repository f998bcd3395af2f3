// A DRAM behind the AXI ports: open pages, banks in groups, refresh, and the energy of its states.
// Every channel serves its accesses in order; a row may be opened while an earlier access still
// waits for its column. Commands have no bus of their own, pages close for conflicts and refresh
// only, power-down is not modelled.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace bitcycle {

/// One supply of a device: volts and milliamperes, as data sheets give them.
struct DramRail {
  std::string name;
  double volt = 0;
  double idd0 = 0;              ///< activate - precharge, one every tRC
  double idd2n = 0;             ///< all banks closed
  double idd3n = 0;             ///< banks open
  double idd4r = 0, idd4w = 0;  ///< reading, writing without a gap
  double idd5b = 0;             ///< refreshing
};

/// Parts of an address from the highest to the lowest; below them lie the bytes of an access.
enum class DramField : std::uint8_t { kRow, kBank, kGroup, kColumn, kChannel };

/// Timings in clocks of the DRAM unless the name says otherwise.
struct DramConfig {
  std::string name;
  int channels = 1;
  int bank_groups = 1, banks_per_group = 8;
  int rows = 32768;      ///< of a bank
  int row_bytes = 8192;  ///< of a row, all devices of a channel together
  int bus_width = 64;    ///< bits of a channel
  int device_width = 8;  ///< bits of a device
  int burst_length = 8;  ///< transfers of an access, two a clock
  int tck_ps = 625;
  int cl = 0, cwl = 0, trcd = 0, trp = 0, tras = 0;
  int trrd_s = 0, trrd_l = 0, tfaw = 0;
  int tccd_s = 0, tccd_l = 0, twtr_s = 0, twtr_l = 0, twr = 0, trtp = 0;
  int trtrs = 0;  ///< clocks that the bus rests between read and write data
  int trfc = 0, trefi = 0;
  int controller_ps = 0;  ///< controller, PHY and interconnect, added to every read and response
  int write_buffer = 32;  ///< accesses that may wait to be written
  std::array<DramField, 5> mapping{DramField::kRow, DramField::kBank, DramField::kColumn,
                                   DramField::kGroup, DramField::kChannel};
  std::vector<DramRail> rails;
  double io_pj_per_bit = 0;  ///< interface and PHY, not in the currents

  int burst_clocks() const { return burst_length / 2; }
  /// Bytes of an access.
  int access_bytes() const { return bus_width / 8 * burst_length; }
  int devices() const { return bus_width / device_width; }
  int banks() const { return bank_groups * banks_per_group; }
  int trc() const { return tras + trp; }
  /// Clocks from one column command to the next of the same direction, other and same bank group.
  int column_gap_s() const { return tccd_s > burst_clocks() ? tccd_s : burst_clocks(); }
  int column_gap_l() const { return tccd_l > column_gap_s() ? tccd_l : column_gap_s(); }
  /// Bytes per second of all channels together when every access hits.
  double peak_bandwidth() const {
    return 1e12 * channels * access_bytes() / (static_cast<double>(column_gap_s()) * tck_ps);
  }

  /// Throws InputError naming file, line (of `lines`, by field) and field.
  void validate(const std::string& file = "", const std::map<std::string, int>& lines = {}) const;
};

/// Where an access goes.
struct DramAddress {
  int channel = 0, group = 0, bank = 0;  ///< bank: of the channel, 0..banks()-1, group included
  std::int64_t row = 0;
};

/// Bytes wrap at the capacity.
DramAddress dram_address(const DramConfig& config, std::uint64_t byte_address);

struct DramCounts {
  std::uint64_t hits = 0;       ///< row was open
  std::uint64_t closed = 0;     ///< no row was open
  std::uint64_t conflicts = 0;  ///< another row was open
  std::uint64_t reads = 0, writes = 0, refreshes = 0;
  std::uint64_t open_clocks = 0, all_clocks = 0;  ///< banks open or refreshing; all. Per channel,
                                                  ///< added up.
  std::uint64_t activations() const { return closed + conflicts; }
};

/// Picojoule, all devices of all channels.
struct DramEnergy {
  double activate = 0, read = 0, write = 0, refresh = 0;
  double standby_open = 0, standby_closed = 0;
  double io = 0;
  double total() const {
    return activate + read + write + refresh + standby_open + standby_closed + io;
  }
};

/// Sum over rails of a device of what one event (or clock) costs, pJ.
struct DramEventEnergy {
  double activate = 0;                      ///< VDD (IDD0 tRC - IDD3N tRAS - IDD2N tRP)
  double read = 0;                          ///< VDD (IDD4R - IDD3N) burst
  double write = 0;                         ///< VDD (IDD4W - IDD3N) burst
  double refresh = 0;                       ///< VDD (IDD5B - IDD3N) tRFC
  double open_clock = 0, closed_clock = 0;  ///< VDD IDD3N, VDD IDD2N
};
DramEventEnergy dram_event_energy(const DramConfig& config);

class Dram {
 public:
  explicit Dram(const DramConfig& config);

  /// Serves an access that arrives in clock `arrive` (not before the access of the same channel
  /// before it). Returns the clock in which its data has been transferred.
  std::int64_t access(std::uint64_t byte_address, bool is_write, std::int64_t arrive);

  /// Commands of the last access; -1 where there was none.
  struct Commands {
    std::int64_t precharge = -1, activate = -1, column = -1;
  };
  const Commands& last() const { return last_; }

  /// What happened until clock `now` (not before the last data), refreshes of idle times included.
  DramCounts counts(std::int64_t now);
  DramEnergy energy(std::int64_t now);
  const DramConfig& config() const { return config_; }

 private:
  struct Bank {
    std::int64_t row = -1;
    std::int64_t activate_from = 0, precharge_from = 0, column_from = 0;
  };
  struct Channel {
    std::vector<Bank> banks;
    std::array<std::int64_t, 4> activates;  // the last four, oldest first
    std::vector<std::int64_t> group_activate, group_read, group_write;  // last of each group
    std::int64_t read = 0, write = 0;                                   // last columns
    std::int64_t write_end = 0;                                         // of the data
    std::vector<std::int64_t> group_write_end;
    std::int64_t column = 0;  // last column of all
    std::int64_t refresh_at = 0;
    std::int64_t open_since = -1;  // -1: all banks closed
    std::uint64_t open_clocks = 0;
  };
  void refresh_until(Channel& channel, std::int64_t clock);

  DramConfig config_;
  std::vector<Channel> channels_;
  DramCounts counts_;
  Commands last_;
};

/// An AXI burst for the bounds.
struct DramBurst {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  bool is_write = false;
};

/// Fewest clocks from the first to the last column command of `accesses` on one channel. Columns
/// are `gap` apart, and none is issued while the channel refreshes. Between the first column and
/// the last but one every tREFI brings a refresh; each keeps two columns at least tRFC apart.
std::int64_t dram_least_span(const DramConfig& config, std::int64_t accesses, std::int64_t gap);

/// Clocks from the arrival of the first access to the end of the last data, for bursts that all
/// wait at once: as if every access hit an open row in another group, but for the refreshes that
/// must come; and as if each found its bank just opened to another row, with the refreshes that
/// fit.
struct DramBounds {
  std::int64_t all_hit = 0, all_miss = 0;
};
DramBounds dram_bounds(const DramConfig& config, const std::vector<DramBurst>& bursts);

/// Most clocks from max(arrival, end of the channel's data before) to the end of an access's data,
/// refresh aside. after_write: some access before it may have been a write.
std::int64_t dram_worst_access(const DramConfig& config, bool is_write, bool after_read,
                               bool after_write);
/// Most clocks that one refresh adds to that.
std::int64_t dram_worst_refresh(const DramConfig& config, bool after_write);

}  // namespace bitcycle
