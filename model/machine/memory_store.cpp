#include "model/machine/memory_store.hpp"

#include <algorithm>
#include <cstring>

#include "golden/counter_random.hpp"
#include "model/machine/axi.hpp"

namespace bitcycle {

void MemoryStore::fill(std::uint64_t page, Page& to) const {
  for (std::size_t word = 0; word < kPage / 8; ++word) {
    const std::uint64_t value = counter_random(seed_, page, word);
    std::memcpy(&to[word * 8], &value, 8);
  }
}

void MemoryStore::read(std::uint64_t address, void* to, std::size_t count) const {
  auto* out = static_cast<std::uint8_t*>(to);
  while (count > 0) {
    address &= kAxiAddressMask;
    const std::size_t offset = address % kPage;
    const std::size_t take = std::min(count, kPage - offset);
    const auto found = pages_.find(address / kPage);
    if (found != pages_.end()) {
      std::memcpy(out, found->second->data() + offset, take);
    } else {
      for (std::size_t i = 0; i < take;) {  // only the words that are asked for
        const std::size_t word = (offset + i) / 8;
        const std::uint64_t value = counter_random(seed_, address / kPage, word);
        const std::size_t skip = (offset + i) % 8;
        const std::size_t bytes = std::min<std::size_t>(8 - skip, take - i);
        std::memcpy(out + i, reinterpret_cast<const std::uint8_t*>(&value) + skip, bytes);
        i += bytes;
      }
    }
    out += take;
    address += take;
    count -= take;
  }
}

void MemoryStore::write(std::uint64_t address, const void* from, std::size_t count) {
  const auto* in = static_cast<const std::uint8_t*>(from);
  while (count > 0) {
    address &= kAxiAddressMask;
    const std::size_t offset = address % kPage;
    const std::size_t take = std::min(count, kPage - offset);
    auto& page = pages_[address / kPage];
    if (!page) {
      page = std::make_unique<Page>();
      fill(address / kPage, *page);
    }
    std::memcpy(page->data() + offset, in, take);
    in += take;
    address += take;
    count -= take;
  }
}

}  // namespace bitcycle
