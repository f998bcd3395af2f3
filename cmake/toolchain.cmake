# Finds and checks every tool and library; defines bitcycle_options, which every target links.

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE})
endif()

find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
find_package(Boost 1.74 REQUIRED COMPONENTS program_options)
find_package(yaml-cpp 0.7 REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(fmt 9 REQUIRED)
# Its stream reader only: ONNX files are read field by field.
pkg_check_modules(protobuf REQUIRED IMPORTED_TARGET protobuf-lite)

# Debian's SystemC ships no CMake package, only pkg-config.
pkg_check_modules(systemc IMPORTED_TARGET systemc)
if(NOT systemc_FOUND OR NOT systemc_VERSION VERSION_EQUAL "2.3.4")
  message(FATAL_ERROR "bitcycle needs SystemC 2.3.4 (Debian 12: libsystemc-dev), found: "
                      "'${systemc_VERSION}'. Run scripts/setup.")
endif()

# A SystemC of another C++ standard is found by pkg-config and fails at the last link of the build.
include(CheckCXXSourceCompiles)
set(CMAKE_REQUIRED_LIBRARIES PkgConfig::systemc)
check_cxx_source_compiles(
  "#include <systemc>\nint sc_main(int, char**) { sc_core::sc_start(); return 0; }"
  BITCYCLE_SYSTEMC_LINKS)
unset(CMAKE_REQUIRED_LIBRARIES)
if(NOT BITCYCLE_SYSTEMC_LINKS)
  message(FATAL_ERROR "SystemC ${systemc_VERSION} does not link with C++${CMAKE_CXX_STANDARD}: "
                      "bitcycle needs Debian 12's build of it. Run scripts/setup.")
endif()

find_program(VERILATOR verilator)
set(VERILATOR_FOUND_VERSION "none")
if(VERILATOR)
  execute_process(COMMAND ${VERILATOR} --version OUTPUT_VARIABLE verilator_text)
  string(REGEX MATCH "[0-9]+\\.[0-9]+" VERILATOR_FOUND_VERSION "${verilator_text}")
endif()
if(NOT VERILATOR_FOUND_VERSION VERSION_EQUAL "5.006")
  message(FATAL_ERROR "bitcycle needs Verilator 5.006 (Debian 12: verilator), found: "
                      "'${VERILATOR_FOUND_VERSION}'. Run scripts/setup.")
endif()

add_library(bitcycle_options INTERFACE)
target_include_directories(bitcycle_options INTERFACE ${CMAKE_SOURCE_DIR})
target_compile_options(bitcycle_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wno-pedantic)
if(BITCYCLE_SANITIZE)
  target_compile_options(bitcycle_options INTERFACE
    -fsanitize=${BITCYCLE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(bitcycle_options INTERFACE -fsanitize=${BITCYCLE_SANITIZE})
endif()
