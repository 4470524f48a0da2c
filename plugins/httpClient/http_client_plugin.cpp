#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "weir/module.hpp"

namespace {

using std::chrono::nanoseconds;

constexpr nanoseconds kFirstWait = std::chrono::milliseconds(20);
constexpr nanoseconds kLongestWait = std::chrono::seconds(20);

// Half to one and a half times `wait`, so that calls that failed together are not repeated together.
nanoseconds withJitter(nanoseconds wait) {
    // One generator a thread needs no lock, and one without a destructor keeps the module unloadable.
    thread_local std::minstd_rand generator(
        static_cast<std::uint_fast32_t>(std::chrono::steady_clock::now().time_since_epoch().count()));
    return wait / 2 + nanoseconds(std::uniform_int_distribution<std::int64_t>(0, wait.count())(generator));
}

// The calls of a request whose first one has failed.
class Attempts {
public:
    Attempts(const weir_route& route, nanoseconds now)
        : route_(route), end_(now + std::chrono::milliseconds(route.timeout_ms) * (std::int64_t{route.retry} + 1)) {}

    bool failover() const { return route_.retry_strategy == WEIR_RETRY_FAILOVER; }
    std::uint32_t made() const { return made_; }
    void count() { ++made_; }

    // Whether another call may follow one that ended so. To repeat what has no address changes nothing.
    bool another(weir::Call ended) const {
        return made_ <= route_.retry && (failover() || ended != weir::Call::Unresolved);
    }
    // How long to wait before the next; nullopt: past the end.
    std::optional<nanoseconds> wait(nanoseconds now) {
        const nanoseconds wait = withJitter(wait_);
        wait_ = std::min(wait_ * 2, kLongestWait);
        if (now + wait >= end_) return std::nullopt;
        return wait;
    }
    // The next call goes to an upstream that was not tried; false: none is left.
    bool moveOn(weir::Exchange& exchange) {
        tried_.resize((weir::Exchange::upstreamCount(route_.set) + 63) / 64);
        const auto index = static_cast<std::size_t>(route_.index);
        if (route_.index >= 0 && index / 64 < tried_.size()) tried_[index / 64] |= std::uint64_t{1} << (index % 64);
        route_.index = exchange.pickUpstream(route_.set, route_.balancer, tried_.data());
        if (route_.index < 0) return false;
        exchange.setRoute(route_);
        return true;
    }

private:
    weir_route route_;
    const nanoseconds end_;  // no call begins later
    nanoseconds wait_ = kFirstWait;
    std::uint32_t made_ = 1;
    std::vector<std::uint64_t> tried_;  // one bit per index
};

std::string_view nameOf(weir::Call failed) {
    switch (failed) {
        case weir::Call::Refused: return "no connection to the upstream";
        case weir::Call::ConnectTimeout: return "no connection to the upstream in time";
        case weir::Call::Timeout: return "no response head from the upstream in time";
        case weir::Call::BadReply: return "the upstream's reply is not HTTP/1.1";
        case weir::Call::Unresolved: return "the upstream's name has no address";
        default: return "the upstream broke the connection off";
    }
}

// Carries out the route that a proxy plugin chose. What came of it is left in the exchange for the plugins behind.
class HttpClient final : public weir::Plugin {
public:
    weir::Task<> execute(weir::Exchange& exchange, weir::Next next) override {
        if (!exchange.route()) {
            exchange.replyError(404, -106, "Can not find url, please check your configuration!");
            co_return;
        }
        const weir::Call call = co_await host().callUpstream();
        if (call != weir::Call::Ok) {
            const bool upstreamLeft = co_await repeat(exchange, call);
            if (!upstreamLeft) {
                exchange.replyError(503, -121, "Can not find healthy upstream url after failover!");
                co_return;
            }
        }
        co_await next.leave();
    }

private:
    // After a call that ended as `call`. false: another one was due, but no upstream is left.
    weir::Task<bool> repeat(weir::Exchange& exchange, weir::Call call) {
        Attempts attempts(*exchange.route(), host().now());
        while (call != weir::Call::Ok && attempts.another(call) && exchange.mayRepeatCall()) {
            const bool granted = co_await mayBegin(exchange, attempts);
            if (!granted) break;
            if (attempts.failover() && !attempts.moveOn(exchange)) {
                report(exchange, attempts, call, ", no other upstream is left");
                co_return false;
            }
            call = co_await host().callUpstream();
            attempts.count();
        }
        if (call != weir::Call::Ok) report(exchange, attempts, call, "");
        co_return true;
    }

    // Waits until the next call may be made; false: there is no time left for it.
    weir::Task<bool> mayBegin(weir::Exchange& exchange, Attempts& attempts) {
        for (bool waits = !attempts.failover();; waits = true) {
            if (waits) {
                const std::optional<nanoseconds> wait = attempts.wait(host().now());
                if (!wait) co_return false;
                co_await host().sleep(*wait);
            }
            if (exchange.beginRepeat()) co_return true;
        }
    }

    void report(weir::Exchange& exchange, const Attempts& attempts, weir::Call call, std::string_view more) const {
        const weir::Request request = exchange.request();
        std::string text(request.method());
        text.append(" ").append(request.path()).append(" (request ").append(request.id()).append("): ");
        text.append(nameOf(call)).append(more).append("; calls made: ").append(std::to_string(attempts.made()));
        host().log(weir::LogLevel::Warning, text);
    }
};

}  // namespace

WEIR_MODULE(weir::plugin<HttpClient>("httpClient", {.order = 210, .rpcTypes = {"http", "springCloud", "ai"}}))
