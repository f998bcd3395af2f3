// A mapped, flat design as yosys writes it in JSON: instances of library cells and the nets
// between.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
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

/// An instance of a module that is left out of a mapped design (a black box).
struct NetlistBox {
  std::string name;    ///< of the instance
  std::string type;    ///< name of the derived module in the file
  std::string module;  ///< RTL module without parameters
  /// Values of whole parameters, in the order of their names; those of packages are not among them.
  std::vector<std::pair<std::string, int>> parameters;
  std::vector<NetlistPort> ports;  ///< of the module, connected to nets of the design
};

/// A mapped design around black boxes.
struct BoxedNetlist {
  Netlist cells;
  std::vector<NetlistBox> boxes;
};

/// Reads the module `top` ("" = the only one with a top attribute, or the only one). `library` must
/// outlive the result. Throws InputError naming `file`: not JSON, no such module, a cell that is
/// not in the library, a pin that the cell does not have, an open input, a net with two drivers or
/// none, a constant x or z on a pin.
Netlist parse_netlist(const std::string& json, const std::string& file,
                      const LibertyLibrary& library, const std::string& top = "");

/// The same where instances of modules without contents may be left: their outputs drive nets, as
/// inputs of the design do, their inputs may be constant but not open.
BoxedNetlist parse_boxed_netlist(const std::string& json, const std::string& file,
                                 const LibertyLibrary& library, const std::string& top = "");

/// Throws InputError naming `where` unless every net has exactly one driver: an input, a cell or an
/// output of a box.
void check_drivers(const Netlist& netlist, const std::vector<NetlistBox>& boxes,
                   const std::string& where);

/// The same from a file.
Netlist load_netlist(const std::string& path, const LibertyLibrary& library,
                     const std::string& top = "");
BoxedNetlist load_boxed_netlist(const std::string& path, const LibertyLibrary& library,
                                const std::string& top = "");

}  // namespace bitcycle
