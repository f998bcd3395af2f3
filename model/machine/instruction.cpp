#include "model/machine/instruction.hpp"

#include <fmt/format.h>

#include <type_traits>

#include "golden/error.hpp"

namespace bitcycle {
namespace {

using layout::Field;
using layout::MachineCause;

constexpr int kWordBits = 64;

std::uint64_t mask_of(int width) {
  return width == kWordBits ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
}

// Puts one field after the other into words.
class Packer {
 public:
  explicit Packer(std::vector<std::uint64_t>& words) : words_(words) {}
  int offset = 0;  ///< bits added to every field: a side's place

  template <typename T>
  void operator()(const char* name, Field f, const T& value) {
    put(name, f, static_cast<std::int64_t>(value), std::is_unsigned_v<T>);
  }

  /// A stride's wrap constant: any value, taken modulo the field.
  void wrapped(const char* /*name*/, Field f, std::int64_t value) {
    place(f, static_cast<std::uint64_t>(value));
  }

 private:
  void put(const char* name, Field f, std::int64_t value, bool any_sign) {
    const bool whole = f.width == kWordBits;
    const std::int64_t low = f.is_signed && !whole ? -(std::int64_t{1} << (f.width - 1)) : 0;
    const std::int64_t high = whole ? 0 : static_cast<std::int64_t>(mask_of(f.width)) + low;
    if (!whole && (value < low || value > high)) {
      throw input_error(
          "", 0, name,
          any_sign ? std::to_string(static_cast<std::uint64_t>(value)) : std::to_string(value),
          std::to_string(low) + " to " + std::to_string(high));
    }
    place(f, static_cast<std::uint64_t>(value));
  }
  void place(Field f, std::uint64_t value) {
    const int bit = f.bit + offset;
    words_[static_cast<std::size_t>(bit / kWordBits)] |= (value & mask_of(f.width))
                                                         << (bit % kWordBits);
  }
  std::vector<std::uint64_t>& words_;
};

class Unpacker {
 public:
  explicit Unpacker(const std::uint64_t* words) : words_(words) {}
  int offset = 0;

  template <typename T>
  void operator()(const char* /*name*/, Field f, T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      value = get(f) != 0;
    } else {
      value = static_cast<T>(get(f));
    }
  }
  void wrapped(const char* /*name*/, Field f, std::int64_t& value) { value = get(f); }

