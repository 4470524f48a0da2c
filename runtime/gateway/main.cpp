#include <sysexits.h>

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "gateway/arguments.hpp"
#include "gateway/commands.hpp"

using namespace weir::gateway;

namespace {

int dispatch(const Arguments& arguments) {
    if (arguments.help) {
        std::fputs(helpText(arguments.verb).c_str(), stdout);
        return EX_OK;
    }
    switch (arguments.verb) {
        case Verb::Run: return runCommand(arguments);
        case Verb::Check: return checkCommand(arguments);
        case Verb::Explain: return explainCommand(arguments);
        case Verb::PluginList: return pluginListCommand(arguments);
        case Verb::PluginCheck: return pluginCheckCommand(arguments);
        case Verb::PluginWhy: return pluginWhyCommand(arguments);
        case Verb::PluginDescribe: return pluginDescribeCommand(arguments);
        case Verb::PluginInstall: return pluginInstallCommand(arguments);
        case Verb::Version: return versionCommand();
        case Verb::None:
        case Verb::Plugin: break;  // parseArguments takes them with --help only
    }
    return EX_USAGE;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        const std::vector<std::string_view> words(argv + (argc > 0 ? 1 : 0), argv + argc);
        const auto arguments = parseArguments(words);
        if (arguments) return dispatch(*arguments);
        return fail(EX_USAGE, arguments.error().text() + "\nTry `weir --help`.");
    } catch (const std::exception& e) {
        return fail(EX_SOFTWARE, std::string("internal error: ") + e.what());
    }
}
