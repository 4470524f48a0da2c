#include <sysexits.h>
#include <unistd.h>

#include <cstdio>

#include "base/log.hpp"
#include "data/configuration.hpp"
#include "gateway/commands.hpp"
#include "gateway/gateway.hpp"
#include "gateway/log_output.hpp"

namespace weir::gateway {

int checkCommand(const Arguments& arguments) {
    logToTerminal();
    auto configuration = data::loadConfiguration(arguments.file, arguments.overrides, config::readEnvironment(environ));
    if (!configuration) return fail(EX_CONFIG, configuration.error().text());
    auto gateway = Gateway::prepare(std::move(*configuration));
    if (!gateway) return fail(EX_CONFIG, gateway.error().text());
    for (const std::string& warning : (*gateway)->takeWarnings()) base::logWarning(warning);
    const Gateway::Counts counts = (*gateway)->counts();
    std::printf("%s is good: %zu plugins, %zu selectors, %zu rules\n", arguments.file.c_str(), counts.plugins,
                counts.selectors, counts.rules);
    return EX_OK;
}

}  // namespace weir::gateway
