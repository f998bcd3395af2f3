// A design out of its parts: a netlist around black boxes, and the netlists of what is in them.
#pragma once

#include <map>
#include <string>

#include "model/gates/netlist.hpp"

namespace bitcycle {

/// The cells around the boxes as a design of its own. Pins of boxes become ports, called
/// "instance.pin", the other way round: what a box drives is an input. Buses that no cell of the
/// design drives (outputs) or reads (inputs) are wires that only pass through: they are left out,
/// with those of the design itself.
Netlist open_boxes(const BoxedNetlist& design);

/// One flat netlist: every box is replaced by the netlist of its type, whose nets and cells get the
/// instance's name and a dot in front. `parts`: by NetlistBox::type. Inputs that the design holds
/// constant, outputs that nothing reads, and parts with a constant or an input on an output are
/// joined as they are. Throws InputError: no part of that type, a port that only one of the two
/// has, of another direction or width, a net with two drivers.
Netlist join_netlists(const BoxedNetlist& design,
                      const std::map<std::string, const Netlist*>& parts);

}  // namespace bitcycle
