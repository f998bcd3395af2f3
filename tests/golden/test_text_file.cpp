#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "golden/error.hpp"
#include "golden/text_file.hpp"

using namespace bitcycle;

namespace {

std::string read(const std::string& path) { return read_text_file(path, "list", "a list"); }

}  // namespace

TEST_CASE("read_text_file reads all of a file, and no endless one") {
  const auto path = std::filesystem::temp_directory_path() / "bitcycle_test_text_file";
  {
    std::ofstream out(path, std::ios::binary);
    out << "a\r\nb" << '\0' << "c";
  }
  CHECK(read(path.string()) == std::string("a\r\nb\0c", 6));
  std::filesystem::resize_file(path, kLongestTextFile);
  CHECK(read(path.string()).size() == kLongestTextFile);
  std::filesystem::resize_file(path, kLongestTextFile + 1);
  CHECK_THROWS_AS(read(path.string()), InputError);
  std::filesystem::remove(path);
  CHECK_THROWS_WITH(read("/dev/zero"), Catch::Contains("more than 4 MB"));
  CHECK_THROWS_WITH(read("/no/such/file"), Catch::Contains("no readable file"));
  CHECK_THROWS_WITH(read("/"), Catch::Contains("a directory"));
}
