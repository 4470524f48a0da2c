#pragma once

#include <string>

#include "chain/exchange.hpp"
#include "config/settings.hpp"
#include "gateway/request_id.hpp"

namespace weir::gateway {

// How a request is made traceable; taken from the settings once.
struct TracingSettings {
    explicit TracingSettings(const config::Settings::Server& server)
        : requestIdHeader(server.requestIdHeader.text),
          trustRequestId(server.trustRequestId),
          startTrace(server.traceparent == config::Traceparent::Start) {}

    std::string requestIdHeader;  // empty: none is written
    bool trustRequestId;
    bool startTrace;
};

// Sets exchange.requestId and its header in exchange.request.fields: 32 new hex digits, or the client's own id. Where a
// trace is to be started and the client brought no valid traceparent, or several, it gets one, whose trace id is the
// new request id, and loses its tracestate. Allocates in the arena only. Before the exchange starts; a request that is
// refused has no fields and gets the id alone.
void prepareTracing(chain::Exchange& exchange, const TracingSettings& settings, IdSource& ids);

// Gives the client the id: the header in exchange.response.head.fields, instead of an upstream's. At commit, before
// the head is written.
void answerRequestId(chain::Exchange& exchange, const TracingSettings& settings);

}  // namespace weir::gateway
