#include "golden/error.hpp"

#include <algorithm>
#include <numeric>

namespace bitcycle {
namespace {

std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t up = row[j];
      row[j] = std::min({up + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0U : 1U)});
      diagonal = up;
    }
  }
  return row.back();
}

// User text goes into a one-line message: control characters would break the line, and a
// megabyte of garbage would drown it.
std::string one_line(const std::string& text) {
  constexpr std::size_t kLongest = 120;
  std::string out = text.substr(0, kLongest);
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  if (text.size() > kLongest) out += "...";
  return out;
}

}  // namespace

InputError input_error(const std::string& file, int line, const std::string& field,
                       const std::string& found, const std::string& allowed) {
  std::string text;
  if (!file.empty()) text += one_line(file) + (line > 0 ? ":" + std::to_string(line) : "") + ": ";
  if (!field.empty()) text += one_line(field) + ": ";
  text += "found " + one_line(found);
  if (!allowed.empty()) text += ", allowed: " + allowed;
  return InputError(text);
}

std::string suggestion(const std::string& found, const std::vector<std::string>& known) {
  std::string best;
  std::size_t best_distance = 4;
  if (found.size() > 200) return "";
  // The beginning of a name is the likeliest slip of all: "resnet74" for "resnet74-cifar10".
  for (const auto& word : known) {
    if (!found.empty() && word.size() > found.size() && word.compare(0, found.size(), found) == 0) {
      return ", did you mean '" + word + "'?";
    }
  }
  for (const auto& word : known) {
    const std::size_t distance = edit_distance(found, word);
    if (distance < best_distance && distance < word.size()) {
      best_distance = distance;
      best = word;
    }
  }
  return best.empty() ? "" : ", did you mean '" + best + "'?";
}

std::string join(const std::vector<std::string>& words, const std::string& separator) {
  std::string out;
  for (const auto& word : words) out += (out.empty() ? "" : separator) + word;
  return out;
}

}  // namespace bitcycle
