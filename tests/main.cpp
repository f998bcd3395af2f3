// The one main() of every test program: compiling Catch2's runner takes longer than most tests.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>

// libsystemc wants a user's sc_main(); a test elaborates and starts the kernel itself.
extern "C" int sc_main(int, char**) { return 0; }
