#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cache_handle.hpp"
#include "weir/module.hpp"

namespace {

using weir::cache::Before;
using weir::cache::CacheConfig;
using weir::cache::CacheRule;
using weir::cache::CacheSelector;
using weir::cache::CacheStore;
using weir::cache::RequestUse;

// What the response is the representation of (RFC 9111 2): host, path and query.
std::string keyOf(const weir::Request& request) {
    std::string key(request.header("Host").value_or(""));
    std::ranges::transform(key, key.begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; });
    key.append("\n").append(request.path());
    if (request.query().data()) key.append("?").append(request.query());
    return key;
}

bool isSafe(std::string_view method) { return method == "GET" || method == "HEAD" || method == "OPTIONS"; }

class Cache final : public weir::RulePlugin<CacheRule, CacheSelector, CacheConfig> {
public:
    bool prepareConfig(CacheConfig& config, weir_error*) override {
        config.store = std::make_unique<CacheStore>(config.maxBytes, config.maxBodyBytes);
        return true;
    }

    weir::Task<> execute(weir::Exchange& exchange, weir::Next next, const CacheRule& rule, const CacheSelector&,
                         const CacheConfig& config) override {
        CacheStore& store = *config.store;
        const weir::Request request = exchange.request();
        const RequestUse use = RequestUse::of(request);
        const std::string key = keyOf(request);
        const bool personal = weir::cache::isPersonal(request);
        Before before;
        if (use.serve || use.store) before.request = weir::cache::fieldsOf(request);
        if (use.serve) {
            if (const auto found = store.find(key, before.request, personal)) {
                found->replyTo(exchange);
                co_return;
            }
        }
        const weir::Response response = exchange.response();
        if (use.store) before.response = weir::cache::fieldsOf(response);
        const std::uint64_t erases = store.erases(key);
        if (co_await next() != weir::NextResult::Ok) co_return;
        if (exchange.callResult() != weir::Call::Ok) co_return;  // the gateway's own answers are for one request
        if (!isSafe(request.method())) {  // what was kept is out of date now (RFC 9111 4.4)
            if (response.status() >= 200 && response.status() < 400) store.erase(key);
            co_return;
        }
        if (!use.store) co_return;
        const auto life = weir::cache::lifeOf(response, personal || weir::cache::isPersonal(request),
                                              std::chrono::seconds(rule.timeoutSeconds));
        if (!life) co_return;
        const std::optional<std::string_view> body = co_await exchange.response().body(config.maxBodyBytes);
        if (!body) co_return;
        if (auto copy = weir::cache::copyOf(before, request, response, *body, *life))
            store.put(key, std::move(copy), erases);
    }
};

}  // namespace

WEIR_MODULE(weir::plugin<Cache>("cache", {.order = 10}))
