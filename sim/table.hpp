// Aligned tables and wrapped text for people on a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace bitcycle {

/// A table of text cells. Headings may have several lines ("cycles\nrelative").
class TextTable {
 public:
  enum class Align { kLeft, kRight };

  void add_column(const std::string& heading, Align align = Align::kRight);
  void add_row(std::vector<std::string> cells);  ///< one cell per column
  /// A ruled line across the table, with a word in it if `label` is not empty.
  void add_separator(const std::string& label = "");
  std::string render() const;

 private:
  struct Column {
    std::vector<std::string> heading;
    Align align;
  };
  struct Line {
    bool separator;
    std::string label;
    std::vector<std::string> cells;
  };
  std::vector<std::size_t> widths() const;

  std::vector<Column> columns_;
  std::vector<Line> lines_;
};

/// Breaks `text` at blanks so that no line exceeds `width`; later lines get `indent` blanks.
std::string wrap_text(const std::string& text, std::size_t width, std::size_t indent);

/// Head and tail of a text of more than `most` characters, with ".." between them.
std::string short_text(const std::string& text, std::size_t most);

/// Four significant digits with an SI prefix: "17.89 T", "15.66 kJ". 0 is "0 J".
std::string si_text(double value, const std::string& unit);

/// Seconds in the unit a person would use: "93.2 ms", "9.94 h", "3.2 days".
std::string duration_text(double seconds);

/// A bar of `width` cells for a share between 0 and 1.
std::string bar_text(double share, std::size_t width);

}  // namespace bitcycle
