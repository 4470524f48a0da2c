#include <sysexits.h>

#include <cstdio>

#include "gateway/commands.hpp"
#include "weir/abi.h"

namespace weir::gateway {

// The build says the versions (CMakeLists.txt).
int versionCommand() {
    std::printf("weir %s (abi %u, %s, Boost %s, Poco %s, yaml-cpp %s)\n", WEIR_VERSION, WEIR_ABI_VERSION, WEIR_COMPILER,
                WEIR_BOOST_VERSION, WEIR_POCO_VERSION, WEIR_YAML_CPP_VERSION);
    return EX_OK;
}

}  // namespace weir::gateway
