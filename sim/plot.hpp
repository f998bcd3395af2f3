// Figures: gnuplot scripts into SVG or PDF files.
#pragma once

#include <string>

namespace bitcycle {

/// A gnuplot script without terminal and output, and the size it is made for.
struct PlotScript {
  std::string body;
  int width = 900;  ///< SVG units (1/96 inch)
  int height = 340;
};

/// Refuses, before any work is done, a path that is no .svg or .pdf, and a missing gnuplot.
/// Throws InputError.
void check_plot_path(const std::string& path);

/// Draws into `path` (.svg or .pdf) in one step: a failed run leaves nothing. The file has no time
/// stamp. Throws InputError if gnuplot is missing, or with gnuplot's own first message.
void draw_plot(const PlotScript& script, const std::string& path);

/// `text` in gnuplot's single quotes.
std::string plot_quoted(const std::string& text);

}  // namespace bitcycle
