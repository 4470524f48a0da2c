#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/descriptor.hpp"
#include "config/settings.hpp"
#include "upstream/server_registry.hpp"
#include "upstream/upstream_probe.hpp"

struct pollfd;

namespace weir::upstream {

// Tries all servers that checks decide about, each at its interval, also those of upstreams with status false: when
// such a one is told to be used again, it is known how it is. One thread, with its own poll; what it finds is in
// ServerState::unhealthy. A server is usable until it was found to be not. (ShenYu 2.7.1: UpstreamCheckTask; its
// thresholds, times of `interval` without a success or a failure, are as many probes in a row.)
class HealthCheck {
public:
    // Starts the thread; throws std::system_error when the system has no thread or descriptor. `servers` outlives this.
    HealthCheck(const config::Settings::UpstreamCheck& settings, const ServerRegistry& servers);
    ~HealthCheck();  // ends it, with what it tries
    HealthCheck(const HealthCheck&) = delete;
    HealthCheck& operator=(const HealthCheck&) = delete;

private:
    using Clock = std::chrono::steady_clock;
    struct Checked {
        std::weak_ptr<const Server> server;  // weak: the registry forgets what nobody holds
        std::shared_ptr<const AddressList> addresses;
        Clock::time_point due{};              // of the next probe; while one runs: of its end
        std::size_t inRow = 0;                // probes that contradict what the server is taken for
        std::unique_ptr<UpstreamProbe> probe;  // null: none runs
    };

    void run();
    void look();
    void beginDue(Clock::time_point now);
    int waitMs(Clock::time_point now) const;
    void collect(std::vector<pollfd>& polled, std::vector<Checked*>& of);
    void begin(Checked& checked);
    void over(Checked& checked, bool passed);
    bool canOpen() const;
    void giveUp(Checked& checked);
    void print();

    const config::Settings::UpstreamCheck settings_;
    const ServerRegistry& servers_;
    std::map<std::uint32_t, Checked> checked_;  // by server id
    std::size_t running_ = 0;
    bool starved_ = false;  // of descriptors, as has been said
    Clock::time_point nextLook_{};
    Clock::time_point nextPrint_;
    base::Descriptor end_;  // an eventfd
    std::thread thread_;    // owns all above
};

}  // namespace weir::upstream
