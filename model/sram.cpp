#include "model/sram.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace bitcycle {
namespace {

// Straight line in log y over log x.
double log_line(double x, double x0, double y0, double x1, double y1) {
  if (x1 == x0 || y0 <= 0.0 || y1 <= 0.0) return std::max(y0, y1);
  return y0 * std::pow(y1 / y0, std::log(x / x0) / std::log(x1 / x0));
}

// Energy over depth; never falls.
double over_depth(const SramCurve& curve, double words, double SramPoint::*energy) {
  double below_words = 0.0, below = 0.0;  // the point before, and the largest energy so far
  for (const SramPoint& p : curve.points) {
    const double here = std::max(below, p.*energy);
    if (words <= p.words) {
      return below_words == 0.0 ? here : log_line(words, below_words, below, p.words, here);
    }
    below_words = p.words;
    below = here;
  }
  return below;
}

// Energy of one memory of at most the table's width.
double over_width(const SramTable& t, double words, double width, double SramPoint::*energy) {
  double below_width = 0.0, below = 0.0;
  for (const SramCurve& c : t.curves) {
    const double here = std::max(below, over_depth(c, words, energy));
    if (width <= c.width) {
      return below_width == 0.0 ? here : log_line(width, below_width, below, c.width, here);
    }
    below_width = c.width;
    below = here;
  }
  return below;
}

double access(const SramTable& t, double words, double width, double SramPoint::*energy) {
  const double widest = t.curves.back().width;
  const double whole = std::floor(width / widest);
  const double rest = width - whole * widest;
  double joules = 0.0;
  if (whole > 0) joules += whole * over_width(t, words, widest, energy);
  if (rest > 0) joules += over_width(t, words, rest, energy);
  return joules;
}

double leak(const SramTable& t, double bytes) {
  const auto& points = t.leakage;
  if (bytes <= points.front().first) return points.front().second * bytes / points.front().first;
  double most = 0.0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double here = std::max(most, points[i].second);
    if (bytes <= points[i].first) {
      return log_line(bytes, points[i - 1].first, most, points[i].first, here);
    }
    most = here;
  }
  return most * bytes / points.back().first;
}

}  // namespace

SramEnergy sram_energy(const SramTable& table, double words, double width) {
  if (!(words >= 1.0 && width >= 1.0)) throw std::invalid_argument("SRAM smaller than a bit");
  SramEnergy out;
  out.read_j = access(table, words, width, &SramPoint::read_j);
  out.write_j = access(table, words, width, &SramPoint::write_j);
  const double widest = table.curves.back().width;
  // The curves that this width lies between.
  const double rest = width >= widest ? widest : width;
  out.below = rest < table.curves.front().width;
  for (std::size_t i = 0; i < table.curves.size(); ++i) {
    const SramCurve& c = table.curves[i];
    const bool used =
        rest == c.width || (rest < c.width && (i == 0 || table.curves[i - 1].width < rest)) ||
        (rest > c.width && i + 1 < table.curves.size() && rest < table.curves[i + 1].width);
    if (!used) continue;
    out.below = out.below || words < c.points.front().words;
    out.beyond = out.beyond || words > c.points.back().words;
  }
  out.leakage_known = !table.leakage.empty();
  if (out.leakage_known) out.leakage_w = leak(table, words * width / 8.0);
  return out;
}

}  // namespace bitcycle
