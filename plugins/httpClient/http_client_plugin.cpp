#include <cstdint>
#include <optional>

#include "weir/module.hpp"

namespace {

// Carries out the route that a proxy plugin chose. What came of it is left in the exchange for the plugins behind.
class HttpClient final : public weir::Plugin {
    weir::Task<> execute(weir::Exchange& exchange, weir::Next next) override {
        const std::optional<weir_route> route = exchange.route();
        if (!route) {
            exchange.replyError(404, -106, "Can not find url, please check your configuration!");
            co_return;
        }
        // Only a refused connection is repeated: the upstream has not seen a byte, so that is safe for every method.
        weir::Call call = co_await host().callUpstream();
        for (std::uint32_t repeat = 0; repeat < route->retry && call == weir::Call::Refused; ++repeat)
            call = co_await host().callUpstream();
        co_await next();
    }
};

}  // namespace

WEIR_MODULE(weir::plugin<HttpClient>("httpClient", {.order = 210, .rpcTypes = {"http", "springCloud", "ai"}}))
