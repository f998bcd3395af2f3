// Helpers that every command shares: strict options, strict numbers, whole files.
#pragma once

#include <boost/program_options/options_description.hpp>
#include <boost/program_options/positional_options.hpp>
#include <boost/program_options/variables_map.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "golden/output_file.hpp"

namespace bitcycle {

/// Parses the arguments after the command's name. Abbreviations are not accepted. Throws
/// InputError in one line: unknown option (with a suggestion), missing or surplus value, an option
/// given twice, words that belong to no option.
boost::program_options::variables_map parse_options(
    const std::vector<std::string>& args,
    const boost::program_options::options_description& description,
    const boost::program_options::positional_options_description& positional = {});

/// Whether the user typed the option (and not only its default holds).
bool is_given(const boost::program_options::variables_map& values, const std::string& name);

/// Text of an option, or "" if it has no value.
std::string text_of(const boost::program_options::variables_map& values, const std::string& name);

/// All values of an option that may be given several times (a std::vector<std::string>).
std::vector<std::string> texts_of(const boost::program_options::variables_map& values,
                                  const std::string& name);

/// A whole decimal number from `low` to `high`; throws InputError naming `field`.
std::uint64_t parse_count(const std::string& text, const std::string& field, std::uint64_t low,
                          std::uint64_t high);

/// A finite number above 0 and up to `high`; throws InputError naming `field`.
double parse_positive(const std::string& text, const std::string& field, double high);

/// "a,b,c"; throws InputError naming `field` for an empty item.
std::vector<std::string> parse_list(const std::string& text, const std::string& field);

/// Refuses, before any work is done, a path whose directory does not exist. Throws InputError.
void check_output_path(const std::string& path);

/// Writes beside `path` and renames, so that nobody ever sees half a file. Throws InputError.
void write_file(const std::string& path, const std::string& content);

/// All outputs of a command: all of them appear, or none.
class OutputPaths {
 public:
  /// Checks before any work is done: directories that do not exist, two outputs in one file
  /// (however spelt), "-" more than once. Empty paths are no outputs. Throws InputError.
  explicit OutputPaths(const std::vector<std::string>& paths);

  bool to_stdout() const { return to_stdout_; }  ///< a program reads it: no report there
  /// Writes beside `path`; "-" is kept until commit(). Throws InputError.
  void add(const std::string& path, const std::string& content);
  void commit();  ///< after the last add(). Throws InputError

 private:
  bool to_stdout_ = false;
  std::string standard_;
  std::vector<OutputFile> files_;
};

/// Text for a terminal: control characters other than newlines become \\xNN, so that a name from a
/// file cannot move the cursor or change colours.
std::string printable(const std::string& text);

/// The command line as one would type it, quoted where a shell needs it.
std::string command_text(const std::string& command, const std::vector<std::string>& args);

/// Version of the program, as in results.
const char* program_version();

}  // namespace bitcycle
