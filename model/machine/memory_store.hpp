// Contents of the memory behind AXI: 40-bit addresses, pages that appear when they are written.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>

namespace bitcycle {

/// What was never written reads as a hash of seed and address: the same in every run, and different
/// from zero, so that a wrong address does not go unseen. Addresses wrap at 2^40.
class MemoryStore {
 public:
  explicit MemoryStore(std::uint64_t seed = 0) : seed_(seed) {}

  void read(std::uint64_t address, void* to, std::size_t count) const;
  void write(std::uint64_t address, const void* from, std::size_t count);
  /// Pages that hold written data, of kPage bytes each.
  std::size_t pages() const { return pages_.size(); }

  static constexpr std::size_t kPage = 4096;

 private:
  using Page = std::array<std::uint8_t, kPage>;
  void fill(std::uint64_t page, Page& to) const;

  std::uint64_t seed_;
  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
};

}  // namespace bitcycle
