#include <weir/module.hpp>

namespace {

// Stands before all other plugins, so that whatever they answer, errors included, comes past it on the way back.
class Hello final : public weir::Plugin {
    weir::Task<> execute(weir::Exchange& exchange, weir::Next next) override {
        co_await next();  // the rest of the chain, the upstream included
        exchange.response().setHeader("x-hello", "weir");  // before the head is written
    }
};

}  // namespace

WEIR_MODULE(weir::plugin<Hello>("hello", {.order = -100}))
