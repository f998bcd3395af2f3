#include <algorithm>
#include <array>

#include "model/gates/liberty.hpp"

namespace bitcycle {
namespace {

struct Place {
  std::size_t low = 0;
  double fraction = 0.0;  // may leave 0..1: linear extrapolation
};

Place place(const std::vector<double>& points, double x) {
  if (points.size() < 2) return {};
  const auto after = std::upper_bound(points.begin() + 1, points.end() - 1, x);
  const auto low = static_cast<std::size_t>(after - points.begin()) - 1;
  const double step = points[low + 1] - points[low];
  return {low, step > 0 ? (x - points[low]) / step : 0.0};
}

}  // namespace

double LibertyTable::at(double slew, double load) const {
  if (values.empty()) return 0.0;
  std::array<Place, 3> places{};
  for (std::size_t a = 0; a < axes.size(); ++a) {
    const double x = axes[a] == Axis::kSlew ? slew : axes[a] == Axis::kLoad ? load : points[a][0];
    places[a] = place(points[a], x);
  }
  double sum = 0.0;
  const std::size_t corners = std::size_t{1} << axes.size();
  for (std::size_t corner = 0; corner < corners; ++corner) {
    double weight = 1.0;
    std::size_t index = 0;
    bool exists = true;
    for (std::size_t a = 0; a < axes.size(); ++a) {
      const bool high = (corner >> a & 1U) != 0;
      if (high && points[a].size() < 2) {
        exists = false;
        break;
      }
      weight *= high ? places[a].fraction : 1.0 - places[a].fraction;
      index = index * points[a].size() + places[a].low + (high ? 1 : 0);
    }
    if (exists && weight != 0.0) sum += weight * values[index];
  }
  return sum;
}

}  // namespace bitcycle
