// What every implementation of the array has in common: verilated RTL, plain C++ core, SystemC.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace bitcycle {

/// Descriptor fields as they stand on the RTL's ports (legal or not).
struct RawDescriptor {
  std::uint32_t m = 0, n = 0, k = 0;
  std::uint8_t pa = 0, pw = 0;
  bool a_signed = false, w_signed = false;
};

/// Inputs of one clock edge.
struct ArrayStep {
  bool desc_valid = false;
  RawDescriptor desc;
  bool a_valid = false, w_valid = false;
  /// A beat: BA (BW) words of KL bits, packed little-endian as on the RTL's port (word i at bit
  /// i*KL), in ceil(BA*KL/64) words. Must stay alive during the step; read only when valid.
  const std::uint64_t* a_data = nullptr;
  const std::uint64_t* w_data = nullptr;
  bool res_ready = false;
};

/// Why a descriptor was refused: as bc_pkg::cause_e.
enum class Cause : std::uint8_t { kNone = 0, kDimZero = 1, kWidthZero = 2, kWidthOver = 3 };

/// Event strobes of the current cycle (the RTL's ev_ ports).
struct EventPulses {
  bool digit = false, idle = false, freeze = false, add = false, flush = false;
  std::uint8_t rows = 0, cols = 0;
  std::uint8_t flush_rows = 0, flush_ones = 0, flush_cols = 0;
  std::uint16_t a_words = 0, w_words = 0;
};

/// Output ports after the edge; all are functions of the registers alone.
struct ArrayPorts {
  bool desc_ready = false, err = false;
  std::uint8_t cause = 0;
  bool a_ready = false, w_ready = false;
  bool res_valid = false, res_last = false;
  bool overflow = false;
  EventPulses ev;
  /// Packed little-endian as on the RTL's ports, meaningful while res_valid: Q mask bits, Q results
  /// of ACC_W bits, the sums of A of the beat's rows and of W of its columns.
  const void* res_mask = nullptr;
  const void* res_data = nullptr;
  const void* res_sum_a = nullptr;
  const void* res_sum_w = nullptr;
};

/// One architectural register (or register file) seen from outside.
struct RegisterView {
  std::string name;       ///< as in the RTL: "bc_array.g_a[0].u_chunk.chunk_q"
  void* data = nullptr;   ///< `count` elements of `bytes` bytes, little-endian
  std::size_t count = 1;  ///< elements of an unpacked array, else 1
  std::size_t bytes = 1;  ///< storage of an element: 1, 2, 4, 8 or a multiple of 4
  std::size_t bits = 1;   ///< width of an element
};

/// Exactly one clock edge per step(). Not thread-safe.
class Array {
 public:
  Array() = default;
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  virtual ~Array() = default;

  /// Asserts reset for a cycle. Control registers take their reset value, data registers keep
  /// what they hold.
  virtual void reset() = 0;
  /// One rising clock edge.
  virtual void step(const ArrayStep& in) = 0;
  /// Output ports after the last step() or reset().
  virtual const ArrayPorts& ports() const = 0;
  /// Every architectural register; the same names and widths in every implementation.
  virtual const std::vector<RegisterView>& registers() = 0;
};

/// `width` (1..64) bits at bit offset `bit` of little-endian storage.
inline std::uint64_t get_bits(const void* data, std::size_t bit, std::size_t width) {
  const auto* bytes = static_cast<const std::uint8_t*>(data);
  std::uint64_t value = 0;
  std::size_t got = 0;
  while (got < width) {
    const std::size_t offset = bit & 7U;
    const std::size_t take = width - got < 8 - offset ? width - got : 8 - offset;
    const std::uint64_t piece = (bytes[bit >> 3U] >> offset) & ((1U << take) - 1U);
    value |= piece << got;
    got += take;
    bit += take;
  }
  return value;
}

/// Writes the low `width` (1..64) bits of `value` at bit offset `bit`.
inline void put_bits(void* data, std::size_t bit, std::size_t width, std::uint64_t value) {
  auto* bytes = static_cast<std::uint8_t*>(data);
  while (width > 0) {
    const std::size_t offset = bit & 7U;
    const std::size_t take = width < 8 - offset ? width : 8 - offset;
    const auto mask = static_cast<std::uint8_t>(((1U << take) - 1U) << offset);
    bytes[bit >> 3U] = static_cast<std::uint8_t>(
        (bytes[bit >> 3U] & ~mask) | (static_cast<std::uint8_t>(value << offset) & mask));
    value >>= take;
    width -= take;
    bit += take;
  }
}

}  // namespace bitcycle
