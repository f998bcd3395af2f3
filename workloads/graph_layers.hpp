// What one node of a graph is in layers and vector operations. Internal to workloads/.
#pragma once

#include <vector>

#include "golden/error.hpp"
#include "workloads/graph.hpp"

namespace bitcycle {

/// The GEMM layers of a node with these input shapes: none for vector work, two for a recurrent
/// node, else one. `first` and `quantised` are left at their defaults. Throws InputError naming
/// file, line and node.
std::vector<Layer> node_layers(const Graph& graph, const Node& node,
                               const std::vector<Shape>& inputs);

/// Vector operations of a node, its bias included; sums of gradients are not its own.
std::vector<VectorOp> node_vector_ops(const Node& node, const std::vector<Shape>& inputs,
                                      const Shape& output);

/// Adds file and line of the node to an error about its sizes.
InputError located(const Graph& graph, const Node& node, const InputError& error);

}  // namespace bitcycle
