// The comparison under every lockstep: no bit of any kind of storage is overlooked.
#include <catch2/catch.hpp>
#include <stdexcept>

#include "sim/register_compare.hpp"

namespace {

using namespace bitcycle;
using Catch::Matchers::Contains;

// Registers of every storage that RTL and model use, on both sides.
struct Registers {
  std::uint8_t flag = 0;
  std::uint8_t rtl_narrow = 0;     // one byte in the RTL ...
  std::uint64_t model_narrow = 0;  // ... eight in the model
  std::uint16_t half = 0;
  std::uint32_t word = 0;
  std::uint64_t quad = 0;
  std::uint32_t rtl_wide[5] = {};    // 130 bits in 32-bit words ...
  std::uint64_t model_wide[3] = {};  // ... and in 64-bit ones
  std::uint8_t rtl_file[6] = {};
  std::uint64_t model_file[6] = {};
  std::uint64_t file[4] = {};
};

std::vector<RegisterView> rtl_views(Registers& r) {
  return {{"top.flag_q", &r.flag, 1, 1, 1},        {"top.narrow_q", &r.rtl_narrow, 1, 1, 7},
          {"top.half_q", &r.half, 1, 2, 13},       {"top.word_q", &r.word, 1, 4, 32},
          {"top.quad_q", &r.quad, 1, 8, 48},       {"top.wide_q", r.rtl_wide, 1, 20, 130},
          {"top.rtl_file_q", r.rtl_file, 6, 1, 8}, {"top.file_q", r.file, 4, 8, 64}};
}

// In another order: registers are paired by name.
std::vector<RegisterView> model_views(Registers& r) {
  return {{"top.file_q", r.file, 4, 8, 64},           {"top.rtl_file_q", r.model_file, 6, 8, 8},
          {"top.wide_q", r.model_wide, 1, 24, 130},   {"top.quad_q", &r.quad, 1, 8, 48},
          {"top.word_q", &r.word, 1, 4, 32},          {"top.half_q", &r.half, 1, 2, 13},
          {"top.narrow_q", &r.model_narrow, 1, 8, 7}, {"top.flag_q", &r.flag, 1, 1, 1}};
}

std::string construction_error(const std::vector<RegisterView>& rtl,
                               const std::vector<RegisterView>& model) {
  try {
    RegisterCompare(rtl, model);
  } catch (const std::runtime_error& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("every bit of every register is compared, on either side") {
  Registers rtl;
  Registers model;
  const auto rtl_list = rtl_views(rtl);
  const auto model_list = model_views(model);
  const RegisterCompare compare(rtl_list, model_list);
  CHECK(compare.registers() == rtl_list.size());
  REQUIRE_FALSE(compare.compare());
  for (const auto* list : {&rtl_list, &model_list}) {
    for (const auto& view : *list) {
      for (std::size_t element = 0; element < view.count; ++element) {
        for (std::size_t bit = 0; bit < view.bits; ++bit) {
          CAPTURE(view.name, element, bit);
          void* at = static_cast<std::uint8_t*>(view.data) + element * view.bytes;
          put_bits(at, bit, 1, 1);
          const auto found = compare.compare();
          REQUIRE(found);
          const std::string name =
              view.count > 1 ? view.name + "[" + std::to_string(element) + "]" : view.name;
          REQUIRE(found->signal == name);
          REQUIRE(found->rtl != found->model);
          put_bits(at, bit, 1, 0);
          REQUIRE_FALSE(compare.compare());
        }
      }
    }
  }
}

TEST_CASE("a difference shows both values in hexadecimal, as wide as the register") {
  Registers rtl;
  Registers model;
  const RegisterCompare compare(rtl_views(rtl), model_views(model));
  rtl.rtl_wide[0] = 0x89abcdefU;
  rtl.rtl_wide[4] = 2;
  model.model_wide[0] = 1;
  const auto found = compare.compare();
  REQUIRE(found);
  CHECK(found->signal == "top.wide_q");
  CHECK(found->rtl == "0x200000000000000000000000089abcdef");
  CHECK(found->model == "0x000000000000000000000000000000001");
}

TEST_CASE("start values are copied into storage of another size") {
  Registers rtl;
  Registers model;
  // Above a register's width the model's larger storage must end up zero.
  model.model_narrow = ~std::uint64_t{0};
  model.model_wide[2] = ~std::uint64_t{0};
  model.model_file[5] = ~std::uint64_t{0};
  RegisterCompare compare(rtl_views(rtl), model_views(model));
  rtl.rtl_wide[4] = 3;
  rtl.rtl_wide[1] = 0xfeedbeefU;
  rtl.rtl_file[5] = 0x5a;
  rtl.rtl_narrow = 0x7f;
  rtl.half = 0x1234;
  rtl.quad = 0x123456789abcULL;
  rtl.file[3] = ~std::uint64_t{0};
  REQUIRE(compare.compare());
  compare.copy_to_model();
  CHECK_FALSE(compare.compare());
  CHECK(model.model_wide[0] == 0xfeedbeef00000000ULL);
  CHECK(model.model_wide[2] == 3);
  CHECK(model.model_file[5] == 0x5a);
  CHECK(model.model_narrow == 0x7f);
}

TEST_CASE("a register on one side only, or of another size, is no pair") {
  Registers rtl;
  Registers model;
  auto fewer = model_views(model);
  fewer.pop_back();
  CHECK_THAT(construction_error(rtl_views(rtl), fewer),
             Contains("top.flag_q of the RTL is unknown to the model"));
  auto none = rtl_views(rtl);
  none.erase(none.begin());
  CHECK_THAT(construction_error(none, model_views(model)),
             Contains("top.flag_q of the model is unknown to the RTL"));
  auto wider = model_views(model);
  wider[3].bits = 47;
  CHECK_THAT(construction_error(rtl_views(rtl), wider),
             Contains("top.quad_q") && Contains("48 bits in the RTL") && Contains("47"));
  auto longer = model_views(model);
  longer[0].count = 3;
  CHECK_THAT(construction_error(rtl_views(rtl), longer), Contains("top.file_q"));
}
