#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "config/settings.hpp"

namespace weir::config {

// Where a setting's value goes; the type decides how its text is read.
using Target = std::variant<std::string*, bool*, int*, std::size_t*, std::chrono::milliseconds*,
                            std::filesystem::path*, Secret*, HeaderName*, Token*, RequestPath*, TokenList*,
                            ReplaceList*, PathList*, DotSegments*, DoubleSlashes*, EncodedSlashes*,
                            AccessLogFormat*, ErrorStatus*, LogLevel*, MatchChoice*, Traceparent*>;

// One row per setting: reading of files, command line and environment, messages and --help all come from it.
struct Setting {
    std::string_view path;          // "server.port", as in the file below `weir:` and after `--`
    Target (*member)(Settings&);
    std::string_view help;
    // Numbers as they are, times in milliseconds; of a secret, how many hex digits it must be (0: any text).
    std::int64_t min = 0;
    std::int64_t max = 0;
    std::int64_t plainUnit = 1;     // milliseconds that a plain number of a time means
    std::string_view zeroWord = {};  // a word that means 0

    bool isSecret() const;
    // What a value must be, for messages and help: "a number from 0 to 65535".
    std::string expected() const;
    // "WEIR_EXT_PLUGIN_SCHEDULE_TIME"
    std::string variable() const;
};

std::span<const Setting> settingsTable();

// The paths of those that differ, in the order of the table.
std::vector<std::string_view> changedSettings(Settings before, Settings after);

// "30s", "500ms", "1h": the largest unit that says it exactly.
std::string durationText(std::chrono::milliseconds time);

// How the values of an enum are written.
template <class Enum>
struct Named {
    std::string_view name;
    Enum value;
};
template <class Enum>
std::span<const Named<Enum>> namesOf();  // for each enum that is a Target

}  // namespace weir::config
