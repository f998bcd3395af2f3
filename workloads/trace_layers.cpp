#include "golden/checked.hpp"
#include "workloads/trace.hpp"

namespace bitcycle {
namespace {

using Kind = LayerSelection::Kind;

constexpr std::uint64_t kMostSteps = 100'000'000;

// Names with * (any characters) and ? (any one), without recursion.
bool matches(const std::string& pattern, const std::string& name) {
  std::size_t p = 0, n = 0, star = std::string::npos, resume = 0;
  while (n < name.size()) {
    if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n]) && pattern[p] != '*') {
      ++p;
      ++n;
    } else if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = n;
    } else if (star != std::string::npos) {
      p = star + 1;
      n = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

bool is_glob(const std::string& text) { return text.find_first_of("*?") != std::string::npos; }

class Selector {
 public:
  Selector(const TraceLayers& layers, const std::string& file, int line)
      : layers_(layers), file_(file), line_(line), chosen_(layers.size()) {}

  void take(const LayerSelection& selection) {
    switch (selection.kind) {
      case Kind::kAll:
        take_range(0, layers_.size() - 1);
        break;
      case Kind::kIndex:
        check_index(selection.from);
        take_one(selection.from);
        break;
      case Kind::kRange:
        check_index(selection.from);
        check_index(selection.to);
        take_range(selection.from, selection.to);
        break;
      case Kind::kPattern:
        take_pattern(selection.pattern);
        break;
      case Kind::kList:
        for (const auto& item : selection.items) take(item);
        break;
    }
  }

  std::vector<std::uint32_t> done() const {
    std::vector<std::uint32_t> out;
    for (std::size_t i = 0; i < chosen_.size(); ++i) {
      if (chosen_[i]) out.push_back(static_cast<std::uint32_t>(i));
    }
    if (out.empty()) {
      throw input_error(file_, line_, "layer", "a selection of FP32 layers only",
                        "at least one quantised layer");
    }
    return out;
  }

 private:
  void check_index(std::uint64_t index) const {
    if (index < layers_.size()) return;
    throw input_error(file_, line_, "layer", "index " + std::to_string(index),
                      "0 to " + std::to_string(layers_.size() - 1));
  }

  void take_one(std::uint64_t index) {
    if (!layers_.quantised[index]) {
      throw input_error(file_, line_, "layer",
                        "'" + layers_.names[index] + "', which is FP32 under the convention",
                        "quantised layers; convention \"all\" has no others");
    }
    chosen_[index] = true;
  }

  // A list of a hundred thousand patterns on as many layers would take minutes.
  void spend(std::uint64_t steps) {
    steps_ += steps;
    if (steps_ <= kMostSteps) return;
    throw input_error(file_, line_, "layer", "a list that takes over 10^8 comparisons",
                      "fewer items, or indices");
  }

  void take_range(std::uint64_t from, std::uint64_t to) {
    spend(to - from + 1);
    for (std::uint64_t i = from; i <= to; ++i) {
      if (layers_.quantised[i]) chosen_[i] = true;
    }
  }

  void take_pattern(const std::string& pattern) {
    spend(layers_.size());
    bool any = false;
    const bool glob = is_glob(pattern);
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      if (glob ? !matches(pattern, layers_.names[i]) : pattern != layers_.names[i]) continue;
      any = true;
      if (!glob) {
        take_one(i);
      } else if (layers_.quantised[i]) {
        chosen_[i] = true;
      }
    }
    if (any) return;
    throw input_error(file_, line_, "layer",
                      "'" + pattern + "'" + (glob ? "" : suggestion(pattern, layers_.names)),
                      "a layer of the network, an index, or a pattern with * or ?");
  }

  const TraceLayers& layers_;
  const std::string& file_;
  int line_;
  std::vector<bool> chosen_;
  std::uint64_t steps_ = 0;
};

}  // namespace

TraceLayers trace_layers(const Network& network) {
  TraceLayers out;
  out.names.reserve(network.layers.size());
  for (const auto& layer : network.layers) {
    out.names.push_back(layer.name);
    out.quantised.push_back(layer.quantised);
    out.parameters = checked_add(out.parameters, layer.parameters(), "parameters");
  }
  return out;
}

TraceLayers anonymous_layer() { return {{"all"}, {true}, 0}; }

std::vector<std::uint32_t> select_layers(const TraceLayers& layers, const LayerSelection& selection,
                                         const std::string& file, int line) {
  Selector selector(layers, file, line);
  selector.take(selection);
  return selector.done();
}

}  // namespace bitcycle
