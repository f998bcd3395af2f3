#include <catch2/catch.hpp>

#include "golden/bitplanes.hpp"
#include "golden/operands.hpp"
#include "tests/golden/reference.hpp"

namespace bitcycle {
namespace {

using testing::input_error_of;

CodeMatrix random_codes(std::uint64_t rows, std::uint64_t k, Precision p, std::uint64_t seed) {
  return make_operands(OperandPattern::kUniform, rows, 1, k, p, p, seed).a;
}

// Number of bits of `planes` that differ from the definition, lanes beyond K included.
std::int64_t wrong_bits(const BitPlanes& planes, const CodeMatrix& codes, Precision p) {
  std::int64_t wrong = 0;
  const auto k = static_cast<std::uint64_t>(codes.cols());
  for (std::uint64_t row = 0; row < planes.rows; ++row) {
    for (std::uint64_t chunk = 0; chunk < planes.chunks; ++chunk) {
      for (int plane = 0; plane < p.bits; ++plane) {
        const std::size_t word = (row * planes.chunks + chunk) * p.bits + plane;
        for (std::uint64_t lane = 0; lane < planes.parts * 64; ++lane) {
          const std::uint64_t at = chunk * planes.kl + lane;
          const bool holds_code = lane < static_cast<std::uint64_t>(planes.kl) && at < k;
          const int expected =
              holds_code ? testing::bit(codes(row, at), p.bits, p.bits - 1 - plane) : 0;
          const std::uint64_t part = planes.data[word * planes.parts + lane / 64];
          wrong += static_cast<int>((part >> (lane % 64)) & 1U) != expected;
        }
      }
    }
  }
  return wrong;
}

TEST_CASE("bit planes of a small matrix by hand", "[golden][bitplanes]") {
  CodeMatrix codes(2, 5);
  codes << 1, 2, 3, -4, -1, 0, -2, 1, 3, 2;
  const BitPlanes planes = pack_bit_planes(codes, {3, true}, 4);
  CHECK(planes.rows == 2);
  CHECK(planes.k == 5);
  CHECK(planes.chunks == 2);
  CHECK(planes.parts == 1);
  CHECK(planes.address(1, 0, 2) == 8);
  // Row 0: 001 010 011 100 | 111; row 1: 000 110 001 011 | 010. Lane 0 is the lowest bit.
  const std::vector<std::uint64_t> expected = {0b1000, 0b0110, 0b0101, 1, 1, 1,
                                               0b0010, 0b1010, 0b1100, 0, 1, 0};
  CHECK(planes.data == expected);
  CHECK(*planes.word(1, 0, 1) == 0b1010);
  CHECK(unpack_bit_planes(planes, true) == codes);
}

TEST_CASE("planes follow the definition for every width and lane count", "[golden][bitplanes]") {
  for (const int kl : {1, 2, 4, 7, 8, 9, 16, 63, 64, 65, 100, 128, 200, 255, 256}) {
    for (int bits = 1; bits <= 16; ++bits) {
      for (const bool is_signed : {false, true}) {
        for (const std::uint64_t k : {1, kl, kl + 1, 2 * kl + 5}) {
          const Precision p{bits, is_signed};
          const CodeMatrix codes =
              random_codes(3, k, p, static_cast<std::uint64_t>(kl * 97 + bits));
          const BitPlanes planes = pack_bit_planes(codes, p, kl);
          CAPTURE(kl, bits, is_signed, k);
          REQUIRE(planes.data.size() == 3 * ((k + kl - 1) / kl) * bits * ((kl + 63) / 64));
          REQUIRE(wrong_bits(planes, codes, p) == 0);
          REQUIRE(unpack_bit_planes(planes, is_signed) == codes);
        }
      }
    }
  }
}

TEST_CASE("every lane count keeps a row round trip", "[golden][bitplanes]") {
  const Precision p{11, true};
  const CodeMatrix codes = random_codes(2, 300, p, 5);
  for (int kl = 1; kl <= 256; ++kl) {
    CAPTURE(kl);
    REQUIRE(unpack_bit_planes(pack_bit_planes(codes, p, kl), true) == codes);
  }
}

TEST_CASE("unpacking ignores lanes beyond K", "[golden][bitplanes]") {
  const CodeMatrix codes = random_codes(2, 70, {5, false}, 3);
  BitPlanes planes = pack_bit_planes(codes, {5, false}, 64);
  for (std::uint64_t row = 0; row < 2; ++row) {
    for (int plane = 0; plane < 5; ++plane) {
      planes.data[planes.address(row, 1, plane)] |= ~0ULL << 6;
    }
  }
  CHECK(unpack_bit_planes(planes, false) == codes);
}

TEST_CASE("packing refuses bad arguments", "[golden][bitplanes]") {
  const CodeMatrix one = CodeMatrix::Constant(1, 1, 1);
  CHECK(input_error_of([&] {
          pack_bit_planes(one, {8, false}, 0);
        }) == "kl: found 0, allowed: 1 to 256");
  CHECK(input_error_of([&] {
          pack_bit_planes(one, {8, false}, 257);
        }) == "kl: found 257, allowed: 1 to 256");
  CHECK(input_error_of([&] {
          pack_bit_planes(one, {1, true}, 8);
        }) == "codes[0][0]: found 1, allowed: -1 to 0 (1 bits, signed)");
  CHECK(input_error_of([&] {
          pack_bit_planes(one, {17, true}, 8);
        }) == "codes bits: found 17, allowed: 1 to 16");
  CHECK(input_error_of([] {
          pack_bit_planes(CodeMatrix(0, 0), {8, false}, 8);
        }) == "codes shape: found 0 x 0, allowed: at least 1 x 1");
}

TEST_CASE("unpacking refuses contradictory fields", "[golden][bitplanes]") {
  const BitPlanes good = pack_bit_planes(CodeMatrix::Zero(2, 70), {5, false}, 64);
  const auto error_with = [&](auto change) {
    BitPlanes bad = good;
    change(bad);
    return input_error_of([&] { unpack_bit_planes(bad, false); });
  };
  CHECK(error_with([](BitPlanes&) {}).empty());
  CHECK(error_with([](BitPlanes& b) { b.kl = 300; }) == "kl: found 300, allowed: 1 to 256");
  CHECK(error_with([](BitPlanes& b) { b.bits = 0; }) ==
        "bit planes bits: found 0, allowed: 1 to 16");
  CHECK(error_with([](BitPlanes& b) { b.rows = 0; }) ==
        "bit planes: found 0 rows of 70, allowed: at least 1 row of 1");
  CHECK(error_with([](BitPlanes& b) { b.k = 0; }) ==
        "bit planes: found 2 rows of 0, allowed: at least 1 row of 1");
  CHECK(error_with([](BitPlanes& b) { b.chunks = 3; }) == "bit planes: found 3 chunks, allowed: 2");
  CHECK(error_with([](BitPlanes& b) { b.parts = 2; }) == "bit planes: found 2 parts, allowed: 1");
  CHECK(error_with([](BitPlanes& b) { b.data.pop_back(); }) ==
        "bit planes: found 19 64-bit values, allowed: 20");
  CHECK(error_with([](BitPlanes& b) { b.rows = ~0ULL; }) ==
        "bit-plane words: found 18446744073709551615 * 2, allowed: a result below 2^64");
}

}  // namespace
}  // namespace bitcycle
