// Drives a module of protocol assertions: legal traffic must pass, and every rule must fire, with
// its own message, on a trace that breaks it.
#pragma once

#include <unistd.h>
#include <verilated.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <string>

#include "Vdut.h"

namespace bitcycle::unit {

class Props {
 public:
  Props() {
    context_.debug(0);
    context_.fatalOnError(false);
    Verilated::threadContextp(&context_);
    top_ = std::make_unique<Vdut>(&context_, "TOP");
  }
  Vdut* operator->() { return top_.get(); }

  /// All inputs low, reset for a cycle; two cycles later the assertions are alive.
  void reset(const std::function<void(Vdut&)>& idle) {
    idle(*top_);
    top_->clk_i = 0;
    top_->rst_ni = 1;
    top_->eval();
    top_->rst_ni = 0;
    top_->eval();
    step();
    top_->rst_ni = 1;
    step();
    step();
  }
  void step() {
    top_->eval();
    top_->clk_i = 1;
    top_->eval();
    top_->clk_i = 0;
    top_->eval();
  }
  bool fired() const { return context_.gotError(); }

  /// Runs `trace`, which breaks a rule: an assertion with `message` must fire.
  void breaks(const std::string& message, const std::function<void()>& trace) {
    std::fflush(stdout);
    char path[] = "/tmp/bitcycle_props_XXXXXX";
    const int file = mkstemp(path);
    const int saved = dup(STDOUT_FILENO);
    dup2(file, STDOUT_FILENO);
    trace();
    std::fflush(stdout);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    close(file);
    std::ifstream in(path);
    const std::string text((std::istreambuf_iterator<char>(in)), {});
    unlink(path);
    const bool good = fired() && text.find(message) != std::string::npos;
    std::printf("%s: %s\n", good ? "fires" : "SILENT", message.c_str());
    if (!good) {
      std::printf("%s", text.c_str());
      failed_ = true;
    }
    context_.gotError(false);
    context_.gotFinish(false);
  }
  void require(bool good, const char* what) {
    if (good) return;
    std::printf("FAILED: %s\n", what);
    failed_ = true;
  }
  int result() const { return failed_ ? 1 : 0; }

 private:
  VerilatedContext context_;
  std::unique_ptr<Vdut> top_;
  bool failed_ = false;
};

}  // namespace bitcycle::unit
