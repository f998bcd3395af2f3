// The CIFAR ResNets of He et al. (arXiv 1512.03385, section 4.2), 6n+2 layers deep, with the 1x1
// convolutions on the shortcuts that the trainers of CPT use.
#include "tests/workloads/cifar_resnet_reference.hpp"

namespace bitcycle {
namespace {

Layer convolution(const std::string& name, std::uint64_t cin, std::uint64_t cout,
                  std::uint64_t size, std::uint64_t kernel, std::uint64_t stride) {
  Layer layer;
  layer.name = name;
  layer.cin = cin;
  layer.cout = cout;
  layer.hi = layer.wi = size;
  layer.kh = layer.kw = kernel;
  layer.stride_h = layer.stride_w = stride;
  layer.pad_h = layer.pad_w = kernel / 2;
  return layer;
}

std::vector<Layer> cifar_resnet(int depth, int classes) {
  const int blocks = (depth - 2) / 6;
  std::uint64_t channels = 16;
  std::uint64_t size = 32;
  std::vector<Layer> layers = {convolution("conv1", 3, channels, size, 3, 1)};
  layers.back().first = true;
  for (int stage = 1; stage <= 3; ++stage) {
    for (int block = 1; block <= blocks; ++block) {
      const bool shrinks = stage > 1 && block == 1;
      const std::uint64_t stride = shrinks ? 2 : 1;
      const std::uint64_t cout = channels * stride;
      const std::string name =
          "stage" + std::to_string(stage) + ".block" + std::to_string(block) + ".";
      layers.push_back(convolution(name + "conv1", channels, cout, size, 3, stride));
      layers.push_back(convolution(name + "conv2", cout, cout, size / stride, 3, 1));
      if (shrinks) {
        layers.push_back(convolution(name + "downsample", channels, cout, size, 1, stride));
        layers.back().downsample = true;
      }
      channels = cout;
      size /= stride;
    }
  }
  layers.push_back(convolution("fc", channels, static_cast<std::uint64_t>(classes), 1, 1, 1));
  layers.back().dense = true;
  return layers;
}

bool quantised(const Layer& layer, Convention convention) {
  switch (convention) {
    case Convention::kAll:
      return true;
    case Convention::kCptCifar:
      return !layer.dense;
    case Convention::kCptImagenet:
      return !layer.dense && !layer.first && !layer.downsample;
  }
  return true;
}

}  // namespace

std::vector<Layer> cifar_resnet_reference(int depth, int classes, Convention convention) {
  std::vector<Layer> layers = cifar_resnet(depth, classes);
  for (Layer& layer : layers) layer.quantised = quantised(layer, convention);
  return layers;
}

}  // namespace bitcycle
