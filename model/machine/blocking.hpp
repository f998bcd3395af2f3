// Blocks of a GEMM: what of each tensor a block needs in the operand buffers.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "model/machine/gemm_problem.hpp"
#include "model/machine/instruction.hpp"

namespace bitcycle {

/// Sizes `n` from `start` of an index space.
struct Range3 {
  Index3 start{0, 0, 0};
  Index3 n{1, 1, 1};
};

/// The range cut to `extent`; sizes may become 0 or less.
Range3 clipped(const Range3& range, const Index3& extent);
inline bool is_empty(const Range3& r) { return r.n[0] <= 0 || r.n[1] <= 0 || r.n[2] <= 0; }

/// Blocks of size `block` along each digit, the last ones shorter.
struct BlockGrid {
  Index3 extent{1, 1, 1}, block{1, 1, 1};

  std::int64_t count(std::size_t digit) const {
    return (extent[digit] + block[digit] - 1) / block[digit];
  }
  std::int64_t count() const { return count(0) * count(1) * count(2); }
  /// Block number `index` in the order of the digits.
  Range3 at(std::int64_t index) const;
};

/// Positions first, first + step, ... (`count` of them) of one tensor coordinate. `empty`: all that
/// is asked for is padding; then count is 1, so that a fetch has something to do.
struct CoordinateSpan {
  std::int64_t first = 0, count = 1, step = 1;
  bool empty = false;
};

/// The lines of a tensor that a block needs, as they lie in the operand buffer: img, granule, y,
/// each a run of beats.
struct FetchBox {
  CoordinateSpan img, y, granule, x;
  std::int64_t beat0 = 0, line_beats = 1;  ///< of a line of the tensor

  std::uint64_t beats() const {
    return static_cast<std::uint64_t>(img.count * y.count * granule.count * line_beats);
  }
  /// Words from line to line in the buffer.
  std::int64_t line(const TensorLayout& t) const {
    return line_beats * static_cast<std::int64_t>(t.words_per_beat());
  }
};

enum class TensorAxis : std::uint8_t { kImg, kY, kGranule, kX };

/// What `parts` need of one coordinate; of x a run without steps.
CoordinateSpan coordinate_span(const GemmProblem& problem, const std::vector<GemmPart>& parts,
                               bool first, TensorAxis axis, const Range3& own, const Range3& k);
/// Sets beat0 and line_beats from box.x.
void set_line(FetchBox& box, const TensorLayout& tensor);

/// What `parts` need of the first (second) operand's tensor for a block.
FetchBox fetch_box(const GemmProblem& problem, const std::vector<GemmPart>& parts, bool first,
                   const Range3& own, const Range3& k);

/// Over all blocks of the two spaces: the sum and the greatest of FetchBox::beats().
struct BoxTotals {
  std::uint64_t sum = 0, most = 0;
};
/// Remembers what box_totals found per coordinate, for a search over many block sizes of the same
/// parts.
class BoxCache {
 public:
  using Key =
      std::array<std::int64_t, 7>;  ///< operand and coordinate, blocks of the digits that move it
  BoxTotals* find(const Key& key);
  void add(const Key& key, const BoxTotals& totals) { totals_.emplace(key, totals); }

  struct Hash {
    std::size_t operator()(const Key& key) const {
      std::uint64_t h = 0xCBF29CE484222325ULL;
      for (const std::int64_t part : key) {
        h = (h ^ static_cast<std::uint64_t>(part)) * 0x9E3779B97F4A7C15ULL;
        h ^= h >> 29U;
      }
      return h;
    }
  };

 private:
  std::unordered_map<Key, BoxTotals, Hash> totals_;
};

BoxTotals box_totals(const GemmProblem& problem, const std::vector<GemmPart>& parts, bool first,
                     const Index3& own_block, const Index3& k_block, BoxCache* cache = nullptr);

/// Planes of fewer beats are joined into one line where they touch.
constexpr std::int64_t kShortPlane = 16;

/// Lines of DRAM that fill `box`, neighbours merged into longer ones; from `buffer_beat` on in the
/// order img, granule, y (`lines_of_granules`: img, y, granule).
LineWalk box_lines(const TensorLayout& tensor, const FetchBox& box, std::uint32_t buffer_beat,
                   bool lines_of_granules = false);

/// The address rule for a part's range inside a fetched box.
OperandGather gather_of(const GemmProblem& problem, const GemmPart& part, bool first,
                        const FetchBox& box, std::uint32_t buffer_beat, const Range3& own,
                        const Range3& k);

}  // namespace bitcycle
