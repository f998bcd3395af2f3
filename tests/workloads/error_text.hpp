// What an InputError says, for tests of messages.
#pragma once

#include <string>

#include "golden/error.hpp"

namespace bitcycle {

/// what() of the InputError that `action` throws; "" if it throws none. Any other exception passes.
template <typename Action>
std::string error_text(const Action& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace bitcycle