 private:
  std::int64_t get(Field f) const {
    const int bit = f.bit + offset;
    const std::uint64_t raw = (words_[bit / kWordBits] >> (bit % kWordBits)) & mask_of(f.width);
    const bool negative = f.is_signed && ((raw >> (f.width - 1)) & 1U) != 0;
    return static_cast<std::int64_t>(negative ? raw | ~mask_of(f.width) : raw);
  }
  const std::uint64_t* words_;
};

template <typename I, typename V>
void fetch_fields(I& i, V& v) {
  v("target", layout::kFetchTarget, i.target);
  v("wait_e2f", layout::kFetchWaitE2f, i.wait_e2f);
  v("wait_r2f", layout::kFetchWaitR2f, i.wait_r2f);
  v("post_f2e", layout::kFetchPostF2e, i.post_f2e);
}

template <typename I, typename V>
void store_fields(I& i, V& v) {
  v("wait_e2r", layout::kStoreWaitE2r, i.wait_e2r);
  v("post_r2e", layout::kStorePostR2e, i.post_r2e);
  v("post_r2f", layout::kStorePostR2f, i.post_r2f);
}

// Fetch and store carry their lines in the same bits.
template <typename L, typename V>
void line_fields(L& l, V& v) {
  static_assert(layout::kFetchDram.bit == layout::kStoreDram.bit);
  static_assert(layout::kFetchBuffer.bit == layout::kStoreBuffer.bit);
  static_assert(layout::kFetchStride2.bit == layout::kStoreStride2.bit);
  v("dram address", layout::kFetchDram, l.dram);
  v("line_beats", layout::kFetchLineBeats, l.line_beats);
  v("n0", layout::kFetchN0, l.n0);
  v("n1", layout::kFetchN1, l.n1);
  v("n2", layout::kFetchN2, l.n2);
  v("buffer beat", layout::kFetchBuffer, l.buffer);
  v("stride0", layout::kFetchStride0, l.stride0);
  v("stride1", layout::kFetchStride1, l.stride1);
  v("stride2", layout::kFetchStride2, l.stride2);
}

template <typename I, typename V>
void exec_fields(I& i, V& v) {
  v("a_signed", layout::kExecASigned, i.pa.is_signed);
  v("w_signed", layout::kExecWSigned, i.pw.is_signed);
  v("pa", layout::kExecPa, i.pa.bits);
  v("pw", layout::kExecPw, i.pw.bits);
  v("ps_read", layout::kExecPsRead, i.ps_read);
  v("ps_write", layout::kExecPsWrite, i.ps_write);
  v("wait_f2e", layout::kExecWaitF2e, i.wait_f2e);
  v("wait_r2e", layout::kExecWaitR2e, i.wait_r2e);
  v("post_e2f", layout::kExecPostE2f, i.post_e2f);
  v("post_e2r", layout::kExecPostE2r, i.post_e2r);
  v("m", layout::kExecM, i.m);
  v("n", layout::kExecN, i.n);
  v("k", layout::kExecK, i.k);
  v("ps_base", layout::kExecPsBase, i.ps_base);
  auto& o = i.out;
  v("raw", layout::kExecRaw, o.raw);
  v("raw32", layout::kExecRaw32, o.raw32);
  v("column", layout::kExecColumn, o.column);
  v("sums", layout::kExecSums, o.sums);
  v("out_bits", layout::kExecOutBits, o.q.out_bits);
  v("out_signed", layout::kExecOutSigned, o.q.out_signed);
  v("rounding", layout::kExecRounding, o.q.rounding);
  v("ob_base", layout::kExecObBase, o.ob_base);
  v("or0", layout::kExecOr0, o.or0);
  v("or1", layout::kExecOr1, o.or1);
  v("o0", layout::kExecO0, o.o0);
  v("oc", layout::kExecOc, o.oc);
  v("sum_a", layout::kExecSumA, o.sum_a);
  v("sum_w", layout::kExecSumW, o.sum_w);
  v("mult", layout::kExecMult, o.q.mult);
  v("shift", layout::kExecShift, o.q.shift);
  v("za", layout::kExecZa, o.q.za);
  v("zw", layout::kExecZw, o.q.zw);
  v("kzz", layout::kExecKzz, o.q.kzz);
  v("zout", layout::kExecZout, o.q.zout);
  v("seed", layout::kExecSeed, o.q.seed);
  v("element", layout::kExecElement, o.element);
  v("element_row", layout::kExecElementRow, o.element_row);
}

// What is stored of a side as it stands; the strides of higher digits are stored as wrap constants.
template <typename S, typename V>
void side_fields(S& s, V& v) {
  v("base", layout::kSideBase, s.base);
  v("mode", layout::kSideTransposed, s.transposed);
  v("r0", layout::kSideR0, s.r0);
  v("r1", layout::kSideR1, s.r1);
  v("a0", layout::kSideA0, s.a0);
  v("h", layout::kSideH, s.h);
  v("w", layout::kSideWd, s.w);
  v("sy", layout::kSideSy, s.sy);
  v("sx", layout::kSideSx, s.sx);
  v("y0", layout::kSideY0, s.y0);
  v("x0", layout::kSideX0, s.x0);
  v("kb0", layout::kSideKb0, s.kb0);
  v("cg", layout::kSideCg, s.cg);
  v("br", layout::kSideBr, s.br);
  v("lo", layout::kSideLo, s.lo);
  v("hi", layout::kSideHi, s.hi);
  v("sc", layout::kSideSc, s.sc);
  v("dy", layout::kSideDy, s.dy);
  v("dx", layout::kSideDx, s.dx);
}

int side_offset(int word) { return word * kWordBits; }

void pack_side(const OperandGather& s, int word, Packer& p) {
  p.offset = side_offset(word);
  side_fields(s, p);
  p.wrapped("a1w", layout::kSideA1w, s.a1 - std::int64_t{s.r0} * s.a0);
  p.wrapped("a2w", layout::kSideA2w, s.a2 - std::int64_t{s.r1} * s.a1);
  p.wrapped("b1w", layout::kSideB1w, s.b1 - std::int64_t{s.kb0} * s.b0);
  p.wrapped("b0w", layout::kSideB0w, s.b0 - std::int64_t{s.cg} * s.sc);
  p.wrapped("xw", layout::kSideXw, std::int64_t{s.r0} * s.sx);
  p.wrapped("yw", layout::kSideYw, std::int64_t{s.r1} * s.sy);
  p.wrapped("dxw", layout::kSideDxw, std::int64_t{s.kb0} * s.dx);
  p.offset = 0;
}

std::int64_t wrap32(std::int64_t value) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(value));
}

