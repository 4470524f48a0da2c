#include "base/log.hpp"

#include <cstdio>

namespace weir::base {

namespace {
void toStderr(weir_log_level, std::string_view text) {
    std::fprintf(stderr, "%.*s\n", static_cast<int>(text.size()), text.data());
}
LogSink currentSink = &toStderr;
}  // namespace

void setLogSink(LogSink sink) { currentSink = sink; }
void log(weir_log_level level, std::string_view text) { currentSink(level, text); }

}  // namespace weir::base
