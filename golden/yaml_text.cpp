#include "golden/yaml_text.hpp"

#include <yaml-cpp/eventhandler.h>

#include <charconv>
#include <cmath>
#include <sstream>

#include "golden/error.hpp"

namespace bitcycle {

namespace {

// Sees a document go by and keeps where it began.
class Onlooker : public YAML::EventHandler {
 public:
  int line = 0;

  void OnDocumentStart(const YAML::Mark& mark) override { line = mark.line + 1; }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& /*mark*/, YAML::anchor_t /*anchor*/) override {}
  void OnAlias(const YAML::Mark& /*mark*/, YAML::anchor_t /*anchor*/) override {}
  void OnScalar(const YAML::Mark& /*mark*/, const std::string& /*tag*/, YAML::anchor_t /*anchor*/,
                const std::string& /*value*/) override {}
  void OnSequenceStart(const YAML::Mark& /*mark*/, const std::string& /*tag*/,
                       YAML::anchor_t /*anchor*/, YAML::EmitterStyle::value /*style*/) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark& /*mark*/, const std::string& /*tag*/, YAML::anchor_t /*anchor*/,
                  YAML::EmitterStyle::value /*style*/) override {}
  void OnMapEnd() override {}
};

}  // namespace

// Not YAML::LoadAll: it never ends on some texts that begin with a comma (yaml-cpp 0.7).
YAML::Node load_yaml(const std::string& text, const std::string& file) {
  try {
    std::istringstream in(text);
    YAML::Parser parser(in);
    Onlooker onlooker;
    if (parser.HandleNextDocument(onlooker) && parser.HandleNextDocument(onlooker)) {
      throw input_error(file, onlooker.line, "YAML", "text after the first document",
                        "one document in a file");
    }
    return YAML::Load(text);
  } catch (const YAML::Exception& e) {
    // "bad file" is what the library says of more than 500 levels.
    const std::string found = e.msg == "bad file" ? "too many levels" : e.msg;
    throw input_error(file, e.mark.line + 1, "YAML", found, "well-formed YAML");
  }
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
