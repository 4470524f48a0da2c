#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "config/settings_reader.hpp"
#include "manage/explain_control.hpp"

namespace weir::gateway {

enum class Verb {
    None,
    Run,
    Check,
    Explain,
    Plugin,
    PluginList,
    PluginCheck,
    PluginWhy,
    PluginDescribe,
    PluginInstall,
    Version,
};

// What the command line asks for. Poco's own option processor never sees it: it would refuse `--server.port=0`, accept
// prefixes and add --daemon.
struct Arguments {
    Verb verb = Verb::None;
    bool help = false;           // nothing else counts then
    std::filesystem::path file;  // empty: none given
    std::filesystem::path module;  // that plugin check, why and install are about
    std::string url;             // of a running gateway's management port; empty: none given
    std::vector<config::Override> overrides;
    manage::ExplainRequest explained;  // that explain is about
    bool json = false;                 // explain prints what the management port answers
};

// `words` are those behind the program's name. The error's text is a line for the user: what is wrong, what is near it.
// Whether an override's value fits its setting is not asked here.
base::Result<Arguments> parseArguments(std::span<const std::string_view> words);

// The answer to --help with that verb.
std::string helpText(Verb verb);

// "run", "plugin list"; "" for None.
std::string_view nameOf(Verb verb);

}  // namespace weir::gateway
