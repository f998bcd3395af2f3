// Savings of every experiment of both CPT papers, from the networks and settings themselves.
//
// Sources. Settings: trainers and get_flops.py of GATECH-EIC/CPT (a3cf5b05) and
// wolfecameron/BetterPrecisionSchedules (a84a1cea). Relative BitOps: computed from their formulas
// independently of this code; published savings: imgs/exp_*.png of the CPT repository.
#include <catch2/catch.hpp>
#include <cmath>
#include <map>

#include "sim/compare.hpp"

namespace bitcycle {
namespace {

using Relative = std::map<std::string, double>;

struct Experiment {
  const char* name;
  std::vector<std::string> networks;
  BitRange range;
  std::uint64_t iterations, cycles, batch;
  CycleLength length;
  Relative expected;  ///< total BitOps relative to static qmax
};

constexpr CycleLength kFloor = CycleLength::kFloor;
constexpr CycleLength kPlusOne = CycleLength::kFloorPlusOne;

CompareOptions options_of(const Experiment& e) {
  CompareOptions o;
  o.networks = e.networks;
  o.bits = {e.range};
  o.iterations = e.iterations;
  o.cycles = e.cycles;
  o.cycle_length = e.length;
  o.schedules = {"all"};
  return o;
}

void check(const Experiment& e) {
  const CompareResult result = run_compare(options_of(e));
  REQUIRE(result.rows.size() == 11 * e.networks.size());
  std::size_t compared = 0;
  for (const CompareRow& row : result.rows) {
    INFO(e.name << " " << row.network << " " << row.schedule);
    CHECK(row.batch == e.batch);
    CHECK(row.cycles > 0);
    CHECK(row.energy.total() > 0);
    const auto found = e.expected.find(row.schedule);
    if (found == e.expected.end()) continue;
    ++compared;
    CHECK(std::abs(row.bitops_relative - found->second) <= 0.50001e-6);
    // No array can save more than the forward GEMM's share allows, and none costs more than static.
    CHECK(row.cycles_relative <= 1.0);
    CHECK(row.energy_relative <= 1.0);
  }
  CHECK(compared == e.expected.size() * e.networks.size());
}

TEST_CASE("CIFAR: ResNets at 3:8/8 and 3:6/6, MobileNetV2 at 4:8/8 and 4:6/6",
          "[experiments][published]") {
  check({"CIFAR 3:8/8",
         {"resnet74-cifar10", "resnet152-cifar10", "resnet74-cifar100", "resnet152-cifar100"},
         {3, 8, 8, 8},
         64000,
         8,
         128,
         kFloor,
         {{"CR", .633375},
          {"CT", .633419},
          {"LR", .627569},
          {"LT", .627613},
          {"ER", .822415},
          {"ETV", .634786},
          {"ETH", .822459},
          {"RR", .398965},
          {"RTV", .637254},
          {"RTH", .399009}}});
  check({"CIFAR 3:6/6",
         {"resnet74-cifar10", "resnet152-cifar10"},
         {3, 6, 6, 6},
         64000,
         8,
         128,
         kFloor,
         {{"CR", .699681},
          {"CT", .699717},
          {"LR", .695940},
          {"LT", .695976},
          {"ER", .862854},
          {"ETV", .700882},
          {"ETH", .862891},
          {"RR", .497117},
          {"RTV", .702523},
          {"RTH", .497153}}});
  check({"CIFAR 4:8/8",
         {"mobilenetv2-cifar10", "mobilenetv2-cifar100"},
         {4, 8, 8, 8},
         64000,
         8,
         128,
         kFloor,
         {{"CR", .699023},
          {"CT", .699060},
          {"LR", .695277},
          {"LT", .695314},
          {"ER", .858116},
          {"ETV", .700069},
          {"ETH", .858152},
          {"RR", .501148},
          {"RTV", .701669},
          {"RTH", .501185}}});
  check({"CIFAR 4:6/6",
         {"mobilenetv2-cifar100"},
         {4, 6, 6, 6},
         64000,
         8,
         128,
         kFloor,
         {{"CR", .793184},
          {"CT", .793209},
          {"LR", .791642},
          {"LT", .791668},
          {"ER", .912182},
          {"ETV", .793753},
          {"ETH", .912207},
          {"RR", .644329},
          {"RTV", .794458},
          {"RTH", .644354}}});
}

TEST_CASE("ImageNet: ResNet-18 and -34 at 4:8/8", "[experiments][published]") {
  check({"ImageNet 4:8/8",
         {"resnet18-imagenet", "resnet34-imagenet"},
         {4, 8, 8, 8},
         450450,
         8,
         256,
         kFloor,
         {{"CR", .699053},
          {"CT", .699061},
          {"LR", .695306},
          {"LT", .695314},
          {"ER", .858149},
          {"ETV", .700068},
          {"ETH", .858157},
          {"RR", .501190},
          {"RTV", .701672},
          {"RTH", .501198}}});
}

TEST_CASE("OGBN-Arxiv: GCN at 3:8/8, both conventions of the cycle length",
          "[experiments][published]") {
  check({"Arxiv, as trained",
         {"gcn-arxiv"},
         {3, 8, 8, 8},
         500,
         8,
         1,
         kPlusOne,
         {{"CR", .624667},
          {"CT", .630292},
          {"LR", .619000},
          {"LT", .624625},
          {"ER", .817417},
          {"ETV", .631792},
          {"ETH", .823042},
          {"RR", .387729},
          {"RTV", .636354},
          {"RTH", .393354}}});
  check({"Arxiv, as get_flops.py",
         {"gcn-arxiv"},
         {3, 8, 8, 8},
         500,
         8,
         1,
         kFloor,
         {{"CR", .625958},
          {"CT", .637208},
          {"LR", .620625},
          {"LT", .631875},
          {"ER", .814854},
          {"ETV", .637104},
          {"ETH", .825625},
          {"RR", .391458},
          {"RTV", .640083},
          {"RTH", .401438}}});
}

TEST_CASE("OGBN-Products: GraphSAGE at 4:8/8", "[experiments][published]") {
  check({"Products 4:8/8",
         {"graphsage-products-sampled"},
         {4, 8, 8, 8},
         15440,
         8,
         1024,
         kFloor,
         {{"CR", .698915}, {"RR", .501061}, {"ER", .857988}}});
}

TEST_CASE("Penn Treebank: LSTM at 5:8/8", "[experiments][published]") {
  check({"PTB 5:8/8",
         {"lstm-ptb"},
         {5, 8, 8, 8},
         53080,
         8,
         20,
         kFloor,
         {{"CR", .768565},
          {"CT", .768599},
          {"LR", .766458},
          {"LT", .766492},
          {"ER", .895053},
          {"ETV", .769246},
          {"ETH", .895087},
          {"RR", .610626},
          {"RTV", .770170},
          {"RTH", .610660}}});
}

TEST_CASE("Pascal VOC: RetinaNet at 5:8/8 and 5:6/6", "[experiments][published]") {
  check({"VOC 5:8/8",
         {"retinanet-resnet18-voc", "retinanet-resnet50-voc", "retinanet-resnet101-voc"},
         {5, 8, 8, 8},
         171600,
         8,
         4,
         kFloor,
         {{"CR", .768584}, {"RR", .610635}, {"ER", .895079}}});
  // Four digits are published for 5:6/6.
  const Experiment e = {"VOC 5:6/6", {"retinanet-resnet18-voc"}, {5, 6, 6, 6}, 171600, 8, 4, kFloor,
                        {}};
  const Relative groups = {{"large", .8064}, {"medium", .8935}, {"small", .9631}};
  std::size_t compared = 0;
  for (const CompareRow& row : run_compare(options_of(e)).rows) {
    if (row.group == "static") continue;
    INFO(row.schedule);
    CHECK(std::abs(row.bitops_relative - groups.at(row.group)) <= 1e-4);
    ++compared;
  }
  CHECK(compared == 10);
}

TEST_CASE("XNLI: multilingual BERT at 5:8/8, two cycles", "[experiments][published]") {
  check({"XNLI 5:8/8",
         {"mbert-base-xnli"},
         {5, 8, 8, 8},
         12272,
         2,
         64,
         kFloor,
         {{"CR", .768548},
          {"CT", .768585},
          {"LR", .766443},
          {"LT", .766480},
          {"ER", .895057},
          {"ETV", .769246},
          {"ETH", .895094},
          {"RR", .610611},
          {"RTV", .770170},
          {"RTH", .610648}}});
}

TEST_CASE("savings that CPT's figures print", "[experiments][published]") {
  struct Row {
    const char* network;
    BitRange range;
    double published, tolerance;  // per cent, points
  };
  // Transformer 4:6/8 (-22.4 % in exp_nlp.png) is left out: the formula gives 19.96 %.
  const std::vector<Row> rows = {
      {"resnet38-cifar100", {3, 8, 8, 8}, 36.67, .01},
      {"resnet74-cifar100", {3, 8, 8, 8}, 36.67, .01},
      {"resnet110-cifar100", {3, 8, 8, 8}, 36.67, .01},
      {"resnet152-cifar100", {3, 8, 8, 8}, 36.67, .01},
      {"resnet164-bottleneck-cifar100", {3, 8, 8, 8}, 36.67, .01},
      {"mobilenetv2-cifar100", {3, 8, 8, 8}, 36.67, .01},
      {"resnet38-cifar100", {3, 6, 6, 6}, 30.04, .01},
      {"mobilenetv2-cifar100", {3, 6, 6, 6}, 30.04, .01},
      {"resnet18-imagenet", {4, 8, 8, 8}, 30.4, .4},
      {"resnet34-imagenet", {4, 8, 8, 8}, 30.2, .4},
      {"resnet50-imagenet", {4, 8, 8, 8}, 30.3, .4},
      {"resnet18-imagenet", {4, 6, 6, 6}, 21.1, .5},
      {"resnet34-imagenet", {4, 6, 6, 6}, 20.7, .5},
      {"resnet50-imagenet", {4, 6, 6, 6}, 20.9, .5},
      {"transformer-wikitext103", {4, 8, 8, 8}, 30.2, .4},
      {"lstm2-ptb", {5, 8, 8, 8}, 23.2, .2},
      {"lstm2-ptb", {5, 6, 8, 8}, 10.5, .4},
  };
  for (const Row& row : rows) {
    INFO(row.network << " " << row.range.qmin << ":" << row.range.qmax);
    CompareOptions o;
    o.networks = {row.network};
    o.bits = {row.range};
    o.schedules = {"CR"};
    o.cycles = 32;
    const double saving = 100.0 * (1.0 - run_compare(o).rows.back().bitops_relative);
    CHECK(std::abs(saving - row.published) <= row.tolerance);
  }
}

TEST_CASE("static 6/6, 6/8 and 8/8 have the published proportions of BitOps",
          "[experiments][published]") {
  const auto bitops = [](const char* network, const BitRange& range) {
    CompareOptions o;
    o.networks = {network};
    o.bits = {range};
    o.schedules = {"static"};
    return static_cast<double>(run_compare(o).rows.front().bitops);
  };
  // exp_imagenet*.png: 1.61/2.86, 3.24/5.77, 3.63/6.47; exp_nlp.png: .685 and .687.
  for (const char* network : {"resnet18-imagenet", "resnet34-imagenet", "resnet50-imagenet"}) {
    CHECK(bitops(network, {6, 6, 6, 6}) / bitops(network, {8, 8, 8, 8}) == 0.5625);
  }
  for (const char* network : {"transformer-wikitext103", "lstm2-ptb"}) {
    CHECK(bitops(network, {6, 6, 8, 8}) / bitops(network, {8, 8, 8, 8}) == 0.6875);
  }
}

TEST_CASE("hardware laws: what each kind of array makes of a schedule",
          "[experiments][published]") {
  // An ideal GEMM on the presets of the law's class, against the law itself, relative to static:
  // 2-D serial (product of bits), 1-D serial over W and A (bits), pairs of 2-bit bricks, and
  // 4-bit digits, which is Bit Fusion's rule for 3 to 8 bits (3, 4 -> 4 and 5..8 -> 8).
  struct Row {
    const char* schedules;
    double serial, stripes, brick, nibble;
  };
  const std::map<std::string, Row> rows = {
      {"CR", {"CR", .633, .6875, .7028, .7847}},   {"CT", {"CT", .633, .6875, .7028, .7847}},
      {"LR", {"LR", .628, .6875, .6999, .8249}},   {"LT", {"LT", .628, .6875, .6999, .8249}},
      {"ER", {"ER", .822, .854, .8818, .948}},     {"ETH", {"ETH", .822, .854, .8818, .948}},
      {"ETV", {"ETV", .635, .6875, .7039, .7701}}, {"RR", {"RR", .399, .476, .481, .527}},
      {"RTH", {"RTH", .399, .476, .481, .527}},    {"RTV", {"RTV", .637, .6875, .7052, .7515}},
  };
  CompareOptions o;
  o.gemm = Gemm{4096, 4096, 4096};
  o.archs = {"serial-1x1", "stripes-1x8", "brick-2x2", "nibble-4x4"};
  o.schedules = {"all"};
  std::size_t compared = 0;
  for (const CompareRow& row : run_compare(o).rows) {
    if (row.schedule == "static") continue;
    INFO(row.schedule << " " << row.arch);
    const Row& law = rows.at(row.schedule);
    const double expected = row.arch == "serial-1x1"    ? law.serial
                            : row.arch == "stripes-1x8" ? law.stripes
                            : row.arch == "brick-2x2"   ? law.brick
                                                        : law.nibble;
    CHECK(std::abs(row.cycles_relative - expected) <= 6e-4);
    ++compared;
  }
  CHECK(compared == 40);
  // 5-8 bits: no schedule saves anything on an array that knows only 4 and 8.
  o.bits = {{5, 8, 8, 8}};
  o.archs = {"nibble-4x4"};
  for (const CompareRow& row : run_compare(o).rows) CHECK(row.cycles_relative == 1.0);
}

}  // namespace
}  // namespace bitcycle
