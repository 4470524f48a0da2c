#include "weir/module.hpp"

namespace {

// The last word on what the client gets: an upstream call that failed, or a request that nobody answered, becomes an
// error reply. The host writes the response after the chain.
class Response final : public weir::Plugin {
public:
    weir::Answer onRequest(weir::Exchange& exchange) override {
        if (exchange.response().status() != 0) return weir::Answer::Next;
        switch (exchange.callResult()) {
            case weir::Call::ConnectTimeout:
            case weir::Call::Timeout:
                return exchange.replyError(504, -104, "Service call timeout!");
            default:
                return exchange.replyError(502, -103, "Service invocation exception, or no result is returned!");
        }
    }
};

}  // namespace

WEIR_MODULE(weir::plugin<Response>("response", {.order = 420}))
