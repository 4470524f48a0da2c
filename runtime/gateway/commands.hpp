#pragma once

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>

#include "data/configuration.hpp"
#include "gateway/arguments.hpp"

// The verbs of `weir`. Each prints what it has to say and returns the exit code, one of sysexits.h. Main thread, before
// any other thread exists.
namespace weir::gateway {

int runCommand(const Arguments& arguments);
int checkCommand(const Arguments& arguments);
int explainCommand(const Arguments& arguments);
int pluginListCommand(const Arguments& arguments);
int pluginCheckCommand(const Arguments& arguments);
int pluginWhyCommand(const Arguments& arguments);
int pluginDescribeCommand(const Arguments& arguments);
int pluginInstallCommand(const Arguments& arguments);

// Settings and data of -c, or the defaults without it; warnings are logged.
base::Result<data::Configuration> readConfiguration(const Arguments& arguments);
int versionCommand();

// What another process or a file said must not steer the terminal.
inline std::string forTerminal(std::string text) {
    std::ranges::replace_if(text, [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
    return text;
}

// "weir: TEXT" to standard error; returns `exitCode`.
inline int fail(int exitCode, std::string_view text) {
    std::fprintf(stderr, "weir: %.*s\n", static_cast<int>(text.size()), text.data());
    return exitCode;
}

}  // namespace weir::gateway
