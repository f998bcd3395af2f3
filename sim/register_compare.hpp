// Compares every architectural register of two arrays.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/array.hpp"

namespace bitcycle {

/// The first difference between two arrays.
struct Mismatch {
  std::uint64_t cycle = 0;
  std::string signal;      ///< "bc_array.u_seq.d_q" or "port res_valid"
  std::string rtl, model;  ///< values, hexadecimal
};

class RegisterCompare {
 public:
  /// Pairs the registers by name. Throws InputError if a register exists on one side only
  /// or has another width: then the model is not a model of this RTL.
  RegisterCompare(const std::vector<RegisterView>& rtl, const std::vector<RegisterView>& model);

  /// Copies all registers of the RTL into the model: seeded random start values of data registers
  /// that reset leaves alone. From then on everything must be equal in every cycle.
  void copy_to_model();

  /// First register that differs, if any. Every bit of every register is looked at.
  std::optional<Mismatch> compare() const;

  std::size_t registers() const { return names_.size(); }

 private:
  struct Plain {  // same storage on both sides
    const void* rtl;
    const void* model;
    std::size_t bytes;
    std::size_t name;
  };
  struct Narrow {  // elements of different storage size, little-endian, zero above the width
    const std::uint8_t* rtl;
    const std::uint8_t* model;
    std::size_t count, rtl_bytes, model_bytes;
    std::size_t name;
  };
  Mismatch describe(std::size_t name) const;

  std::vector<std::string> names_;
  std::vector<std::pair<RegisterView, RegisterView>> views_;
  std::vector<Plain> bytes1_, bytes4_, bytes8_, blocks_;
  std::vector<Narrow> narrow_;
};

}  // namespace bitcycle
