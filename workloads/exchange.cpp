#include "workloads/exchange.hpp"

#include <cmath>

namespace bitcycle {

void ExchangeSpec::validate() const {
  const auto check = [](bool fine, const char* field, const std::string& found,
                        const std::string& allowed) {
    if (!fine) throw input_error("", 0, field, found, allowed);
  };
  check(workers <= 1'000'000, "--workers", std::to_string(workers), "1 to 1000000");
  if (workers == 0) return;
  check(bits >= 1 && bits <= 64, "--exchange-bits", std::to_string(bits), "1 to 64");
  check(std::isfinite(link_gbps) && link_gbps > 0.0, "--link-gbps", std::to_string(link_gbps),
        "a bandwidth above 0");
  if (kind == ExchangeKind::kGossip && workers > 1) {
    check(neighbours >= 1 && neighbours < workers, "--neighbours", std::to_string(neighbours),
          "1 to " + std::to_string(workers - 1) + ", the other workers");
  }
}

std::uint64_t exchange_bits(const ExchangeSpec& spec, std::uint64_t parameters, int bits) {
  if (spec.workers <= 1) return 0;
  const char* what = "bits of an exchange";
  const std::uint64_t all = checked_mul(parameters, static_cast<std::uint64_t>(bits), what);
  if (spec.kind == ExchangeKind::kGossip) return checked_mul(all, spec.neighbours, what);
  const u128 sent = u128{all} * 2 * (spec.workers - 1);
  const u128 rounded = (sent + spec.workers - 1) / spec.workers;
  if (rounded > ~std::uint64_t{0})
    throw input_error("", 0, what, to_decimal(rounded), "below 2^64");
  return static_cast<std::uint64_t>(rounded);
}

double exchange_seconds(const ExchangeSpec& spec, u128 bits) {
  if (bits == 0) return 0.0;
  return static_cast<double>(bits) / (spec.link_gbps * 1e9);
}

std::string to_string(ExchangeKind kind) {
  return kind == ExchangeKind::kAllReduce ? "allreduce" : "gossip";
}

ExchangeKind parse_exchange(const std::string& text) {
  if (text == "allreduce") return ExchangeKind::kAllReduce;
  if (text == "gossip") return ExchangeKind::kGossip;
  throw input_error("", 0, "--exchange",
                    "'" + text + "'" + suggestion(text, {"allreduce", "gossip"}),
                    "allreduce, gossip");
}

}  // namespace bitcycle
