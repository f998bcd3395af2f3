#include "golden/yaml_text.hpp"

#include <charconv>
#include <cmath>
#include <vector>

#include "golden/error.hpp"

namespace bitcycle {

YAML::Node load_yaml(const std::string& text, const std::string& file) {
  std::vector<YAML::Node> documents;
  try {
    documents = YAML::LoadAll(text);
  } catch (const YAML::Exception& e) {
    throw input_error(file, e.mark.line + 1, "YAML", e.msg, "well-formed YAML");
  }
  if (documents.size() > 1) {
    throw input_error(file, yaml_line(documents[1]), "YAML", "a second document",
                      "one document in a file");
  }
  return documents.empty() ? YAML::Node() : documents.front();
}

int yaml_line(const YAML::Node& node) { return node.Mark().line + 1; }

bool read_decimal(std::string_view text, std::uint64_t low, std::uint64_t high,
                  std::uint64_t& value) {
  if (text.size() > 1 && text.front() == '0') return false;
  std::uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end || number < low || number > high) return false;
  value = number;
  return true;
}

bool read_decimal(std::string_view text, double& value) {
  if (text.find_first_not_of("0123456789.eE+-") != std::string_view::npos) return false;
  if (text.empty() || text.front() == '-' || text.front() == '+') return false;
  if (text.size() > 1 && text[0] == '0' && text[1] >= '0' && text[1] <= '9') return false;
  double number = 0.0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end || !std::isfinite(number)) return false;
  value = number;
  return true;
}

}  // namespace bitcycle
