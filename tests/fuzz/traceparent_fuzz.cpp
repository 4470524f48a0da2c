// Input: the value of a traceparent field.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/assert.hpp"
#include "gateway/trace_context.hpp"

namespace {

using namespace weir;

bool within(std::string_view part, std::string_view whole) {
    return part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size();
}

bool isLowerHex(std::string_view text) { return text.find_first_not_of("0123456789abcdef") == text.npos; }

// W3C Trace Context 3.2, field by field.
bool isTraceparent(std::string_view value) {
    if (value.size() < 55) return false;
    const std::string_view version = value.substr(0, 2);
    const std::string_view trace = value.substr(3, 32);
    const std::string_view parent = value.substr(36, 16);
    const std::string_view flags = value.substr(53, 2);
    return isLowerHex(version) && version != "ff" && isLowerHex(trace) && trace != std::string(32, '0') &&
           isLowerHex(parent) && parent != std::string(16, '0') && isLowerHex(flags) && value[2] == '-' &&
           value[35] == '-' && value[52] == '-' && (value.size() == 55 || (version != "00" && value[55] == '-'));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view value(reinterpret_cast<const char*>(data), size);
    const auto parsed = gateway::parseTraceparent(value);
    WEIR_ASSERT(parsed.has_value() == isTraceparent(value));
    if (!parsed) return 0;
    WEIR_ASSERT(within(parsed->traceId, value) && within(parsed->parentId, value) && within(parsed->flags, value));
    WEIR_ASSERT(parsed->traceId.size() == 32 && parsed->parentId.size() == 16 && parsed->flags.size() == 2);

    gateway::IdSource ids;
    std::string written(gateway::kTraceparentLength, '?');
    gateway::writeTraceparent(written.data(), parsed->traceId, ids);
    const auto again = gateway::parseTraceparent(written);
    WEIR_ASSERT(again && again->traceId == parsed->traceId);
    return 0;
}
