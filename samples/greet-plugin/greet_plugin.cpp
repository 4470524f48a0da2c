#include "greet_handle.hpp"

#include <weir/module.hpp>

namespace {

class Greet final : public weir::RulePlugin<GreetHandle> {
    weir::Task<> execute(weir::Exchange& exchange, weir::Next next, const GreetHandle& handle) override {
        exchange.request().setHeader("x-greet", handle.text);
        co_await next();                                     // the rest of the chain, the upstream included
        exchange.response().setHeader("x-greeted", "yes");   // before the head is written
    }
};

}  // namespace

WEIR_MODULE(weir::plugin<Greet>("greet", {.order = 150}))
