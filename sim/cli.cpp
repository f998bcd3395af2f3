#include "sim/cli.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/program_options/errors.hpp>
#include <boost/program_options/parsers.hpp>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <set>

#include "golden/error.hpp"

#ifndef BITCYCLE_VERSION
#define BITCYCLE_VERSION "unknown"
#endif

namespace bitcycle {
namespace {

namespace po = boost::program_options;

// Several lines or control characters would break the one-line message.
std::string one_line(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  }
  return text;
}

InputError unknown_option_error(const po::unknown_option& e, const po::options_description& known) {
  std::string name = e.get_option_name();
  name.erase(0, name.find_first_not_of('-'));
  std::vector<std::string> names;
  for (const auto& option : known.options()) {
    if (!option->long_name().empty()) names.push_back("--" + option->long_name());
  }
  return input_error("", 0, "option", "'--" + name + "'" + suggestion("--" + name, names),
                     "see --help");
}

// The first positional word beyond those that a command takes.
std::string first_stray_word(const std::vector<std::string>& args,
                             const po::options_description& description, unsigned taken) {
  namespace style = po::command_line_style;
  po::command_line_parser parser(args);
  parser.options(description).style(style::unix_style & ~style::allow_guessing);
  for (const po::option& option : parser.run().options) {
    if (option.position_key >= static_cast<int>(taken)) return option.value.front();
  }
  return "";
}

}  // namespace

po::variables_map parse_options(const std::vector<std::string>& args,
                                const po::options_description& description,
                                const po::positional_options_description& positional) {
  namespace style = po::command_line_style;
  po::variables_map values;
  try {
    po::command_line_parser parser(args);
    parser.options(description).positional(positional);
    parser.style(style::unix_style & ~style::allow_guessing);
    po::store(parser.run(), values);
    po::notify(values);
  } catch (const po::unknown_option& e) {
    throw unknown_option_error(e, description);
  } catch (const po::too_many_positional_options_error&) {
    throw input_error("", 0, "arguments",
                      "'" + first_stray_word(args, description, positional.max_total_count()) +
                          "', a word that belongs to no option",
                      "see --help");
  } catch (const po::multiple_occurrences& e) {
    throw input_error("", 0, "option", "'" + e.get_option_name() + "' more than once", "once");
  } catch (const po::error& e) {
    throw input_error("", 0, "options", one_line(e.what()), "see --help");
  }
  for (const auto& [name, value] : values) {
    // Flags hold an empty text.
    if (description.find(name, false).semantic()->max_tokens() == 0) continue;
    const auto* text = boost::any_cast<std::string>(&value.value());
    const auto* texts = boost::any_cast<std::vector<std::string>>(&value.value());
    const bool empty =
        (text != nullptr && text->empty()) ||
        (texts != nullptr && std::find(texts->begin(), texts->end(), "") != texts->end());
    if (empty && !value.defaulted()) {
      throw input_error("", 0, "--" + name, "an empty value", "a value, or no such option");
    }
  }
  return values;
}

bool is_given(const po::variables_map& values, const std::string& name) {
  return values.count(name) != 0 && !values[name].defaulted();
}

std::string text_of(const po::variables_map& values, const std::string& name) {
  return values.count(name) != 0 ? values[name].as<std::string>() : "";
}

std::vector<std::string> texts_of(const po::variables_map& values, const std::string& name) {
  return values.count(name) != 0 ? values[name].as<std::vector<std::string>>()
                                 : std::vector<std::string>{};
}

std::uint64_t parse_count(const std::string& text, const std::string& field, std::uint64_t low,
                          std::uint64_t high) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || value < low || value > high) {
    throw input_error("", 0, field, "'" + text + "'",
                      "a whole number from " + std::to_string(low) + " to " + std::to_string(high));
  }
  return value;
}

double parse_positive(const std::string& text, const std::string& field, double high) {
  double value = 0.0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || !std::isfinite(value) || value < 1e-12 ||
      value > high) {
    char limit[32];
    std::snprintf(limit, sizeof limit, "%g", high);
    throw input_error("", 0, field, "'" + text + "'",
                      std::string("a number above 0, at most ") + limit);
  }
  return value;
}

std::vector<std::string> parse_list(const std::string& text, const std::string& field) {
  std::vector<std::string> out;
  std::size_t start = 0;
  for (;;) {
    const auto comma = text.find(',', start);
    out.push_back(text.substr(start, comma - start));
    if (out.back().empty()) {
      throw input_error("", 0, field, "'" + text + "' with an empty item", "a,b,c");
    }
    if (comma == std::string::npos) return out;
    start = comma + 1;
  }
}

void check_output_path(const std::string& path) {
  const auto parent = std::filesystem::path(path).parent_path();
  std::error_code ignored;
  if (!parent.empty() && !std::filesystem::is_directory(parent, ignored)) {
    throw input_error(path, 0, "output file", "no directory '" + parent.string() + "'",
                      "a path in a directory that exists");
  }
  if (std::filesystem::is_directory(path, ignored)) {
    throw input_error(path, 0, "output file", "a directory", "a file name");
  }
}

void write_file(const std::string& path, const std::string& content) {
  OutputFile file(path);
  file.write(content);
  file.commit();
}

OutputPaths::OutputPaths(const std::vector<std::string>& paths) {
  std::set<std::string> files;
  for (const auto& path : paths) {
    if (path.empty()) continue;
    if (path == "-") {
      if (to_stdout_) throw input_error("", 0, "output", "- more than once", "- once");
      to_stdout_ = true;
      continue;
    }
    check_output_path(path);
    std::error_code ignored;
    const auto status = std::filesystem::status(path, ignored);
    const bool device =
        std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
    if (!device && !files.insert(canonical_path(path)).second) {
      throw input_error("", 0, "output file", path + " twice", "each once");
    }
  }
}

void OutputPaths::add(const std::string& path, const std::string& content) {
  if (path.empty()) return;
  if (path == "-") {
    standard_ = content;
    return;
  }
  files_.emplace_back(path);
  files_.back().write(content);
  files_.back().close();
}

void OutputPaths::commit() {
  for (auto& file : files_) file.commit();
  if (to_stdout_) std::cout << standard_;
  std::cout.flush();
}

std::string printable(const std::string& text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    // C1 controls are two bytes in UTF-8; some terminals obey them.
    const bool c1 =
        byte == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0;
    if (c1) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[++i]));
    } else if ((byte < 0x20 && byte != '\n') || byte == 0x7f) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string command_text(const std::string& command, const std::vector<std::string>& args) {
  std::string out = command;
  for (const auto& arg : args) {
    const bool plain = !arg.empty() && arg.find_first_not_of(
                                           "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                           "0123456789-_.,:/=+%@") == std::string::npos;
    if (plain) {
      out += " " + arg;
      continue;
    }
    out += " '";
    for (const char c : arg) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    out += "'";
  }
  return out;
}

const char* program_version() { return BITCYCLE_VERSION; }

}  // namespace bitcycle
