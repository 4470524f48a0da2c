#include "gateway/request_tracing.hpp"

#include "gateway/trace_context.hpp"

namespace weir::gateway {

namespace {

// The fields that matter here, found in one pass: the last line of each name, and how many there are.
struct Found {
    std::string_view requestId;
    std::string_view traceparent;
    unsigned requestIds = 0;
    unsigned traceparents = 0;
    unsigned tracestates = 0;
};

Found findFields(const http::FieldTable& fields, std::string_view requestIdHeader) {
    Found found;
    const auto isNamed = [](const http::FieldTable::Field& field, std::string_view name) {
        return field.name.size() == name.size() && http::equalsIgnoreCase(field.name, name);
    };
    for (const http::FieldTable::Field& field : fields) {
        if (!field.alive()) continue;
        if (isNamed(field, requestIdHeader)) {
            found.requestId = field.value;
            ++found.requestIds;
        } else if (isNamed(field, kTraceparent)) {
            found.traceparent = field.value;
            ++found.traceparents;
        } else if (isNamed(field, kTracestate)) {
            ++found.tracestates;
        }
    }
    return found;
}

void startTrace(http::FieldTable& fields, const Found& found, std::string_view traceId, IdSource& ids) {
    if (found.traceparents == 1 && parseTraceparent(found.traceparent)) return;
    if (found.traceparents) fields.remove(kTraceparent);
    if (found.tracestates) fields.remove(kTracestate);
    char text[kTraceparentLength];
    writeTraceparent(text, traceId, ids);
    fields.add(kTraceparent, {text, sizeof text});
}

}  // namespace

void prepareTracing(chain::Exchange& exchange, const TracingSettings& settings, IdSource& ids) {
    http::FieldTable& fields = exchange.request.fields;
    const std::string& header = settings.requestIdHeader;
    const Found found = findFields(fields, header);
    auto* digits = exchange.allocateArray<char>(IdSource::kIdDigits);
    ids.writeId(digits);
    const std::string_view fresh{digits, IdSource::kIdDigits};

    exchange.requestId = fresh;
    if (settings.trustRequestId && found.requestIds == 1 && isRequestId(found.requestId)) {
        exchange.requestId = found.requestId;
    } else if (!header.empty()) {
        // Added as an edit: a Connection field of the client's cannot take it away.
        if (found.requestIds) fields.remove(header);
        fields.add(header, fresh);
    }
    if (settings.startTrace) startTrace(fields, found, fresh, ids);
}

void answerRequestId(chain::Exchange& exchange, const TracingSettings& settings) {
    if (settings.requestIdHeader.empty()) return;
    exchange.response.head.fields.set(settings.requestIdHeader, exchange.requestId);
}

}  // namespace weir::gateway
