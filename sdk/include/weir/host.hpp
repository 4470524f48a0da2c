#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weir/error.hpp"
#include "weir/task.hpp"
#include "weir/text.hpp"

namespace weir {

enum class LogLevel {
    Error = WEIR_LOG_ERROR,
    Warning = WEIR_LOG_WARNING,
    Notice = WEIR_LOG_NOTICE,
    Information = WEIR_LOG_INFORMATION,
    Debug = WEIR_LOG_DEBUG,
};

// One server behind the gateway.
struct Upstream {
    std::string protocol = "http://";
    std::string url;  // host:port
    std::uint32_t weight = 50;
    bool status = true;  // false: taken out
    bool gray = false;
    std::int64_t timestampMs = 0;
    std::int64_t warmupMs = 0;
    bool check = true;  // false: on, and no health check has a say
};

// Owns a host's set of upstreams. Made and destroyed on the control thread (a selector handle owns one); read on loops.
class UpstreamSet {
public:
    UpstreamSet() = default;
    UpstreamSet(UpstreamSet&& other) noexcept : raw_(std::exchange(other.raw_, nullptr)) {}
    UpstreamSet& operator=(UpstreamSet&& other) noexcept {
        std::swap(raw_, other.raw_);
        return *this;
    }
    ~UpstreamSet() {
        if (raw_) detail::hostTable->upstream_set_release(raw_);
    }

    // false: refused, the reason is in `error`.
    bool assign(const std::vector<Upstream>& upstreams, weir_error* error) {
        std::vector<weir_upstream> list;
        for (const Upstream& one : upstreams) {
            const weir_upstream_status status = !one.check    ? WEIR_UPSTREAM_UNCHECKED
                                                : one.status ? WEIR_UPSTREAM_ON
                                                             : WEIR_UPSTREAM_OFF;
            list.push_back({sizeof(weir_upstream), one.weight, detail::str(one.protocol), detail::str(one.url), status,
                            one.gray, one.timestampMs, one.warmupMs});
        }
        weir_upstream_set* made = nullptr;
        if (detail::hostTable->upstream_set_create(detail::hostTable, list.data(), list.size(), &made, error) !=
            WEIR_OK)
            return false;
        if (raw_) detail::hostTable->upstream_set_release(raw_);
        raw_ = made;
        return true;
    }
    weir_upstream_set* raw() const { return raw_; }

private:
    weir_upstream_set* raw_ = nullptr;
};

// The gateway's services for a plugin. A value without state: copy it freely.
class Host {
public:
    // ---- any thread ----
    void log(LogLevel level, std::string_view text) const {
        detail::hostTable->log(static_cast<weir_log_level>(level), detail::str(text));
    }
    // This is a trial run in a process of its own, before the module is loaded: leave files, sockets and other processes
    // alone.
    bool probing() const { return detail::hostTable->probing != 0; }
    std::chrono::nanoseconds now() const {  // steady
        return std::chrono::nanoseconds(detail::hostTable->now_ns());
    }

    // ---- control thread ----
    std::uint32_t attributeId(std::string_view name) const {
        return detail::hostTable->attribute_id(detail::hostTable, detail::str(name));
    }

    // The id of a load balancer that a module provides; false when none does (the reason is in `error`).
    bool findBalancer(std::string_view name, std::uint32_t& id, weir_error* error) const {
        return detail::hostTable->balancer_find(detail::hostTable, detail::str(name), &id, error) == WEIR_OK;
    }

    // ---- in a coroutine of an exchange ----
    [[nodiscard]] SleepAwaiter sleep(std::chrono::nanoseconds duration) const { return SleepAwaiter(duration); }
    // Runs `function` on a worker thread and yields what it returned; what it threw is rethrown as weir::Error. It may
    // refer to the coroutine's locals: they are kept until it is done, also when the client has gone.
    template <class F>
    [[nodiscard]] detail::OffloadAwaiter<F> offload(F function) const {
        return detail::OffloadAwaiter<F>(std::move(function));
    }
    // Sends the request to the exchange's route and waits for the response head, which then is the response.
    [[nodiscard]] CallAwaiter callUpstream() const { return CallAwaiter(); }
};

}  // namespace weir
