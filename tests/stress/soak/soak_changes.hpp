#pragma once

#include <atomic>
#include <thread>

#include "functional/ext_folder.hpp"
#include "functional/local_caller.hpp"
#include "stress/soak/soak_clients.hpp"
#include "stress/soak/soak_upstreams.hpp"

namespace weir::soak {

// The configuration that the data is put into.
std::string configuration();

// The data of the soak in a gateway: what each route needs, and what the changes change.
class Changes {
public:
    // Puts all of it there.
    Changes(const support::GatewayProcess& gateway, const Upstreams& upstreams);

    // Changes one record after the other by calls, until stop(): of upstreams, rules, metadata, plugins, and the two
    // that `count` counts. Each must succeed. stop() leaves what the constructor has put there.
    void start(std::uint64_t seed, Findings& findings);
    void stop();
    ~Changes() { stop(); }
    Changes(const Changes&) = delete;
    Changes& operator=(const Changes&) = delete;

    const DataCount& count() const { return count_; }
    std::size_t made() const { return made_; }

private:
    void run(std::uint64_t seed, Findings& findings);
    void step(Random& random);
    void nextNumber();
    void writeNumber(const char* plugin, std::uint64_t number);
    void goodUpstreams(std::uint32_t from, std::uint32_t howMany);
    void flickRule();
    void metadata(bool other);
    void cross(bool enabled);
    void rewrite(bool enabled);
    void stranger(bool there);

    functional::LocalCaller caller_;
    const Upstreams& upstreams_;
    DataCount count_;
    std::atomic<bool> stopping_{false};
    std::atomic<std::size_t> made_{0};
    std::thread thread_;
};

// Brings an extension, another generation of it, and takes it away, again and again until stop(), which leaves none.
class Swaps {
public:
    Swaps(const support::GatewayProcess& gateway, const functional::ExtFolder& folder)
        : gateway_(gateway), folder_(folder) {}
    ~Swaps() { stop(); }
    Swaps(const Swaps&) = delete;
    Swaps& operator=(const Swaps&) = delete;

    void start(Findings& findings);
    void stop();
    std::size_t made() const { return made_; }

private:
    void run(Findings& findings);
    bool serves(const std::string& generation) const;

    const support::GatewayProcess& gateway_;
    const functional::ExtFolder& folder_;
    std::atomic<bool> stopping_{false};
    std::atomic<std::size_t> made_{0};
    std::thread thread_;
};

}  // namespace weir::soak
