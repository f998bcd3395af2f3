// Policies whose step is more than one pass: HALP, SPEQ, block replacement; and SWALP's averaging.
#pragma once

#include "workloads/policy.hpp"

namespace bitcycle {

/// HALP (arXiv 1803.03383; torchhalp/optim/halp.py of HazyResearch/torchhalp): each step evaluates
/// the gradient at the low-precision offset (pass 0) and at the full-precision centre (pass 1), and
/// every `recentre` steps there is a sweep over all data (pass 2: `batches` batches). So work is
/// 2 + batches/recentre times that of SGD.
struct HalpPolicySpec {
  int bits = 8;
  int centre_bits = 0;  ///< 0 = FP32
  std::uint64_t recentre = 391, batches = 391, iterations = 64000;
};

/// SWALP (ICML 2019; exp/block_vgg_swa.sh of stevenygd/SWALP): static bits, and from `start` on an
/// average of the weights in FP32, updated every `every` iterations.
struct SwalpPolicySpec {
  BitPair bits = {8, 8};
  std::uint64_t start = 78200, every = 391, iterations = 117300;
  int average_bits = 32;  ///< width of the stored average
};

/// SPEQ (arXiv 2009.14502): a student pass with fixed bits, and a forward pass of the teacher: the
/// same weights, activations with bits drawn at random per layer and forward pass.
struct SpeqPolicySpec {
  BitPair student = {2, 8};
  std::vector<std::uint64_t> teacher = {2, 3, 4, 5, 6, 7, 8};  ///< drawn with equal chance
  std::uint64_t iterations = 64000, seed = 1;
};

/// Block replacement (arXiv 2412.15846): the low-precision network trains, and mixed networks (its
/// first i blocks, then FP32 blocks) guide it. Pass 0 is the low-precision network; pass 1 the FP32
/// work of all mixed networks, i = 1 .. B-1: block j (counted from 0) runs forward and dX in j of
/// them; with `teacher` once more forward, alone in FP32. FP32 weights are frozen: no dW. The
/// low-precision blocks of a mixed network are those of pass 0 and are computed once.
struct BlockPolicySpec {
  BitPair low = {4, 8};
  std::uint64_t blocks = 4;  ///< of equal numbers of layers, in the network's order
  bool teacher = true;
  std::uint64_t iterations = 64000;
};

class HalpPolicy : public Policy {
 public:
  explicit HalpPolicy(HalpPolicySpec spec) : spec_(spec) {}
  std::uint64_t iterations() const override { return spec_.iterations; }
  void write(const TraceLayers& layers, TraceSink& sink) const override;

 private:
  HalpPolicySpec spec_;
};

class SwalpPolicy : public Policy {
 public:
  explicit SwalpPolicy(SwalpPolicySpec spec) : spec_(spec) {}
  std::uint64_t iterations() const override { return spec_.iterations; }
  void write(const TraceLayers& layers, TraceSink& sink) const override;

 private:
  SwalpPolicySpec spec_;
};

class SpeqPolicy : public Policy {
 public:
  explicit SpeqPolicy(SpeqPolicySpec spec) : spec_(std::move(spec)) {}
  std::uint64_t iterations() const override { return spec_.iterations; }
  bool by_layer() const override { return true; }
  void write(const TraceLayers& layers, TraceSink& sink) const override;

 private:
  SpeqPolicySpec spec_;
};

class BlockPolicy : public Policy {
 public:
  explicit BlockPolicy(BlockPolicySpec spec) : spec_(spec) {}
  std::uint64_t iterations() const override { return spec_.iterations; }
  bool by_layer() const override { return true; }
  void write(const TraceLayers& layers, TraceSink& sink) const override;

 private:
  BlockPolicySpec spec_;
};

class PolicySettings;
std::unique_ptr<Policy> make_halp_policy(const std::string& name, PolicySettings& settings);
std::unique_ptr<Policy> make_swalp_policy(const std::string& name, PolicySettings& settings);
std::unique_ptr<Policy> make_speq_policy(const std::string& name, PolicySettings& settings);
std::unique_ptr<Policy> make_block_policy(const std::string& name, PolicySettings& settings);

}  // namespace bitcycle
