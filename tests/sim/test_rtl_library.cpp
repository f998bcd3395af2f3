// Finding, loading and building verilated arrays; files that are none are refused in one line.
#include <catch2/catch.hpp>

#include "golden/error.hpp"
#include "tests/sim/capture.hpp"
#include "tests/sim/lockstep_testing.hpp"
#include "tests/workloads/error_text.hpp"

namespace {

using namespace bitcycle;
using Catch::Matchers::Contains;
using Catch::Matchers::Equals;

std::string load_error(const std::string& path) {
  std::string text = error_text([&] { load_rtl_model(path, 1); });
  CHECK(text.find('\n') == std::string::npos);
  return text;
}

void write(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
}

}  // namespace

TEST_CASE("rtl library: a file that is no build of the array is refused") {
  TemporaryFolder folder;
  CHECK_THAT(load_error(folder / "missing.so"), Contains("missing.so") && Contains("RTL model"));
  write(folder / "text.so", "this is text\nof two lines\n");
  CHECK_THAT(load_error(folder / "text.so"), Contains("text.so"));
  write(folder / "empty.so", "");
  CHECK_THAT(load_error(folder / "empty.so"), Contains("empty.so"));
  write(folder / "garbage.so", std::string("\x7f"
                                           "ELF\x02\x01\x01",
                                           7) +
                                   std::string(500, '\x5a'));
  CHECK_THAT(load_error(folder / "garbage.so"), Contains("garbage.so"));
  CHECK_THAT(load_error(folder.path()), Contains("RTL model"));
  // A library, but of something else; and not searched for by its bare name.
  CHECK_THAT(load_error("libm.so.6"), Contains("libm.so.6"));
}

TEST_CASE("rtl library: half a shared object is refused") {
  TemporaryFolder folder;
  const std::string whole = read_file(std::string(BITCYCLE_BUILD_DIR) + "/rtl/plain/ci-1x1-s4.so");
  REQUIRE(whole.size() > 10000);
  write(folder / "half.so", whole.substr(0, 3000));
  CHECK_THAT(load_error(folder / "half.so"), Contains("half.so") && Contains("cut short"));
  write(folder / "almost.so", whole.substr(0, whole.size() - 1));
  CHECK_THAT(load_error(folder / "almost.so"), Contains("cut short"));
  write(folder / "whole.so", whole);
  CHECK_THAT(load_error(folder / "whole.so"), Equals(""));
}

TEST_CASE("rtl library: parameters as Verilator takes them") {
  CHECK(rtl_parameters(resolve_array("stripes-1x8")) ==
        "RA=1 RW=8 KL=8 TM=16 TN=16 S=2 BA=16 BW=64 AC_W=20 ACC_W=48 P_MAX=8 Q=16");
}

TEST_CASE("rtl library: flavours by name") {
  for (const auto flavour : kRtlFlavours) {
    CHECK(parse_flavour(to_string(flavour)) == flavour);
  }
  CHECK_THAT(error_text([] { parse_flavour("fast"); }),
             Contains("--flavour") && Contains("'fast'") && Contains("plain, wave, inject"));
}

TEST_CASE("rtl library: start values of data registers follow the seed") {
  const ArrayConfig config = resolve_array("ci-1x1-s4");
  const auto values = [&](std::uint64_t seed) {
    const auto rtl = make_rtl_model(config, RtlFlavour::kPlain, seed);
    std::vector<std::uint8_t> bytes;
    for (const auto& view : rtl->registers()) {
      if (view.name.find("chunk_q") == std::string::npos) continue;
      const auto* from = static_cast<const std::uint8_t*>(view.data);
      bytes.insert(bytes.end(), from, from + view.count * view.bytes);
    }
    REQUIRE(bytes.size() > 100);
    return bytes;
  };
  const auto first = values(1);
  CHECK(first == values(1));
  CHECK(first != values(2));
  CHECK(first != std::vector<std::uint8_t>(first.size(), 0));
}

TEST_CASE("rtl library: control registers do not depend on the seed") {
  const ArrayConfig config = resolve_array("ci-2x2-s1");
  ArrayCore core(config);
  for (const std::uint64_t seed : {1, 2, 3}) {
    const auto rtl = make_rtl_model(config, RtlFlavour::kPlain, seed);
    int control = 0;
    std::map<std::string, RegisterView> model;
    for (const auto& view : core.registers()) model[view.name] = view;
    for (const auto& view : rtl->registers()) {
      // Data registers: chunk and digit words, AC, ACC, beats, result beats.
      bool data = false;
      for (const char* name : {"chunk_q", "digit_q", "ac_q", "acc_q", "in_data_q", "u_drain.mask_q",
                               "u_drain.data_q", "u_drain.sum_a_q", "u_drain.sum_w_q"}) {
        const std::string end = name;
        data = data || (view.name.size() > end.size() &&
                        view.name.compare(view.name.size() - end.size(), end.size(), end) == 0);
      }
      if (data) continue;
      ++control;
      CAPTURE(view.name);
      REQUIRE(view.bits <= 64);
      REQUIRE(get_bits(view.data, 0, view.bits) ==
              get_bits(model.at(view.name).data, 0, view.bits));
    }
    CHECK(control > 60);
  }
}

TEST_CASE("rtl library: a plain build dumps no waveform, an inject build does") {
  TemporaryFolder folder;
  const ArrayConfig config = resolve_array("ci-1x1-s4");
  const auto plain = make_rtl_model(config, RtlFlavour::kPlain, 1);
  CHECK_FALSE(plain->open_wave((folder / "a.fst").c_str()));
  CHECK_FALSE(plain->can_inject());
  const auto able = make_rtl_model(config, RtlFlavour::kInject, 1);
  CHECK(able->can_inject());
  CHECK(able->open_wave((folder / "b.fst").c_str()));
  for (int i = 0; i < 10; ++i) able->step(ArrayStep{});
  able->close_wave();
  CHECK(read_file(folder / "b.fst").size() > 100);
}

TEST_CASE("rtl library: an illegal array is refused before anything is built") {
  ArrayConfig config = resolve_array("ci-1x1-s4");
  config.s = 3;
  CHECK_THAT(error_text([&] { make_rtl_model(config, RtlFlavour::kPlain, 1); }),
             Contains("s: found 3"));
  TemporaryFolder folder;
  CHECK_THAT(error_text([&] { verilate_array(config, RtlFlavour::kPlain, folder / "x.so"); }),
             Contains("s: found 3"));
}

TEST_CASE("rtl library: RTL that does not compile ends in one line that names the log") {
  TemporaryFolder folder;
  const ArrayConfig config = resolve_array("ci-1x1-s4");
  std::filesystem::copy(std::string(BITCYCLE_SOURCE_DIR) + "/rtl", folder / "rtl");
  write(folder / "rtl/bc_pe.sv", "module bc_pe; this is no SystemVerilog\n");
  const std::string text = error_text(
      [&] { verilate_array(config, RtlFlavour::kPlain, folder / "out.so", folder / "rtl", 1); });
  CHECK_THAT(text, Contains("verilating array ci-1x1-s4") && Contains("out.so.log"));
  CHECK(text.find('\n') == std::string::npos);
  CHECK_FALSE(std::filesystem::exists(folder / "out.so"));
  CHECK(read_file(folder / "out.so.log").find("bc_pe.sv") != std::string::npos);
}