OperandGather unpack_side(int word, Unpacker& u) {
  OperandGather s;
  u.offset = side_offset(word);
  side_fields(s, u);
  std::int64_t a1w = 0, a2w = 0, b1w = 0, b0w = 0;
  u.wrapped("a1w", layout::kSideA1w, a1w);
  u.wrapped("a2w", layout::kSideA2w, a2w);
  u.wrapped("b1w", layout::kSideB1w, b1w);
  u.wrapped("b0w", layout::kSideB0w, b0w);
  u.offset = 0;
  s.a1 = wrap32(a1w + std::int64_t{s.r0} * s.a0);
  s.a2 = wrap32(a2w + std::int64_t{s.r1} * s.a1);
  s.b0 = wrap32(b0w + std::int64_t{s.cg} * s.sc);
  s.b1 = wrap32(b1w + std::int64_t{s.kb0} * s.b0);
  return s;
}

// Strides are 32-bit; the stored wrap constants would hide that one is not.
void check_stride(const char* name, std::int64_t value) {
  if (value != wrap32(value)) {
    throw input_error("", 0, name, std::to_string(value), "a signed 32-bit stride");
  }
}

void check_strides(const ExecInstruction& i) {
  for (const OperandGather* s : {&i.a, &i.w}) {
    check_stride("a1", s->a1);
    check_stride("a2", s->a2);
    check_stride("b0", s->b0);
    check_stride("b1", s->b1);
  }
  check_stride("o1", i.out.o1);
  check_stride("o2", i.out.o2);
}

std::vector<std::uint64_t> start(int op, int words) {
  std::vector<std::uint64_t> out(static_cast<std::size_t>(words), 0);
  out[0] = static_cast<std::uint64_t>(op);
  return out;
}

std::vector<std::uint64_t> encode_one(const FetchInstruction& i) {
  auto words = start(layout::kFetchOpcode, layout::kFetchWords);
  Packer p(words);
  fetch_fields(i, p);
  line_fields(i.lines, p);
  return words;
}

std::vector<std::uint64_t> encode_one(const StoreInstruction& i) {
  auto words = start(layout::kStoreOpcode, layout::kStoreWords);
  Packer p(words);
  store_fields(i, p);
  line_fields(i.lines, p);
  return words;
}

std::vector<std::uint64_t> encode_one(const ExecInstruction& i) {
  check_strides(i);
  auto words = start(layout::kExecOpcode, layout::kExecWords);
  Packer p(words);
  exec_fields(i, p);
  p.wrapped("o1w", layout::kExecO1w, i.out.o1 - std::int64_t{i.out.or0} * i.out.o0);
  p.wrapped("o2w", layout::kExecO2w, i.out.o2 - std::int64_t{i.out.or1} * i.out.o1);
  pack_side(i.a, layout::kExecAWord, p);
  pack_side(i.w, layout::kExecWWord, p);
  return words;
}

Instruction decode_words(const std::uint64_t* words) {
  Unpacker u(words);
  const int op = static_cast<int>(words[0] & 3U);
  if (op == layout::kFetchOpcode) {
    FetchInstruction i;
    fetch_fields(i, u);
    line_fields(i.lines, u);
    return i;
  }
  if (op == layout::kStoreOpcode) {
    StoreInstruction i;
    store_fields(i, u);
    line_fields(i.lines, u);
    return i;
  }
  ExecInstruction i;
  exec_fields(i, u);
  std::int64_t o1w = 0, o2w = 0;
  u.wrapped("o1w", layout::kExecO1w, o1w);
  u.wrapped("o2w", layout::kExecO2w, o2w);
  i.out.o1 = wrap32(o1w + std::int64_t{i.out.or0} * i.out.o0);
  i.out.o2 = wrap32(o2w + std::int64_t{i.out.or1} * i.out.o1);
  i.a = unpack_side(layout::kExecAWord, u);
  i.w = unpack_side(layout::kExecWWord, u);
  return i;
}

