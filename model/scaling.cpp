#include "model/scaling.hpp"

#include <algorithm>

#include "golden/error.hpp"

namespace bitcycle {
namespace {

const ScalingRow& row_of(const std::string& node, const std::string& field) {
  std::vector<std::string> known;
  for (const auto& r : scaling_rows()) {
    if (node == r.node) return r;
    known.emplace_back(r.node);
  }
  throw input_error("", 0, field, "'" + node + "'" + suggestion(node, known), join(known));
}

}  // namespace

const std::vector<ScalingRow>& scaling_rows() {
  static const std::vector<ScalingRow> rows = {{"180", 0, 24.64, -17.98, 1.8},
                                               {"130", 7.171, -6.709, 2.904, 1.2},
                                               {"90", 4.762, -4.781, 2.092, 1.1},
                                               {"65", 3.755, -4.398, 1.975, 1.1},
                                               {"45HP", 1.018, -0.3107, 0.1539, 1.0},
                                               {"45LP", 1.103, -0.362, 0.2767, 1.1},
                                               {"32HP", 0.8367, -0.4341, 0.1701, 0.9},
                                               {"32LP", 0.9559, -0.7823, 0.471, 1.0},
                                               {"20HP", 0.373, -0.1582, 0.04104, 0.9},
                                               {"20LP", 0.2632, -0.14, 0.06841, 0.9},
                                               {"16HP", 0.2958, -0.1241, 0.03024, 0.85},
                                               {"16LP", 0.2139, -0.1187, 0.05639, 0.85},
                                               {"14HP", 0.2363, -0.09675, 0.02239, 0.8},
                                               {"14LP", 0.1556, -0.06472, 0.03066, 0.8},
                                               {"10HP", 0.2068, -0.09311, 0.02375, 0.75},
                                               {"10LP", 0.1261, -0.0518, 0.02769, 0.75},
                                               {"7HP", 0.1776, -0.09097, 0.02447, 0.7},
                                               {"7LP", 0.09365, -0.03409, 0.02043, 0.7}};
  return rows;
}

double scaling_factor(const std::string& from, double from_volt, const std::string& to,
                      const std::string& field) {
  const ScalingRow& f = row_of(from, field);
  const ScalingRow& t = row_of(to, field);
  const auto ef = [](const ScalingRow& r, double v) { return r.a * v * v + r.b * v + r.c; };
  const double below = ef(f, from_volt);
  const double above = ef(t, t.volt);
  if (!(below > 0 && above > 0)) {
    throw input_error("", 0, field, "a supply outside the fit of node " + from,
                      "a supply near the node's nominal one");
  }
  return above / below;
}

}  // namespace bitcycle
