// Bits between workers, from the definition of a ring and of gossip.
#include <catch2/catch.hpp>

#include "error_text.hpp"
#include "workloads/exchange.hpp"

namespace {

using namespace bitcycle;

ExchangeSpec spec_of(std::uint64_t workers, ExchangeKind kind) {
  ExchangeSpec s;
  s.workers = workers;
  s.kind = kind;
  s.link_gbps = 10.0;
  return s;
}

}  // namespace

TEST_CASE("a ring sends 2(P-1)/P of the parameters", "[exchange]") {
  for (const std::uint64_t p : {2U, 3U, 4U, 8U, 64U}) {
    // Reduce-scatter and all-gather: P-1 steps each, one chunk of 1/P at a time.
    const std::uint64_t parameters = 64 * 3 * 1000;
    std::uint64_t sent = 0;
    for (std::uint64_t step = 0; step < 2 * (p - 1); ++step) sent += parameters / p * 8;
    CHECK(exchange_bits(spec_of(p, ExchangeKind::kAllReduce), parameters, 8) == sent);
  }
  CHECK(exchange_bits(spec_of(1, ExchangeKind::kAllReduce), 1000, 8) == 0);
  CHECK(exchange_bits(spec_of(3, ExchangeKind::kAllReduce), 1, 1) == 2);  // 4/3, rounded up
}

TEST_CASE("gossip sends all parameters to each neighbour", "[exchange]") {
  ExchangeSpec s = spec_of(8, ExchangeKind::kGossip);
  s.neighbours = 3;
  CHECK(exchange_bits(s, 1000, 4) == 12000);
  CHECK(exchange_seconds(s, 10'000'000'000) == 1.0);
  CHECK(exchange_seconds(s, 0) == 0.0);
  s.neighbours = 8;
  CHECK(error_text([&] { s.validate(); }).find("--neighbours") == 0);
}

TEST_CASE("exchange refuses what cannot be", "[exchange]") {
  ExchangeSpec s = spec_of(8, ExchangeKind::kAllReduce);
  CHECK_NOTHROW(s.validate());
  s.bits = 65;
  CHECK(error_text([&] { s.validate(); }).find("--exchange-bits") == 0);
  s.bits = 8;
  s.link_gbps = 0.0;
  CHECK(error_text([&] { s.validate(); }).find("--link-gbps") == 0);
  CHECK(error_text([&] { exchange_bits(s, ~std::uint64_t{0}, 2); }).find("below 2^64") !=
        std::string::npos);
  CHECK(error_text([] { parse_exchange("gosip"); }).find("did you mean 'gossip'?") !=
        std::string::npos);
  CHECK(parse_exchange(to_string(ExchangeKind::kGossip)) == ExchangeKind::kGossip);
}
