#include "sim/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>

namespace bitcycle {
namespace {

constexpr std::size_t kGap = 2;  // blanks between columns

std::string pad(const std::string& text, std::size_t width, TextTable::Align align) {
  const std::string blanks(width > text.size() ? width - text.size() : 0, ' ');
  return align == TextTable::Align::kLeft ? text + blanks : blanks + text;
}

void trim_right(std::string& line) { line.erase(line.find_last_not_of(' ') + 1); }

}  // namespace

void TextTable::add_column(const std::string& heading, Align align) {
  Column column{{}, align};
  std::istringstream in(heading);
  for (std::string line; std::getline(in, line);) column.heading.push_back(line);
  columns_.push_back(std::move(column));
}

void TextTable::add_row(std::vector<std::string> cells) {
  cells.resize(columns_.size());
  lines_.push_back({false, "", std::move(cells)});
}

void TextTable::add_separator(const std::string& label) { lines_.push_back({true, label, {}}); }

std::vector<std::size_t> TextTable::widths() const {
  std::vector<std::size_t> out(columns_.size(), 0);
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    for (const auto& line : columns_[i].heading) out[i] = std::max(out[i], line.size());
    for (const auto& line : lines_) {
      if (!line.separator) out[i] = std::max(out[i], line.cells[i].size());
    }
  }
  return out;
}

std::string TextTable::render() const {
  const std::vector<std::size_t> width = widths();
  std::size_t total = 0, heading_lines = 0;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    total += width[i] + (i > 0 ? kGap : 0);
    heading_lines = std::max(heading_lines, columns_[i].heading.size());
  }
  for (const auto& line : lines_) {  // room for a word between two dashes on each side
    if (!line.label.empty()) total = std::max(total, line.label.size() + 6);
  }
  std::string out;
  const auto emit = [&](const auto& cell_of) {
    std::string line;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (i > 0) line += std::string(kGap, ' ');
      line += pad(cell_of(i), width[i], columns_[i].align);
    }
    trim_right(line);
    out += line + "\n";
  };
  for (std::size_t h = 0; h < heading_lines; ++h) {
    emit([&](std::size_t i) -> std::string {
      // Headings stand on the bottom line.
      const auto& heading = columns_[i].heading;
      const std::size_t skip = heading_lines - heading.size();
      return h < skip ? "" : heading[h - skip];
    });
  }
  out += std::string(total, '=') + "\n";
  for (const auto& line : lines_) {
    if (line.separator) {
      const std::string head = line.label.empty() ? "" : "-- " + line.label + " ";
      out += head + std::string(total > head.size() ? total - head.size() : 0, '-') + "\n";
    } else {
      emit([&](std::size_t i) { return line.cells[i]; });
    }
  }
  return out;
}

std::string wrap_text(const std::string& text, std::size_t width, std::size_t indent) {
  std::istringstream in(text);
  std::string out, line;
  for (std::string word; in >> word;) {
    if (!line.empty() && line.find_first_not_of(' ') != std::string::npos &&
        line.size() + 1 + word.size() > width) {
      out += line + "\n";
      line = std::string(indent, ' ') + word;
    } else {
      line += (line.empty() ? "" : " ") + word;
    }
  }
  return out + line;
}

std::string short_text(const std::string& text, std::size_t most) {
  if (text.size() <= most) return text;
  const std::size_t tail = (most - 2) / 2;
  return text.substr(0, most - 2 - tail) + ".." + text.substr(text.size() - tail);
}

std::string si_text(double value, const std::string& unit) {
  if (value == 0.0) return "0 " + unit;
  constexpr const char* kPrefixes[] = {"a", "f", "p", "n", "u", "m", "", "k",
                                       "M", "G", "T", "P", "E", "Z", "Y"};
  constexpr int kOne = 6;  // index of the empty prefix
  constexpr int kLast = 14;
  int index = kOne + static_cast<int>(std::floor(std::log10(std::abs(value)) / 3.0));
  index = std::clamp(index, 0, kLast);
  double scaled = value * std::pow(1000.0, kOne - index);
  if (std::abs(scaled) >= 999.95 && index < kLast) {  // would print as 1000
    ++index;
    scaled /= 1000.0;
  }
  const int digits = std::abs(scaled) < 9.9995 ? 3 : std::abs(scaled) < 99.995 ? 2 : 1;
  return fmt::format("{:.{}f} {}{}", scaled, digits, kPrefixes[index], unit);
}

std::string duration_text(double seconds) {
  constexpr double kMinute = 60.0, kHour = 3600.0, kDay = 86400.0, kYear = 365.25 * kDay;
  if (seconds < kMinute) return si_text(seconds, "s");
  if (seconds < kHour) return fmt::format("{:.2f} min", seconds / kMinute);
  if (seconds < 3 * kDay) return fmt::format("{:.2f} h", seconds / kHour);
  if (seconds < 2 * kYear) return fmt::format("{:.2f} d", seconds / kDay);
  return fmt::format("{:.4g} a", seconds / kYear);
}

std::string bar_text(double share, std::size_t width) {
  const double cells = std::clamp(share, 0.0, 1.0) * static_cast<double>(width);
  auto full = static_cast<std::size_t>(std::lround(cells));
  if (full == 0 && share > 0.0) full = 1;  // a small share is not none
  return std::string(full, '#');
}

}  // namespace bitcycle
