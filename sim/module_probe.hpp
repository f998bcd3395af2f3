// Pins and activity of one RTL module inside the running cycle-accurate core: what its netlist is
// driven with, what it must answer, and what the event model may know of it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "model/array_config.hpp"
#include "model/core.hpp"

namespace bitcycle {

/// Registers of a core by name.
class RegisterReader {
 public:
  explicit RegisterReader(ArrayCore& core);
  /// Throws std::logic_error if there is no such register.
  const RegisterView& view(const std::string& name) const;
  std::uint64_t value(const std::string& name) const;

 private:
  std::map<std::string, const RegisterView*> views_;
};

class ModuleProbe {
 public:
  struct Port {
    std::string name;
    std::size_t bits = 1;
    std::vector<std::uint64_t> value;  ///< this cycle
    bool known = true;                 ///< outputs: whether the value is determined yet
    bool optional = false;             ///< may be absent from the netlist (open_boxes)
  };

  ModuleProbe() = default;
  ModuleProbe(const ModuleProbe&) = delete;
  ModuleProbe& operator=(const ModuleProbe&) = delete;
  virtual ~ModuleProbe() = default;

  /// RTL module, its parameters and the files it is made from (in rtl/).
  const std::string& module() const { return module_; }
  const std::vector<std::pair<std::string, int>>& parameters() const { return parameters_; }
  const std::vector<std::string>& files() const { return files_; }
  /// Modules in it that are no part of its netlist; their pins are ports called "instance.pin".
  const std::vector<std::string>& left_out() const { return left_out_; }

  /// Every input but the clock, every output that is compared.
  const std::vector<Port>& inputs() const { return inputs_; }
  const std::vector<Port>& outputs() const { return outputs_; }
  const std::vector<std::string>& feature_names() const { return feature_names_; }
  const std::vector<std::string>& feature_descriptions() const { return feature_descriptions_; }
  const std::vector<double>& features() const { return features_; }

  /// Reads pins, expected outputs and features of the cycle that the last edge has begun. `coming`:
  /// inputs of the next edge.
  virtual void observe(const ArrayStep& coming) = 0;

 protected:
  std::size_t add_input(const std::string& name, std::size_t bits);
  std::size_t add_output(const std::string& name, std::size_t bits);
  void add_feature(const std::string& name, const std::string& description);
  void add_features(const std::vector<std::string>& names,
                    const std::vector<std::string>& descriptions);
  /// A value of up to 64 bits on an input; a known one on an output.
  void drive(std::size_t input, std::uint64_t value) { inputs_[input].value[0] = value; }
  void drive(std::size_t input, const std::uint64_t* words);
  void expect(std::size_t output, std::uint64_t value);
  void expect(std::size_t output, const std::uint64_t* words);
  /// Changed bits of an input since the cycle before (call once a cycle for each).
  int changed(std::size_t input);

  std::string module_;
  std::vector<std::pair<std::string, int>> parameters_;
  std::vector<std::string> files_, left_out_;
  std::vector<Port> inputs_, outputs_;
  std::vector<std::vector<std::uint64_t>> last_;
  std::vector<std::string> feature_names_, feature_descriptions_;
  std::vector<double> features_;
};

/// Modules of the array that can be characterised: those of array_modules().
const std::vector<std::string>& probe_names();

/// The array in which an instance of module `name` of `config` is observed: a small one where the
/// module does not depend on the number of rows and columns.
ArrayConfig probe_array(const std::string& name, const ArrayConfig& config);

/// Probe of bc_array without its modules ("glue"); both must outlive it.
std::unique_ptr<ModuleProbe> make_glue_probe(const ArrayConfig& array, ArrayCore& core);

/// A probe of module `name` of `core`, an array with the parameters `array`; one instance of it,
/// off the edge; or "whole", the array's own ports. Both must outlive it. Throws InputError with a
/// suggestion for an unknown name.
std::unique_ptr<ModuleProbe> make_probe(const std::string& name, const ArrayConfig& array,
                                        ArrayCore& core);

}  // namespace bitcycle
