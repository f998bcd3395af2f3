#include "model/gates/liberty_clock_gate.hpp"

#include <fmt/format.h>

#include "golden/error.hpp"

namespace bitcycle {
namespace {

BoolExpr expression(const std::string& text, const LibertyCell& cell) {
  return BoolExpr::parse(text, cell.file, cell.line, "clock_gating_integrated_cell");
}

// Cells of one output whose function has as many inputs as the cell.
const LibertyPin* only_output(const LibertyCell& cell, std::size_t inputs) {
  const LibertyPin* out = nullptr;
  std::size_t count = 0;
  for (const auto& p : cell.pins) {
    if (p.width != 1 || p.three_state) return nullptr;
    if (p.direction == PinDirection::kInput) ++count;
    if (p.direction != PinDirection::kOutput) continue;
    if (out != nullptr || !p.function) return nullptr;
    out = &p;
  }
  return count == inputs ? out : nullptr;
}

bool is_function(const LibertyCell& cell, std::size_t inputs, std::uint64_t truth) {
  if (cell.sequential || cell.dont_use || cell.memory || cell.statetable) return false;
  const LibertyPin* out = only_output(cell, inputs);
  if (out == nullptr || out->function->names().size() != inputs) return false;
  for (std::uint64_t w = 0; w < std::uint64_t{1} << inputs; ++w) {
    if (out->function->eval(w) != ((truth >> w & 1U) != 0)) return false;
  }
  return true;
}

// A latch without set and reset whose data and enable are a pin each, and which drives a stored
// bit, not its complement.
struct PlainLatch {
  std::string data, enable, out;
  bool high = true;  ///< open at high level
};

std::optional<PlainLatch> plain_latch(const LibertyCell& cell) {
  if (!cell.sequential || !cell.sequential->latch || cell.clock_gate || cell.dont_use) return {};
  const LibertySequential& s = *cell.sequential;
  if (!s.data || !s.clock || s.clear || s.preset) return {};
  if (s.data->names().size() != 1 || s.clock->names().size() != 1 || s.data->eval(0)) return {};
  PlainLatch out{s.data->names()[0], s.clock->names()[0], "", !s.clock->eval(0)};
  for (const auto& p : cell.pins) {
    if (p.direction == PinDirection::kOutput && p.function && p.function->names().size() == 1 &&
        p.function->names()[0] == s.var && !p.function->eval(0)) {
      out.out = p.name;
    }
  }
  if (out.out.empty()) return {};
  return out;
}

template <class Suits>
const LibertyCell* smallest(const LibertyLibrary& library, Suits suits) {
  const LibertyCell* best = nullptr;
  for (const auto& [name, cell] : library.cells) {
    if (suits(cell) && (best == nullptr || cell.area < best->area)) best = &cell;
  }
  return best;
}

std::string blackbox(const LibertyCell& cell) {
  std::string ports;
  for (const auto& p : cell.pins) {
    if (p.direction == PinDirection::kInternal) continue;
    ports += fmt::format("{}{} {}", ports.empty() ? "" : ", ",
                         p.direction == PinDirection::kOutput ? "output" : "input", p.name);
  }
  return fmt::format("(* blackbox *) module {} ({});\nendmodule\n", cell.name, ports);
}

std::string gate_module(const std::string& body) {
  return "module bc_clock_gate #(parameter GATED = 1) (input clk_i, input en_i, output clk_o);\n"
         "  generate if (GATED != 0) begin : g_gate\n" +
         body +
         "  end else begin : g_pass\n"
         "    assign clk_o = clk_i;\n"
         "  end endgenerate\n"
         "endmodule\n";
}

const LibertyPin* in_pin(const LibertyCell& cell) {
  for (const auto& p : cell.pins) {
    if (p.direction == PinDirection::kInput) return &p;
  }
  return nullptr;
}

}  // namespace

void make_clock_gate(LibertyCell& cell, const std::string& kind) {
  if (kind.rfind("latch_posedge", 0) != 0 || cell.sequential) return;
  LibertyPin* out = nullptr;
  std::string clock, enable, test;
  for (auto& p : cell.pins) {
    if (p.gate_clock) clock = p.name;
    if (p.gate_enable) enable = p.name;
    if (p.gate_test) test = p.name;
    if (p.gate_out) {
      if (out != nullptr) return;
      out = &p;
    } else if (p.direction == PinDirection::kOutput) {
      return;  // observation
    }
  }
  if (out == nullptr || clock.empty() || enable.empty()) return;
  const bool after = kind.find("postcontrol") != std::string::npos;
  LibertySequential s;
  s.latch = true;
  s.var = "IQ";
  s.var_n = "IQN";
  s.data = expression(test.empty() || after ? enable : enable + " + " + test, cell);
  s.clock = expression("!" + clock, cell);
  cell.sequential = std::move(s);
  out->function = expression(
      test.empty() || !after ? clock + " * IQ" : fmt::format("{} * (IQ + {})", clock, test), cell);
  cell.statetable = false;
  cell.clock_gate = true;
}

std::string clock_gate_verilog(const LibertyLibrary& library) {
  const LibertyCell* gate =
      smallest(library, [](const LibertyCell& c) { return c.clock_gate && !c.memory; });
  if (gate != nullptr) {
    std::string pins;
    for (const auto& p : gate->pins) {
      if (p.direction == PinDirection::kInternal) continue;
      const char* net = p.gate_clock    ? "clk_i"
                        : p.gate_enable ? "en_i"
                        : p.gate_out    ? "clk_o"
                                        : "1'b0";
      pins += fmt::format("{}.{}({})", pins.empty() ? "" : ", ", p.name, net);
    }
    return blackbox(*gate) + gate_module(fmt::format("    {} u_gate ({});\n", gate->name, pins));
  }
  const LibertyCell* latch =
      smallest(library, [](const LibertyCell& c) { return plain_latch(c).has_value(); });
  const LibertyCell* conjunction =
      smallest(library, [](const LibertyCell& c) { return is_function(c, 2, 0b1000); });
  const LibertyCell* inverter =
      smallest(library, [](const LibertyCell& c) { return is_function(c, 1, 0b01); });
  if (latch == nullptr || conjunction == nullptr || inverter == nullptr) {
    throw input_error("", 0, "--liberty", library.title() + " without clock gate",
                      "a library with one, or with latch, AND and inverter; or --no-clock-gates");
  }
  const PlainLatch l = *plain_latch(*latch);
  const auto& in = conjunction->pins;
  std::vector<std::string> names;
  for (const auto& p : in) {
    if (p.direction == PinDirection::kInput) names.push_back(p.name);
  }
  std::string text = blackbox(*latch) + blackbox(*conjunction);
  std::string body = "    wire held;\n";
  std::string open = "clk_i";
  if (l.high) {
    text += blackbox(*inverter);
    body += fmt::format("    wire low;\n    {} u_not (.{}(clk_i), .{}(low));\n", inverter->name,
                        in_pin(*inverter)->name, only_output(*inverter, 1)->name);
    open = "low";
  }
  body += fmt::format("    {} u_latch (.{}(en_i), .{}({}), .{}(held));\n", latch->name, l.data,
                      l.enable, open, l.out);
  body += fmt::format("    {} u_and (.{}(clk_i), .{}(held), .{}(clk_o));\n", conjunction->name,
                      names[0], names[1], only_output(*conjunction, 2)->name);
  return text + gate_module(body);
}

}  // namespace bitcycle
