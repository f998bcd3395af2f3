#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "golden/error.hpp"
#include "sim/cli.hpp"

using namespace bitcycle;
namespace fs = std::filesystem;

namespace {

// A fresh directory, removed at the end.
class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("bitcycle_cli_" + std::to_string(::getpid()))) {
    fs::create_directories(path_);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { fs::remove_all(path_); }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

std::string content(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_CASE("write_file replaces a regular file and leaves nothing beside it") {
  const Folder folder;
  write_file(folder / "a", "old");
  write_file(folder / "a", "new");
  CHECK(content(folder / "a") == "new");
  CHECK(std::distance(fs::directory_iterator(folder / ""), fs::directory_iterator()) == 1);
}

TEST_CASE("write_file writes into a pipe and does not replace it") {
  const Folder folder;
  const std::string pipe = folder / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  std::string got;
  std::thread reader([&] { got = content(pipe); });
  write_file(pipe, "text");
  reader.join();
  CHECK(got == "text");
  CHECK(fs::is_fifo(pipe));
}

TEST_CASE("write_file writes the file behind a link") {
  const Folder folder;
  write_file(folder / "target", "old");
  fs::create_symlink(folder / "target", folder / "link");
  write_file(folder / "link", "new");
  CHECK(fs::is_symlink(folder / "link"));
  CHECK(content(folder / "target") == "new");
}

TEST_CASE(
    "write_file follows a chain of links to a file that is not there yet, also across disks") {
  const Folder folder;
  fs::create_symlink("second", folder / "first");
  fs::create_directory(folder / "there");
  fs::create_symlink("there/file", folder / "second");
  write_file(folder / "first", "new");
  CHECK(fs::is_symlink(folder / "first"));
  CHECK(fs::is_symlink(folder / "second"));
  CHECK(content(folder / "there/file") == "new");
  // A temporary beside the link could not be renamed to another disk.
  if (fs::is_directory("/dev/shm")) {
    const std::string far = "/dev/shm/bitcycle-test-" + std::to_string(::getpid());
    fs::create_symlink(far, folder / "far");
    write_file(folder / "far", "other disk");
    CHECK(content(far) == "other disk");
    CHECK(fs::is_symlink(folder / "far"));
    fs::remove(far);
  }
  fs::create_symlink("round", folder / "round");
  CHECK_THROWS_AS(write_file(folder / "round", "text"), InputError);
}

TEST_CASE("write_file reports a full device") {
  CHECK_THROWS_AS(write_file("/dev/full", "text"), InputError);
  CHECK(fs::is_character_file("/dev/full"));
}
