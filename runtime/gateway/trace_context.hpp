#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "gateway/request_id.hpp"

namespace weir::gateway {

// W3C Trace Context: https://www.w3.org/TR/trace-context/

inline constexpr std::string_view kTraceparent = "traceparent";
inline constexpr std::string_view kTracestate = "tracestate";
inline constexpr std::size_t kTraceparentLength = 55;

// Views into the value they were read from.
struct TraceParent {
    std::string_view traceId;   // 32 lower-case hex digits
    std::string_view parentId;  // 16
    std::string_view flags;     // 2
};

// Section 3.2: version 00 exactly; of a later one the part we know, which may be followed by "-" and more. Version ff,
// ids of zeros and upper case are not valid.
std::optional<TraceParent> parseTraceparent(std::string_view value);

// Writes kTraceparentLength bytes: version 00, this trace (32 digits), a new parent id and the flags 01 (sampled):
// services that follow their caller's flag then record what they would record without a caller.
void writeTraceparent(char* to, std::string_view traceId, IdSource& ids);

}  // namespace weir::gateway
