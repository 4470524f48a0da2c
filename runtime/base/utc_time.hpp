#pragma once

#include <chrono>
#include <ctime>
#include <string>

namespace weir::base {

// A time in UTC by a strftime format of at most 63 characters' result.
inline std::string utcText(std::time_t time, const char* format) {
    std::tm parts{};
    ::gmtime_r(&time, &parts);
    char text[64];
    return {text, std::strftime(text, sizeof text, format, &parts)};
}

// "2026-11-29T23:38:29Z"
inline std::string isoTime(std::time_t time) { return utcText(time, "%Y-%m-%dT%H:%M:%SZ"); }
inline std::string isoTime(std::chrono::system_clock::time_point time) {
    return isoTime(std::chrono::system_clock::to_time_t(time));
}

}  // namespace weir::base
