#pragma once

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "stress/soak/findings.hpp"
#include "stress/soak/soak_timers.hpp"
#include "stress/soak/soak_wire.hpp"

namespace weir::soak {

// Eight upstreams on one thread that answer as each request's plan says, and check each request that comes: its head,
// path and body are of one id, and nothing lies behind it. The last three die and return at random moments.
class Upstreams {
public:
    static constexpr int kServers = 8;
    static constexpr int kGood[] = {0, 1, 2};
    static constexpr int kFault = 3;
    static constexpr int kHang = 4;
    static constexpr int kDying[] = {5, 6, 7};

    Upstreams(std::uint64_t seed, Findings& findings);
    ~Upstreams();
    Upstreams(const Upstreams&) = delete;
    Upstreams& operator=(const Upstreams&) = delete;

    // "127.0.0.1:port"
    std::string address(int server) const;
    // From any thread. rest() closes all connections and returns when that is done; all servers are up then, and stay
    // so until go().
    void rest();
    void go() { resting_ = false; }

    std::size_t deaths() const { return deaths_; }

private:
    // Of a server, until the next one.
    enum class Fate {
        Up,
        Gone,      // connections were reset, new ones are refused
        Deaf,      // reads, and does not answer
        Dropping,  // ends each connection when a request has come
    };
    struct Server {
        int port = 0;
        int holder = -1;  // keeps the port while nobody listens
        int listener = -1;
        Fate fate = Fate::Up;
    };
    struct Connection {
        Stream stream;
        std::uint64_t tag = 0;  // its number and its descriptor, for events and timers
        int server = 0;
        std::optional<Head> head;
        Plan plan;
        BodyReader body;
        bool answering = false;
        std::size_t limit = static_cast<std::size_t>(-1);  // of what is sent for now
        enum class After { Stay, Close, Reset } after = After::Stay;
    };

    void run();
    void changeFate(int server);
    void listen(Server& server);
    void accept(int server);
    void ready(Connection& connection);
    void readRequest(Connection& connection);
    bool beginRequest(Connection& connection);
    void requestOver(Connection& connection);
    void answer(Connection& connection);
    void fail(Connection& connection, std::size_t headSize);
    void write(Connection& connection);
    void fire(std::uint64_t tag);
    void end(Connection& connection, bool reset);
    void endAll(int server);
    void wrong(Connection& connection, const std::string& what);
    Connection* find(std::uint64_t tag);

    Findings& findings_;
    Random random_;
    Timers timers_;
    int epoll_;
    std::vector<Server> servers_;
    std::vector<std::unique_ptr<Connection>> connections_;  // by descriptor
    std::uint64_t made_ = 0;
    std::atomic<bool> stopping_{false};
    std::atomic<bool> resting_{false};
    std::atomic<bool> rests_{false};
    std::atomic<std::size_t> deaths_{0};
    std::thread thread_;
};

}  // namespace weir::soak
