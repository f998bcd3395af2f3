#include "sim/plot.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "golden/error.hpp"
#include "sim/cli.hpp"

namespace bitcycle {
namespace {

constexpr double kUnitsPerInch = 96.0;

bool ends_with(const std::string& text, const std::string& tail) {
  return text.size() > tail.size() &&
         text.compare(text.size() - tail.size(), tail.size(), tail) == 0;
}

// Runs gnuplot without a shell, so that no file name can be taken for a command.
int run_gnuplot(const std::vector<std::string>& args, const std::string& log) {
  std::vector<char*> argv;
  std::string program = "gnuplot";
  argv.push_back(program.data());
  std::vector<std::string> copies = args;
  for (auto& arg : copies) argv.push_back(arg.data());
  argv.push_back(nullptr);

  // Dates in UTC have one form, which remove_date() knows. The first of two entries counts.
  std::vector<std::string> environment = {"TZ=UTC0"};
  for (char** e = environ; *e != nullptr; ++e) environment.emplace_back(*e);
  std::vector<char*> envp;
  envp.reserve(environment.size() + 1);
  for (auto& e : environment) envp.push_back(e.data());
  envp.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t pid = 0;
  const int error =
      posix_spawnp(&pid, program.c_str(), &actions, nullptr, argv.data(), envp.data());
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return 127;  // as a shell says "not found"
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

InputError no_gnuplot() {
  return input_error("", 0, "--plot", "no gnuplot on this machine",
                     "gnuplot in PATH (Debian: gnuplot-nox)");
}

// First line of gnuplot's log that says something.
std::string first_message(const std::string& log) {
  std::ifstream in(log);
  for (std::string line; std::getline(in, line);) {
    if (line.find_first_not_of(" \t^") != std::string::npos) return line;
  }
  return "an error without a message";
}

// Overwrites the date that cairo puts into every PDF; the length stays, as the file's own table of
// offsets demands.
void remove_date(const std::string& pdf) {
  std::ifstream in(pdf, std::ios::binary);
  std::ostringstream content;
  content << in.rdbuf();
  std::string text = content.str();
  const std::string head = "/CreationDate (D:";
  const std::string epoch = "19700101000000";
  const auto place = text.rfind(head);
  if (place == std::string::npos || place + head.size() + epoch.size() > text.size()) return;
  text.replace(place + head.size(), epoch.size(), epoch);
  write_file(pdf, text);
}

// Files that must not outlive the drawing, whatever happens.
struct Scratch {
  std::string script, log, figure;
  ~Scratch() {
    for (const auto& path : {script, log, figure}) std::remove(path.c_str());
  }
};

}  // namespace

std::string plot_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    if (c == '\'') out += c;
  }
  return out + "'";
}

void check_plot_path(const std::string& path) {
  if (!ends_with(path, ".svg") && !ends_with(path, ".pdf")) {
    throw input_error("", 0, "--plot", "'" + path + "'", "a file that ends in .svg or .pdf");
  }
  if (run_gnuplot({"--version"}, "/dev/null") != 0) throw no_gnuplot();
}

void draw_plot(const PlotScript& script, const std::string& path) {
  const std::string base = temporary_beside(path);
  const Scratch scratch{base + ".gp", base + ".log", base + ".out"};
  const std::string terminal =
      ends_with(path, ".pdf")
          ? fmt::format("set terminal pdfcairo size {:.3f}in,{:.3f}in font 'Helvetica,9'\n",
                        script.width / kUnitsPerInch, script.height / kUnitsPerInch)
          : fmt::format("set terminal svg size {},{} font 'Helvetica,12' background rgb 'white'\n",
                        script.width, script.height);
  write_file(scratch.script,
             terminal + "set output " + plot_quoted(scratch.figure) + "\n" + script.body);
  const int code = run_gnuplot({scratch.script}, scratch.log);
  if (code == 127) throw no_gnuplot();
  std::error_code ignored;
  if (code != 0 || !std::filesystem::exists(scratch.figure, ignored) ||
      std::filesystem::file_size(scratch.figure, ignored) == 0) {
    throw input_error(path, 0, "gnuplot", first_message(scratch.log), "a script it can draw");
  }
  if (ends_with(path, ".pdf")) remove_date(scratch.figure);
  if (std::rename(scratch.figure.c_str(), path.c_str()) != 0) {
    throw input_error(path, 0, "output file", "a path that cannot be written", "a writable path");
  }
}

}  // namespace bitcycle
