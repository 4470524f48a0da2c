#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/value.hpp"
#include "config/settings.hpp"

namespace weir::config {

// `--server.port=0` on the command line: path "server.port", text "0". The text is never read as YAML.
struct Override {
    std::string path;
    std::string text;
};

using Environment = std::map<std::string, std::string>;

// The process's environment, `environ` as main sees it (an array that ends with null).
Environment readEnvironment(const char* const* variables);

// "--server.port=0" as an Override; an error when it does not look like that. Whether the path exists is not asked.
base::Result<Override> parseOverride(std::string_view argument);

// Settings by precedence: command line > environment (WEIR_SERVER_PORT) > file > defaults. `tree` is what stands under
// `weir:` in the file (a null Value: nothing), `fileName` names that file in messages and its directory is the base of
// relative paths. Variables that begin with WEIR_ and mean no setting become warnings, but for `usedVariables`.
// `shenyu` is what the same file says in ShenYu's words (see readShenyuSettings()); what stands under `weir:` goes
// before it, with a warning where they differ.
base::Result<Settings> readSettings(const base::Value& tree, std::string_view fileName,
                                    const std::vector<Override>& overrides, const Environment& environment,
                                    std::vector<std::string>& warnings, const base::Value& shenyu = {},
                                    const std::set<std::string>& usedVariables = {});

// Every setting with its variable, its default and what it does, one paragraph each, for `--help`.
std::string describeSettings();

}  // namespace weir::config
