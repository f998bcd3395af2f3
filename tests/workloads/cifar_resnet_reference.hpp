// The CIFAR ResNets built by code from their structure: what the network file must equal.
#pragma once

#include <vector>

#include "workloads/network.hpp"

namespace bitcycle {

/// Layers of the ResNet of this depth (6n+2) and number of classes.
std::vector<Layer> cifar_resnet_reference(int depth, int classes, Convention convention);

}  // namespace bitcycle
