#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "golden/error.hpp"
#include "sim/cli.hpp"
#include "sim/cmd_characterise.hpp"
#include "sim/cmd_compare.hpp"
#include "sim/cmd_cosim.hpp"
#include "sim/cmd_network.hpp"
#include "sim/cmd_run.hpp"
#include "sim/cmd_schedule.hpp"
#include "sim/cmd_trace.hpp"

namespace {

struct Command {
  const char* name;
  int (*run)(const std::vector<std::string>&);
  const char* what;
};
constexpr Command kCommands[] = {
    {"compare", bitcycle::cmd_compare, "cost of precision schedules: BitOps, cycles, energy"},
    {"run", bitcycle::cmd_run, "one training iteration on the whole machine, layer by layer"},
    {"schedule", bitcycle::cmd_schedule, "one precision schedule: summary, CSV, plot"},
    {"network", bitcycle::cmd_network, "networks and network files: list, show, validate"},
    {"trace", bitcycle::cmd_trace, "precision by layer and iteration: make, check, convert"},
    {"cosim", bitcycle::cmd_cosim, "RTL and SystemC model in lockstep, against golden and formula"},
    {"characterise", bitcycle::cmd_characterise, "energy of a module from its gates"},
    {"verilate", bitcycle::cmd_verilate, "build the RTL of an array ahead of time"},
};

void print_usage() {
  fmt::print(
      "bitcycle {}: what a precision schedule costs on a bit-serial MAC array\n\n"
      "Usage: bitcycle COMMAND [options]     (COMMAND --help explains it)\n\n",
      bitcycle::program_version());
  for (const auto& command : kCommands) fmt::print("  {:<12} {}\n", command.name, command.what);
  fmt::print("\nExit codes: 0 done, 1 a check failed, 2 wrong use or bad input.\n");
}

int run(const std::vector<std::string>& words) {
  if (words.empty() || words[0] == "--help" || words[0] == "-h" || words[0] == "help") {
    print_usage();
    return words.empty() ? 2 : 0;
  }
  if (words[0] == "--version") {
    fmt::print("bitcycle {}\n", bitcycle::program_version());
    return 0;
  }
  std::vector<std::string> names;
  for (const auto& command : kCommands) {
    if (words[0] == command.name) return command.run({words.begin() + 1, words.end()});
    names.emplace_back(command.name);
  }
  throw bitcycle::input_error("", 0, "command",
                              "'" + words[0] + "'" + bitcycle::suggestion(words[0], names),
                              bitcycle::join(names));
}

}  // namespace

// libsystemc wants it; the program has its own main and elaborates only where it simulates.
extern "C" int sc_main(int, char**) { return 0; }

int main(int argc, char** argv) {
  try {
    const int code = run({argv + 1, argv + argc});
    // A full disk or a closed pipe shows when the last buffer leaves.
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
      throw bitcycle::input_error("", 0, "standard output", "an error while writing",
                                  "an output that takes the report");
    }
    return code;
  } catch (const bitcycle::InputError& e) {
    fmt::print(stderr, "bitcycle: {}\n", e.what());
    return 2;
  } catch (const std::filesystem::filesystem_error& e) {
    fmt::print(stderr, "bitcycle: {}: found {}, allowed: a usable path\n", e.path1().string(),
               e.code().message());
    return 2;
  } catch (const std::system_error& e) {  // fmt::print of a report that cannot be written
    fmt::print(stderr, "bitcycle: standard output: found {}, allowed: a writable output\n",
               e.code().message());
    return 2;
  } catch (const std::exception& e) {
    fmt::print(stderr, "bitcycle: {}\n", e.what());
    return 1;
  }
}
