// Activity of bc_array itself, between its modules.
#pragma once

#include "model/gates/module_activity.hpp"

namespace bitcycle {

class GlueActivity final : public ModuleActivity {
 public:
  explicit GlueActivity(const ArrayConfig& config);
  void step(const GluePins& pins, double* features);

 private:
  void step_enables(const GluePins& pins, std::size_t& feature);
  void step_read(const GluePins& pins, std::size_t& feature);
  int tm_, tn_, s_, groups_;
  bool reads_;  ///< multiplexers between accumulators and drain
  std::size_t f_[20] = {};
};

}  // namespace bitcycle
