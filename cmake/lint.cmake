# Style and static checks. `lint` is what CI runs; `tidy` takes longer than everything else and runs
# with scripts/test --full; `format` is the only one that changes files.

find_program(CLANG_FORMAT clang-format)
find_program(CLANG_TIDY clang-tidy)
find_package(Python3 COMPONENTS Interpreter)

if(CLANG_FORMAT)
  add_custom_target(format-check COMMAND ${CMAKE_SOURCE_DIR}/scripts/format --check
    COMMENT "Checking the format of the C++ sources" USES_TERMINAL VERBATIM)
  add_custom_target(format COMMAND ${CMAKE_SOURCE_DIR}/scripts/format
    COMMENT "Formatting the C++ sources" USES_TERMINAL VERBATIM)
endif()

if(CLANG_TIDY AND Python3_FOUND)
  # The program, not its tests: those take longer than everything else and ship nowhere
  # (scripts/tidy without paths looks at all). Only files whose text, headers or flags changed
  # since they last passed are looked at again.
  # One cache for all presets.
  add_custom_target(tidy
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/scripts/tidy --build ${CMAKE_BINARY_DIR}
            --cache ${CMAKE_SOURCE_DIR}/build/tidy-cache
            golden model workloads sim benchmarks
    WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}
    COMMENT "Running clang-tidy on what changed" USES_TERMINAL VERBATIM)
endif()

add_custom_target(lint-rtl
  COMMAND ${CMAKE_SOURCE_DIR}/scripts/lint-rtl --program $<TARGET_FILE:bitcycle>
          ${BITCYCLE_ARCH_CI} ${BITCYCLE_ARCH_PRESETS}
  DEPENDS bitcycle
  COMMENT "Linting the RTL" USES_TERMINAL VERBATIM)

find_program(SHELLCHECK shellcheck)
if(SHELLCHECK)
  add_custom_target(lint-shell COMMAND ${CMAKE_SOURCE_DIR}/scripts/lint-shell
    COMMENT "Checking the shell scripts" USES_TERMINAL VERBATIM)
endif()

# One after the other: each uses every core or prints to the terminal.
add_custom_target(lint)
foreach(part format-check lint-rtl lint-shell)
  if(TARGET ${part})
    add_dependencies(lint ${part})
  else()
    message(STATUS "Lint: no ${part} (its tool is not installed; scripts/setup)")
  endif()
endforeach()
