#include "sim/rtl_library.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "golden/error.hpp"
#include "sim/paths.hpp"
#include "sim/process.hpp"

namespace bitcycle {
namespace {

namespace fs = std::filesystem;

// 64-bit FNV-1a over everything that a build is made from.
std::string source_hash() {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  const auto add = [&](const std::string& text) {
    for (const char c : text) {
      hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    }
  };
  const fs::path source = source_dir();
  std::vector<fs::path> files = {
      source / "sim/rtl_plugin.cpp",        source / "sim/rtl_plugin.hpp",
      source / "sim/machine_plugin.cpp",    source / "sim/machine_plugin.hpp",
      source / "sim/verilated_model.hpp",   source / "model/array.hpp",
      source / "model/machine/machine.hpp", source / "model/machine/axi.hpp",
      source / "scripts/verilate-array"};
  for (const auto& entry : fs::directory_iterator(source / "rtl")) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const auto& file : files) {
    std::ifstream in(file, std::ios::binary);
    add(file.filename().string());
    add(std::string(std::istreambuf_iterator<char>(in), {}));
  }
  return fmt::format("{:016x}", hash);
}

fs::path cache_dir() {
  const auto from = [](const char* variable) {
    const char* value = std::getenv(variable);
    return std::string(value != nullptr ? value : "");
  };
  if (const std::string own = from("BITCYCLE_CACHE"); !own.empty()) return own;
  if (const std::string xdg = from("XDG_CACHE_HOME"); !xdg.empty())
    return fs::path(xdg) / "bitcycle";
  const std::string home = from("HOME");
  return home.empty() ? fs::temp_directory_path() / "bitcycle" : fs::path(home) / ".cache/bitcycle";
}

// True for a shared object that ends before its section table, which linkers write last: dlopen
// would map what is not there and die of a bus error.
bool is_cut_short(const std::string& file) {
  Elf64_Ehdr header{};
  std::ifstream in(file, std::ios::binary);
  in.read(reinterpret_cast<char*>(&header), sizeof header);
  if (!in || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return false;
  std::error_code ignored;
  const std::uint64_t size = fs::file_size(file, ignored);
  return header.e_shoff > size ||
         size - header.e_shoff < std::uint64_t{header.e_shnum} * header.e_shentsize;
}

// CMake names a prebuilt file after the preset whose parameters it has.
std::string prebuilt(const ArrayConfig& config, RtlFlavour flavour) {
  for (const auto* list : {&array_presets(), &ci_configs()}) {
    for (const auto& known : *list) {
      if (known.key() != config.key()) continue;
      const fs::path file =
          fs::path(build_dir()) / "rtl" / to_string(flavour) / (known.name + ".so");
      if (fs::exists(file)) return file.string();
    }
  }
  return "";
}

}  // namespace

std::string to_string(RtlFlavour flavour) {
  switch (flavour) {
    case RtlFlavour::kPlain:
      return "plain";
    case RtlFlavour::kWave:
      return "wave";
    case RtlFlavour::kInject:
      return "inject";
    case RtlFlavour::kGated:
      return "gated";
  }
  return "";
}

RtlFlavour parse_flavour(const std::string& text) {
  for (const auto flavour : kRtlFlavours) {
    if (text == to_string(flavour)) return flavour;
  }
  throw input_error("", 0, "--flavour", "'" + text + "'", "plain, wave, inject, gated");
}

std::string rtl_parameters(const ArrayConfig& c) {
  return fmt::format(
      "RA={} RW={} KL={} TM={} TN={} S={} BA={} BW={} AC_W={} ACC_W={} P_MAX={} Q={}", c.ra, c.rw,
      c.kl, c.tm, c.tn, c.s, c.ba, c.bw, c.ac_w, c.acc_w, c.p_max, c.q);
}

std::string rtl_parameters(const MachineConfig& c) {
  return fmt::format("{} GL={} DW={} L1A_D={} L1W_D={} OB_D={} PS_D={} QD={} OUT={} BURST={}",
                     rtl_parameters(c.array), c.gl, c.dw, c.l1a_d, c.l1w_d, c.ob_d, c.ps_d, c.qd,
                     c.out, c.burst);
}

namespace {

void verilate(const std::string& top, const std::string& name, const std::string& parameters,
              RtlFlavour flavour, const std::string& out, const std::string& rtl_dir, int jobs) {
  std::vector<std::string> words = {source_dir() + "/scripts/verilate-array",
                                    "--top",
                                    top,
                                    "--out",
                                    out,
                                    "--flavour",
                                    to_string(flavour)};
  if (!rtl_dir.empty()) words.insert(words.end(), {"--rtl", rtl_dir});
  if (jobs > 0) words.insert(words.end(), {"--jobs", std::to_string(jobs)});
  for (std::size_t at = 0; at < parameters.size();) {
    const std::size_t end = std::min(parameters.find(' ', at), parameters.size());
    words.push_back(parameters.substr(at, end - at));
    at = end + 1;
  }
  std::error_code ignored;
  fs::create_directories(fs::absolute(out).parent_path(), ignored);
  const std::string log = out + ".log";
  const int code = run_logged(words, log);
  if (code != 0) {
    std::ifstream in(log);
    std::string line;
    std::string first_error;
    while (std::getline(in, line)) {
      if (first_error.empty() && line.find("rror") != std::string::npos) first_error = line;
    }
    throw input_error("", 0, "verilating " + name,
                      fmt::format("exit code {} ({})", code, first_error), "see " + log);
  }
  fs::remove(log, ignored);
}

// Loads a shared object and finds its two functions.
template <class Version, class Make>
Make load(const std::string& path, const char* version_name, const char* make_name, int wanted) {
  // dlopen searches the library path for a bare name.
  const std::string file = fs::absolute(path).string();
  if (is_cut_short(file)) {
    throw input_error(path, 0, "RTL model", "a shared object that is cut short",
                      "a file made by 'bitcycle verilate'");
  }
  void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* why = dlerror();
    throw input_error(path, 0, "RTL model", why != nullptr ? why : "nothing that loads",
                      "a file made by 'bitcycle verilate'");
  }
  const auto version = reinterpret_cast<Version>(dlsym(handle, version_name));
  const auto make = reinterpret_cast<Make>(dlsym(handle, make_name));
  if (version == nullptr || make == nullptr || version() != wanted) {
    throw input_error(path, 0, "RTL model", "no build of this version of the RTL",
                      "a file made by this version's 'bitcycle verilate'");
  }
  // The object stays loaded: models may outlive any handle that we could close.
  return make;
}

// A build in the cache, verilated now if it is not there.
std::string cached(const std::string& top, const std::string& name, const std::string& key,
                   const std::string& parameters, RtlFlavour flavour) {
  const fs::path file = cache_dir() / source_hash() / to_string(flavour) / (key + ".so");
  if (!fs::exists(file)) {
    fmt::print(stderr,
               "bitcycle: verilating {} ({}), once; ten seconds to a minute for most. Kept in {}\n",
               name, to_string(flavour), cache_dir().string());
    verilate(top, name, parameters, flavour, file.string(), "", 0);
  }
  return file.string();
}

// Flavours that serve: a build that can do more serves as well.
std::vector<RtlFlavour> able(RtlFlavour flavour) {
  if (flavour == RtlFlavour::kWave) return {flavour, RtlFlavour::kInject};
  return {flavour};
}

}  // namespace