MachineCause cause_of_lines(const LineWalk& l, const MachineConfig& config) {
  if (l.line_beats == 0 || l.n0 == 0 || l.n1 == 0 || l.n2 == 0) return MachineCause::kCountZero;
  if (l.dram % static_cast<std::uint64_t>(config.dw / 8) != 0) return MachineCause::kUnaligned;
  return MachineCause::kNone;
}

bool bad_radix(const OperandGather& s, int gl) {
  return s.r0 == 0 || s.r1 == 0 || s.kb0 == 0 || s.cg == 0 || s.br == 0 ||
         s.br > static_cast<std::uint32_t>(gl);
}

MachineCause cause_of_exec(const ExecInstruction& i, const MachineConfig& config) {
  if (i.m == 0 || i.n == 0 || i.k == 0) return MachineCause::kDimZero;
  if (i.pa.bits == 0 || i.pw.bits == 0) return MachineCause::kWidthZero;
  if (i.pa.bits > config.array.p_max || i.pw.bits > config.array.p_max) {
    return MachineCause::kWidthOver;
  }
  const bool codes = !i.out.raw && !i.ps_write;
  if (codes && (i.out.q.out_bits < 1 || i.out.q.out_bits > 16)) return MachineCause::kOutBits;
  const bool bad_out = !i.ps_write && (i.out.or0 == 0 || i.out.or1 == 0);
  if (bad_radix(i.a, config.gl) || bad_radix(i.w, config.gl) || bad_out) {
    return MachineCause::kRadix;
  }
  return MachineCause::kNone;
}

std::string precision_text(Precision p) {
  return fmt::format("{}{}", p.is_signed ? "s" : "u", p.bits);
}

std::string lines_text(const LineWalk& l) {
  return fmt::format("dram 0x{:x} lines {}x{}x{} of {} beats, strides {} {} {}", l.dram, l.n2, l.n1,
                     l.n0, l.line_beats, l.stride2, l.stride1, l.stride0);
}

std::string tokens_text(const std::vector<std::pair<const char*, std::uint32_t>>& waits,
                        const std::vector<std::pair<const char*, bool>>& posts) {
  std::string out;
  for (const auto& [name, count] : waits) {
    if (count != 0) out += fmt::format(" wait {}*{}", name, count);
  }
  for (const auto& [name, on] : posts) {
    if (on) out += fmt::format(" post {}", name);
  }
  return out;
}

std::string side_text(const char* name, const OperandGather& s, Precision p) {
  return fmt::format(
      "\n  {} {} {} word {} o({},{}) A {} {} {} t({},{}) B {} {} C {} y {}{:+}a1{:+}b1 <{} "
      "x {}{:+}a0{:+}b0 <{} lanes {}",
      name, precision_text(p), s.transposed ? "T" : "N", s.base, s.r1, s.r0, s.a2, s.a1, s.a0,
      s.kb0, s.cg, s.b1, s.b0, s.sc, s.y0, s.sy, s.dy, s.h, s.x0, s.sx, s.dx, s.w,
      s.transposed ? fmt::format("{}+{}", s.lo, s.br) : fmt::format("{}..{}", s.lo, s.hi));
}

const char* rounding_name(Rounding r) {
  switch (r) {
    case Rounding::kNearestEven:
      return "nearest-even";
    case Rounding::kHalfUp:
      return "half-up";
    case Rounding::kFloor:
      return "floor";
    case Rounding::kStochastic:
      return "stochastic";
  }
  return "unknown";
}

