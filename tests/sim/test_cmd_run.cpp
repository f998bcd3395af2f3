// The command `run`: what it writes and where.
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "golden/error.hpp"
#include "sim/cmd_run.hpp"
#include "tests/sim/capture.hpp"

using namespace bitcycle;
using Catch::Matchers::Contains;

TEST_CASE("run refuses two outputs in one file, however it is spelt") {
  const TemporaryFolder folder;
  const std::string path = folder / "out", same = folder.path() + "/./out";
  std::string text;
  try {
    cmd_run({"--network", "resnet8-cifar10", "--batch", "1", "--csv", path, "--json", same});
  } catch (const InputError& e) {
    text = e.what();
  }
  CHECK_THAT(text, Contains("out twice, allowed: each once"));
  CHECK_FALSE(std::filesystem::exists(path));
}
