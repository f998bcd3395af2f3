// Networks as a whole, and the names of conventions.
#include "workloads/network.hpp"

#include "golden/checked.hpp"

namespace bitcycle {

std::uint64_t Network::macs_per_sample(bool quantised_only) const {
  std::uint64_t macs = 0;
  for (const Layer& layer : layers) {
    if (layer.quantised || !quantised_only) {
      macs = checked_add(macs, layer.macs_per_sample(), "MACs of the network");
    }
  }
  return macs;
}

std::uint64_t Network::parameters() const {
  std::uint64_t sum = 0;
  for (const Layer& layer : layers) {
    sum = checked_add(sum, layer.parameters(), "parameters of the network");
  }
  for (const VectorOp& op : vector_ops) {
    sum = checked_add(sum, op.parameters, "parameters of the network");
  }
  return sum;
}

std::string to_string(Convention convention) {
  switch (convention) {
    case Convention::kAll:
      return "all";
    case Convention::kCptCifar:
      return "cpt-cifar";
    case Convention::kCptImagenet:
      return "cpt-imagenet";
  }
  return "?";
}

std::string to_string(GemmKind kind) {
  switch (kind) {
    case GemmKind::kForward:
      return "fwd";
    case GemmKind::kDx:
      return "dx";
    case GemmKind::kDw:
      return "dw";
  }
  return "?";
}

Convention parse_convention(const std::string& text) {
  std::vector<std::string> known;
  for (const Convention c : {Convention::kAll, Convention::kCptCifar, Convention::kCptImagenet}) {
    if (text == to_string(c)) return c;
    known.push_back(to_string(c));
  }
  throw input_error("", 0, "convention", "'" + text + "'" + suggestion(text, known), join(known));
}

DxLowering parse_lowering(const std::string& text) {
  if (text == "dx=phases") return DxLowering::kPhases;
  if (text == "dx=gemm") return DxLowering::kGemm;
  const std::vector<std::string> known = {"dx=phases", "dx=gemm"};
  throw input_error("", 0, "lowering", "'" + text + "'" + suggestion(text, known), join(known));
}

}  // namespace bitcycle
