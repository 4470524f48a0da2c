#pragma once

#include <string_view>

#include "weir/abi.h"

namespace weir::base {

// Lines for the operator. The sink is set once by main before any other thread starts and stays; it must be callable
// from any thread and must not block. Until then lines go to stderr.
using LogSink = void (*)(weir_log_level level, std::string_view text);
void setLogSink(LogSink sink);

void log(weir_log_level level, std::string_view text);
inline void logError(std::string_view text) { log(WEIR_LOG_ERROR, text); }
inline void logWarning(std::string_view text) { log(WEIR_LOG_WARNING, text); }
inline void logInfo(std::string_view text) { log(WEIR_LOG_INFORMATION, text); }

}  // namespace weir::base