std::string output_text(const ExecInstruction& i) {
  const ExecOutput& o = i.out;
  std::string out = "\n ";
  if (i.ps_read) out += fmt::format(" psb-read {}", i.ps_base);
  if (i.ps_write) return out + fmt::format(" psb-write {}", i.ps_base);
  const std::string place =
      fmt::format("word {} o({},{}) O {} {} {}", o.ob_base, o.or1, o.or0, o.o2, o.o1, o.o0);
  if (o.raw) {
    out += fmt::format(" raw{} {}", o.raw32 ? 32 : 48, place);
  } else {
    out += fmt::format(" codes {} {} {} C {} *{} >>{} {} za {} zw {} kzz {} zout {}",
                       precision_text({o.q.out_bits, o.q.out_signed}), o.column ? "column" : "row",
                       place, o.oc, o.q.mult, o.q.shift, rounding_name(o.q.rounding), o.q.za,
                       o.q.zw, o.q.kzz, o.q.zout);
    if (o.q.rounding == Rounding::kStochastic) {
      out += fmt::format(" seed {} element {}+{}m", o.q.seed, o.element, o.element_row);
    }
  }
  if (o.sums) out += fmt::format(" sums A {} W {}", o.sum_a, o.sum_w);
  return out;
}

struct Disassembler {
  std::string operator()(const FetchInstruction& i) const {
    return fmt::format(
        "fetch {} beat {} <- {}{}", i.target == OperandBuffer::kA ? "L1A" : "L1W", i.lines.buffer,
        lines_text(i.lines),
        tokens_text({{"e2f", i.wait_e2f}, {"r2f", i.wait_r2f}}, {{"f2e", i.post_f2e}}));
  }
  std::string operator()(const StoreInstruction& i) const {
    return fmt::format(
        "store OB beat {} -> {}{}", i.lines.buffer, lines_text(i.lines),
        tokens_text({{"e2r", i.wait_e2r}}, {{"r2e", i.post_r2e}, {"r2f", i.post_r2f}}));
  }
  std::string operator()(const ExecInstruction& i) const {
    return fmt::format("exec {} x {} x {}{}{}{}{}", i.m, i.n, i.k,
                       tokens_text({{"f2e", i.wait_f2e}, {"r2e", i.wait_r2e}},
                                   {{"e2f", i.post_e2f}, {"e2r", i.post_e2r}}),
                       side_text("A", i.a, i.pa), side_text("W", i.w, i.pw), output_text(i));
  }
};

}  // namespace

std::vector<std::uint64_t> encode(const Instruction& instruction) {
  return std::visit([](const auto& i) { return encode_one(i); }, instruction);
}

int instruction_words(std::uint64_t header) {
  switch (static_cast<int>(header & 3U)) {
    case layout::kFetchOpcode:
      return layout::kFetchWords;
    case layout::kExecOpcode:
      return layout::kExecWords;
    case layout::kStoreOpcode:
      return layout::kStoreWords;
    default:
      return 0;
  }
}

Instruction decode(const std::vector<std::uint64_t>& words, std::size_t& at) {
  if (at >= words.size()) {
    throw input_error("", 0, "instruction word " + std::to_string(at), "the end of the stream",
                      "a header");
  }
  const int count = instruction_words(words[at]);
  if (count == 0) {
    throw input_error("", 0, "header of instruction word " + std::to_string(at), "3",
                      "0 (fetch), 1 (exec), 2 (store)");
  }
  if (words.size() - at < static_cast<std::size_t>(count)) {
    throw input_error("", 0, "instruction at word " + std::to_string(at),
                      std::to_string(words.size() - at) + " words", std::to_string(count));
  }
  Instruction out = decode_words(words.data() + at);
  const std::vector<std::uint64_t> again = encode(out);
  for (std::size_t i = 0; i < again.size(); ++i) {
    if (again[i] != words[at + i]) {
      throw input_error("", 0, "instruction word " + std::to_string(at + i),
                        fmt::format("0x{:016x}", words[at + i]),
                        fmt::format("0x{:016x}, which its fields imply", again[i]));
    }
  }
  at += static_cast<std::size_t>(count);
  return out;
}

layout::MachineCause cause_of(const Instruction& instruction, const MachineConfig& config) {
  if (const auto* f = std::get_if<FetchInstruction>(&instruction)) {
    return cause_of_lines(f->lines, config);
  }
  if (const auto* s = std::get_if<StoreInstruction>(&instruction)) {
    return cause_of_lines(s->lines, config);
  }
  return cause_of_exec(std::get<ExecInstruction>(instruction), config);
}

std::string disassemble(const Instruction& instruction) {
  return std::visit(Disassembler(), instruction);
}

}  // namespace bitcycle
