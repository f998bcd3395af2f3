// What data-parallel and decentralised training sends between workers: bits and time, beside the
// array's cycles and never mixed into them.
#pragma once

#include <cstdint>
#include <string>

#include "golden/checked.hpp"

namespace bitcycle {

enum class ExchangeKind {
  kAllReduce,  ///< ring: each worker sends 2(P-1)/P of the parameters
  kGossip,     ///< each worker sends all parameters to each of its neighbours
};

struct ExchangeSpec {
  std::uint64_t workers = 0;  ///< P; 0 = no exchange, 1 = nothing to send
  ExchangeKind kind = ExchangeKind::kAllReduce;
  std::uint64_t neighbours = 2;  ///< kGossip: 1 to P-1
  int bits = 32;                 ///< per parameter, 1 to 64
  double link_gbps = 0.0;        ///< 10^9 bits per second that a worker sends; above 0

  /// Throws InputError for values out of range.
  void validate() const;
};

/// Bits that one worker sends in one iteration, rounded up; it receives as many. Throws InputError
/// if they exceed 64 bits.
std::uint64_t exchange_bits(const ExchangeSpec& spec, std::uint64_t parameters, int bits);

/// Seconds for so many bits, at the link's bandwidth; no latency.
double exchange_seconds(const ExchangeSpec& spec, u128 bits);

std::string to_string(ExchangeKind kind);  ///< "allreduce", "gossip"
ExchangeKind parse_exchange(const std::string& text);

}  // namespace bitcycle
