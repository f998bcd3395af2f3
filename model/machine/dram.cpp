#include "model/machine/dram.hpp"

#include <algorithm>
#include <limits>

#include "golden/error.hpp"

namespace bitcycle {
namespace {

constexpr std::int64_t kLongAgo = std::numeric_limits<std::int64_t>::min() / 4;

bool power_of_two(std::int64_t value) { return value > 0 && (value & (value - 1)) == 0; }

}  // namespace

void DramConfig::validate(const std::string& file, const std::map<std::string, int>& lines) const {
  const auto require = [&](bool good, const std::string& field, std::int64_t found,
                           const std::string& allowed) {
    if (good) return;
    const auto line = lines.find(field);
    throw input_error(file, line == lines.end() ? 0 : line->second, "memory " + name + ": " + field,
                      std::to_string(found), allowed);
  };
  const auto power = [&](const char* field, int value, int low, int high) {
    require(power_of_two(value) && value >= low && value <= high, field, value,
            "a power of two from " + std::to_string(low) + " to " + std::to_string(high));
  };
  power("channels", channels, 1, 64);
  power("bank_groups", bank_groups, 1, 16);
  power("banks_per_group", banks_per_group, 1, 32);
  power("rows", rows, 1, 1 << 24);
  power("bus_width", bus_width, 8, 1024);
  power("device_width", device_width, 4, bus_width);
  power("burst_length", burst_length, 2, 32);
  power("row_bytes", row_bytes, access_bytes(), 1 << 20);
  require(tck_ps >= 50 && tck_ps <= 100000, "tck_ps", tck_ps, "50 to 100000");
  const auto range = [&](const char* field, int value, int low, int high) {
    require(value >= low && value <= high, field, value,
            std::to_string(low) + " to " + std::to_string(high));
  };
  constexpr int kMost = 1000;
  range("cl", cl, 1, kMost);
  range("cwl", cwl, 1, kMost);
  range("trcd", trcd, 1, kMost);
  range("trp", trp, 1, kMost);
  range("tras", tras, trcd, kMost);
  range("trrd_s", trrd_s, 1, kMost);
  range("trrd_l", trrd_l, trrd_s, kMost);
  range("tfaw", tfaw, trrd_s, kMost);
  range("tccd_s", tccd_s, 1, kMost);
  range("tccd_l", tccd_l, tccd_s, kMost);
  range("twtr_s", twtr_s, 1, kMost);
  range("twtr_l", twtr_l, twtr_s, kMost);
  range("twr", twr, 1, kMost);
  range("trtp", trtp, 1, kMost);
  range("trtrs", trtrs, 0, kMost);
  range("trfc", trfc, 1, 100000);
  // Else a channel that works in vain on refreshes alone.
  range("trefi", trefi, 2 * (trfc + trp + std::max({tras, twr, trtp})), 10000000);
  range("controller_ps", controller_ps, 0, 10000000);
  range("write_buffer", write_buffer, 1, 4096);
  for (const DramRail& rail : rails) {
    const auto currents = {rail.idd0, rail.idd2n, rail.idd3n, rail.idd4r, rail.idd4w, rail.idd5b};
    const auto line = lines.find("rail " + rail.name);
    if (rail.volt <= 0 ||
        std::any_of(currents.begin(), currents.end(), [](double i) { return i < 0; })) {
      throw input_error(
          file, line == lines.end() ? 0 : line->second, "memory " + name + ": rail " + rail.name,
          "a voltage of 0 or a current below", "positive volts, currents of 0 or more");
    }
  }
}

DramAddress dram_address(const DramConfig& config, std::uint64_t byte_address) {
  DramAddress out;
  std::uint64_t rest = byte_address / static_cast<std::uint64_t>(config.access_bytes());
  int group = 0, bank = 0;
  for (auto field = config.mapping.rbegin(); field != config.mapping.rend(); ++field) {
    const auto take = [&](std::int64_t count) {
      const auto value = static_cast<std::int64_t>(rest % static_cast<std::uint64_t>(count));
      rest /= static_cast<std::uint64_t>(count);
      return value;
    };
    switch (*field) {
      case DramField::kRow:
        out.row = take(config.rows);
        break;
      case DramField::kBank:
        bank = static_cast<int>(take(config.banks_per_group));
        break;
      case DramField::kGroup:
        group = static_cast<int>(take(config.bank_groups));
        break;
      case DramField::kColumn:
        take(config.row_bytes / config.access_bytes());
        break;
      case DramField::kChannel:
        out.channel = static_cast<int>(take(config.channels));
        break;
    }
  }
  out.group = group;
  out.bank = group * config.banks_per_group + bank;
  return out;
}

// ------------------------------------------------------------------ state

Dram::Dram(const DramConfig& config) : config_(config) {
  config_.validate();
  Channel channel;
  channel.banks.resize(static_cast<std::size_t>(config_.banks()));
  channel.activates.fill(kLongAgo);
  const auto groups = static_cast<std::size_t>(config_.bank_groups);
  for (auto* list : {&channel.group_activate, &channel.group_read, &channel.group_write,
                     &channel.group_write_end}) {
    list->assign(groups, kLongAgo);
  }
  channel.read = channel.write = channel.write_end = kLongAgo;
  channel.refresh_at = config_.trefi;
  channels_.assign(static_cast<std::size_t>(config_.channels), channel);
}

// Refreshes that fall due by `clock`: wait until the open banks may be closed, close them, refresh.
// While it refreshes a device draws IDD5B: the time counts as open, the refresh adds IDD5B - IDD3N.
void Dram::refresh_until(Channel& channel, std::int64_t clock) {
  while (channel.refresh_at <= clock) {
    std::int64_t close = channel.refresh_at;
    std::int64_t start = channel.refresh_at;
    bool open = false;
    for (const Bank& bank : channel.banks) {
      if (bank.row >= 0) {
        open = true;
        close = std::max(close, bank.precharge_from);
      } else {
        start = std::max(start, bank.activate_from);
      }
    }
    if (open) {
      start = std::max(start, close + config_.trp);
      channel.open_clocks += static_cast<std::uint64_t>(close - channel.open_since);
    }
    channel.open_clocks += static_cast<std::uint64_t>(config_.trfc);
    channel.open_since = -1;
    for (Bank& bank : channel.banks) {
      bank.row = -1;
      bank.activate_from = start + config_.trfc;
    }
    ++counts_.refreshes;
    channel.refresh_at += config_.trefi;
  }
}

std::int64_t Dram::access(std::uint64_t byte_address, bool is_write, std::int64_t arrive) {
  const DramConfig& c = config_;
  const DramAddress at = dram_address(c, byte_address);
  Channel& channel = channels_[static_cast<std::size_t>(at.channel)];
  const auto group = static_cast<std::size_t>(at.group);
  refresh_until(channel, std::max(arrive, channel.column));
  Bank& bank = channel.banks[static_cast<std::size_t>(at.bank)];
  last_ = {};
  if (bank.row != at.row) {
    std::int64_t from = std::max(arrive, bank.activate_from);
    if (bank.row >= 0) {
      ++counts_.conflicts;
      last_.precharge = std::max(arrive, bank.precharge_from);
      from = std::max(from, last_.precharge + c.trp);
    } else {
      ++counts_.closed;
    }
    const std::int64_t newest =
        *std::max_element(channel.activates.begin(), channel.activates.end());
    from = std::max({from, newest + c.trrd_s, channel.group_activate[group] + c.trrd_l,
                     channel.activates[0] + c.tfaw});
    last_.activate = from;
    std::rotate(channel.activates.begin(), channel.activates.begin() + 1, channel.activates.end());
    channel.activates.back() = from;
    channel.group_activate[group] = from;
    bank.row = at.row;
    bank.activate_from = from + c.trc();
    bank.precharge_from = from + c.tras;
    bank.column_from = from + c.trcd;
    if (channel.open_since < 0) channel.open_since = from;
  } else {
    ++counts_.hits;
  }
  std::int64_t column = std::max({arrive, bank.column_from, channel.column});
  const auto& same = is_write ? channel.group_write : channel.group_read;
  column = std::max({column, (is_write ? channel.write : channel.read) + c.column_gap_s(),
                     same[group] + c.column_gap_l()});
  if (is_write) {
    // The bus rests between the read's data and ours.
    column = std::max(column, channel.read + c.cl + c.burst_clocks() + c.trtrs - c.cwl);
  } else {
    column =
        std::max({column, channel.write_end + c.twtr_s, channel.group_write_end[group] + c.twtr_l});
  }
  last_.column = column;
  channel.column = column;
  const std::int64_t end = column + (is_write ? c.cwl : c.cl) + c.burst_clocks();
  if (is_write) {
    ++counts_.writes;
    channel.write = channel.group_write[group] = column;
    channel.write_end = channel.group_write_end[group] = end;
    bank.precharge_from = std::max(bank.precharge_from, end + c.twr);
  } else {
    ++counts_.reads;
    channel.read = channel.group_read[group] = column;
    bank.precharge_from = std::max(bank.precharge_from, column + c.trtp);
  }
  return end;
}

DramCounts Dram::counts(std::int64_t now) {
  for (Channel& channel : channels_) refresh_until(channel, now);
  DramCounts out = counts_;
  for (const Channel& channel : channels_) {
    out.open_clocks += channel.open_clocks;
    if (channel.open_since >= 0 && now > channel.open_since) {
      out.open_clocks += static_cast<std::uint64_t>(now - channel.open_since);
    }
  }
  out.all_clocks = static_cast<std::uint64_t>(now) * channels_.size();
  out.open_clocks = std::min(out.open_clocks, out.all_clocks);
  return out;
}

// ------------------------------------------------------------------ energy

DramEventEnergy dram_event_energy(const DramConfig& c) {
  DramEventEnergy out;
  const double ns = c.tck_ps / 1000.0;  // of a clock; V * mA * ns = pJ
  for (const DramRail& r : c.rails) {
    out.activate += r.volt * ns * (r.idd0 * c.trc() - r.idd3n * c.tras - r.idd2n * c.trp);
    out.read += r.volt * ns * (r.idd4r - r.idd3n) * c.burst_clocks();
    out.write += r.volt * ns * (r.idd4w - r.idd3n) * c.burst_clocks();
    out.refresh += r.volt * ns * (r.idd5b - r.idd3n) * c.trfc;
    out.open_clock += r.volt * ns * r.idd3n;
    out.closed_clock += r.volt * ns * r.idd2n;
  }
  return out;
}

DramEnergy Dram::energy(std::int64_t now) {
  const DramCounts n = counts(now);
  const DramEventEnergy event = dram_event_energy(config_);
  const double devices = config_.devices();
  const auto times = [&](std::uint64_t count, double each) {
    return static_cast<double>(count) * each * devices;
  };
  DramEnergy out;
  out.activate = times(n.activations(), event.activate);
  out.read = times(n.reads, event.read);
  out.write = times(n.writes, event.write);
  out.refresh = times(n.refreshes, event.refresh);
  out.standby_open = times(n.open_clocks, event.open_clock);
  out.standby_closed = times(n.all_clocks - n.open_clocks, event.closed_clock);
  out.io =
      static_cast<double>(n.reads + n.writes) * config_.access_bytes() * 8 * config_.io_pj_per_bit;
  return out;
}

// ------------------------------------------------------------------ bounds

// Let X be the later of the access's arrival and the end of all data before it on the channel.
// Every earlier column was issued by X - latency - burst, every earlier ACT tRCD before such a
// column.
std::int64_t dram_worst_access(const DramConfig& c, bool is_write, bool after_read,
                               bool after_write) {
  const std::int64_t burst = c.burst_clocks();
  const std::int64_t latency = is_write ? c.cwl : c.cl;
  // What an earlier read or write lets happen, after X; nothing waits before it.
  std::int64_t precharge = 0, activate = 0, column = 0;
  const auto before = [&](bool write) {
    const std::int64_t col = -(write ? c.cwl : c.cl) - burst;
    const std::int64_t act = col - c.trcd;
    precharge = std::max({precharge, act + c.tras, write ? c.twr : col + c.trtp});
    activate = std::max(
        {activate, act + c.trc(), act + c.trrd_l, act - std::int64_t{3} * c.trrd_s + c.tfaw});
    if (write == is_write) column = std::max(column, col + c.column_gap_l());
    if (write && !is_write) column = std::max<std::int64_t>(column, c.twtr_l);
    if (!write && is_write) column = std::max(column, col + c.cl + burst + c.trtrs - c.cwl);
  };
  if (after_read) before(false);
  if (after_write) before(true);
  if (after_read || after_write) activate = std::max(activate, precharge + c.trp);
  return std::max(activate + c.trcd, column) + latency + burst;
}

std::int64_t dram_worst_refresh(const DramConfig& c, bool after_write) {
  const std::int64_t open = std::max({c.tras, c.trtp, after_write ? c.twr : 0});
  return open + c.trp + c.trfc;
}

// With c_n the n-th column: c_n - c_1 >= (n-1-k) gap + k tRFC, k the refreshes between them. An
// access makes all refreshes that fell due by the column before it, so k >= (c_{n-1} - c_1) /
// tREFI; put in a few times, each time for one column less.
std::int64_t dram_least_span(const DramConfig& c, std::int64_t accesses, std::int64_t gap) {
  constexpr std::int64_t kTimes = 8;
  const std::int64_t times = std::min(kTimes, accesses - 1);
  std::int64_t span = std::max<std::int64_t>(0, (accesses - 1 - times) * gap);
  for (std::int64_t n = accesses - times + 1; n <= accesses; ++n) {
    const std::int64_t refreshes = std::min(span / c.trefi, n - 1);
    span =
        std::max(span, (n - 1 - refreshes) * gap + refreshes * std::max<std::int64_t>(gap, c.trfc));
  }
  return span;
}

DramBounds dram_bounds(const DramConfig& c, const std::vector<DramBurst>& bursts) {
  struct Load {
    std::int64_t accesses = 0, worst = 0;
    bool read = false, write = false;
  };
  std::vector<Load> loads(static_cast<std::size_t>(c.channels));
  const auto bytes = static_cast<std::uint64_t>(c.access_bytes());
  for (const DramBurst& b : bursts) {
    if (b.bytes == 0) continue;
    for (std::uint64_t a = b.address / bytes; a <= (b.address + b.bytes - 1) / bytes; ++a) {
      Load& load = loads[static_cast<std::size_t>(dram_address(c, a * bytes).channel)];
      load.worst += dram_worst_access(c, b.is_write, load.read, load.write);
      ++load.accesses;
      (b.is_write ? load.write : load.read) = true;
    }
  }
  DramBounds out;
  for (const Load& load : loads) {
    if (load.accesses == 0) continue;
    // Within a direction columns keep their gap; data of both directions cannot overlap either.
    const bool mixed = load.read && load.write;
    const std::int64_t burst = c.burst_clocks();
    const std::int64_t latency = mixed ? std::min(c.cl, c.cwl) : load.read ? c.cl : c.cwl;
    const std::int64_t gap = mixed ? burst : c.column_gap_s();
    out.all_hit = std::max(out.all_hit, latency + dram_least_span(c, load.accesses, gap) + burst);
    // As many refreshes as fit into the time that they make longer, and one that was due.
    const std::int64_t each = dram_worst_refresh(c, load.write);
    std::int64_t total = load.worst;
    for (std::int64_t refreshes = 1;;) {
      total = load.worst + refreshes * each;
      const std::int64_t fit = total / c.trefi + 1;
      if (fit <= refreshes) break;
      refreshes = fit;
    }
    out.all_miss = std::max(out.all_miss, total);
  }
  return out;
}

}  // namespace bitcycle
