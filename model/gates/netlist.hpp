// A mapped, flat design as yosys writes it in JSON: instances of library cells and the nets
// between.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/gates/liberty.hpp"

namespace bitcycle {

/// Net numbers. The two constants come first.
constexpr std::uint32_t kNetZero = 0;
constexpr std::uint32_t kNetOne = 1;

struct NetlistPort {
  std::string name;
  bool input = true;
  std::vector<std::uint32_t> nets;  ///< bit 0 first
};

struct NetlistInstance {
  std::string name;
  const LibertyCell* cell = nullptr;
  /// Net of each pin of the cell, in the cell's order; kUnconnected where a pin is open.
  std::vector<std::uint32_t> nets;
};
constexpr std::uint32_t kUnconnected = 0xffffffffU;

struct Netlist {
  std::string module;
  std::vector<std::string> nets;  ///< names; a net without one in the file is called n<number>
  std::vector<NetlistPort> ports;
  std::vector<NetlistInstance> instances;
  std::string sha256;   ///< of cells and connections, whatever they are called
  std::string creator;  ///< tool that wrote it

  const NetlistPort& port(const std::string& name) const;  ///< throws InputError
  double area() const;                                     ///< sum over instances, as the library
};

/// Reads the module `top` ("" = the only one with a top attribute, or the only one). `library` must
/// outlive the result. Throws InputError naming `file`: not JSON, no such module, a cell that is
/// not in the library, a pin that the cell does not have, an open input, a net with two drivers or
/// none, a constant x or z on a pin.
Netlist parse_netlist(const std::string& json, const std::string& file,
                      const LibertyLibrary& library, const std::string& top = "");

/// The same from a file.
Netlist load_netlist(const std::string& path, const LibertyLibrary& library,
                     const std::string& top = "");

}  // namespace bitcycle
