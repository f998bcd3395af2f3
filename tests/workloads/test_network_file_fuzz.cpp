// Mutated network files: an InputError of one line, or a network; nothing else, and soon.
#include <catch2/catch.hpp>
#include <random>

#include "golden/error.hpp"
#include "workloads/network_file.hpp"
#include "workloads/network_library.hpp"

namespace bitcycle {
namespace {

// One or two small changes, or a cut.
std::string mutated(std::string text, const std::string& other, std::mt19937_64& random) {
  static const std::vector<std::string> words = {
      "0",         "-1",     "1e30",   "NaN",   "18446744073709551616",
      "&a ",       "*a",     "{",      "}",     "[",
      "]",         ": ",     "- ",     "$",     "$(",
      "\"",        "'",      "\t",     "\r\n",  "#",
      "|\n",       ">\n",    "!!int ", "\xff",  "\xc3",
      "? ",        "---\n",  "...\n",  "%TAG",  "<<: ",
      "times",     "inputs", "nodes",  "null ", "\x00",
      "4294967295"};
  const auto below = [&random](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  const std::size_t changes = 1 + below(2);
  for (std::size_t i = 0; i < changes && !text.empty(); ++i) {
    const std::size_t place = below(text.size());
    switch (below(7)) {
      case 0:
        text[place] = static_cast<char>(random());
        break;
      case 1:
        text.erase(place, 1 + below(20));
        break;
      case 2:
        text.insert(place, words[below(words.size())]);
        break;
      case 3:
        text.resize(place);
        break;
      case 4:
        text.insert(place, text.substr(below(text.size()), below(200)));
        break;
      case 5:
        text.insert(place, other.substr(below(other.size()), below(200)));
        break;
      default:
        std::swap(text[place], text[below(text.size())]);
    }
  }
  return text;
}

TEST_CASE("mutated network files are refused in one line or give a network",
          "[network-file][random]") {
  const std::uint64_t seed = 71;
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  std::vector<std::string> files;
  for (const LibraryNetwork& entry : library_networks()) {
    if (files.empty() || library_file(entry.file) != files.back()) {
      files.push_back(library_file(entry.file));
    }
  }
  int good = 0, refused = 0;
  for (int i = 0; i < 3000; ++i) {
    const std::string text =
        mutated(files[random() % files.size()], files[random() % files.size()], random);
    INFO("round " << i);
    try {
      const NetworkFile file = parse_network_file(text, "f.yaml");
      const std::vector<std::string> names = file.names();
      const Graph graph = expand_network(file, names[random() % names.size()]);
      const Network network = build_network(graph);
      (void)training_gemms(network, network.batch);
      ++good;
    } catch (const InputError& error) {
      ++refused;
      const std::string message = error.what();
      REQUIRE(message.find('\n') == std::string::npos);
      REQUIRE(message.size() < 3000);
      REQUIRE(message.find("found") != std::string::npos);
    }
  }
  // Both must occur, or the mutations are too harsh or too mild to test anything.
  CHECK(good > 200);
  CHECK(refused > 300);
}

}  // namespace
}  // namespace bitcycle