void verilate_array(const ArrayConfig& config, RtlFlavour flavour, const std::string& out,
                    const std::string& rtl_dir, int jobs) {
  config.validate();
  verilate("bc_array", "array " + config.name, rtl_parameters(config), flavour, out, rtl_dir, jobs);
}

void verilate_machine(const MachineConfig& config, RtlFlavour flavour, const std::string& out,
                      const std::string& rtl_dir, int jobs) {
  config.validate();
  verilate("bc_machine", "machine " + config.array.name, rtl_parameters(config), flavour, out,
           rtl_dir, jobs);
}

std::unique_ptr<RtlModel> load_rtl_model(const std::string& path, std::uint64_t seed) {
  return std::unique_ptr<RtlModel>(load<RtlPluginVersion, MakeRtlModel>(
      path, "bitcycle_rtl_plugin_version", "bitcycle_make_rtl_model", kRtlPluginVersion)(seed));
}

std::unique_ptr<RtlMachine> load_rtl_machine(const std::string& path, std::uint64_t seed) {
  return std::unique_ptr<RtlMachine>(load<MachinePluginVersion, MakeRtlMachine>(
      path, "bitcycle_machine_plugin_version", "bitcycle_make_rtl_machine",
      kMachinePluginVersion)(seed));
}

std::unique_ptr<RtlModel> make_rtl_model(const ArrayConfig& config, RtlFlavour flavour,
                                         std::uint64_t seed) {
  config.validate();
  for (const auto f : able(flavour)) {
    if (const std::string file = prebuilt(config, f); !file.empty()) {
      return load_rtl_model(file, seed);
    }
  }
  return load_rtl_model(
      cached("bc_array", "array " + config.name, config.key(), rtl_parameters(config), flavour),
      seed);
}

std::unique_ptr<RtlMachine> make_rtl_machine(const MachineConfig& config, RtlFlavour flavour,
                                             std::uint64_t seed) {
  config.validate();
  for (const auto f : able(flavour)) {
    const fs::path file =
        fs::path(build_dir()) / "rtl" / to_string(f) / ("machine-" + config.array.name + ".so");
    if (config.key() == machine_for(config.array).key() && fs::exists(file)) {
      return load_rtl_machine(file.string(), seed);
    }
  }
  return load_rtl_machine(cached("bc_machine", "machine " + config.array.name, config.key(),
                                 rtl_parameters(config), flavour),
                          seed);
}

}  // namespace bitcycle
