#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weir::fuzz {

// An upstream whose every move is a call: one listener for all runs, connections and answers for one run. The n-th
// request that begins, on whatever connection, gets the n-th answer; those beyond get none.
class FakeUpstream {
public:
    struct Request {  // whole ones, in the order of their ends
        std::string method;
        std::string body;
    };

    FakeUpstream();
    ~FakeUpstream();
    FakeUpstream(const FakeUpstream&) = delete;
    FakeUpstream& operator=(const FakeUpstream&) = delete;

    std::uint16_t port() const;

    void begin(std::vector<std::string_view> answers);
    // The rest speaks of connections that are open; each says whether anything moved.
    bool receive();                  // accepts, and reads what is there
    bool send(std::size_t size);     // that much of what the newest connection owes
    bool closeNewest(bool reset);
    bool closeAll();
    void end();

    const std::vector<Request>& requests() const { return requests_; }

private:
    struct Connection {
        int fd;
        std::string unread;    // what no whole request was made of yet
        bool begun = false;    // unread is a request that has its answer
        bool tunnel = false;
        std::string owed;
    };

    bool accept();
    bool read(Connection& connection);
    void understand(Connection& connection);
    void oweAnswer(Connection& connection);
    Connection* newest() { return connections_.empty() ? nullptr : &connections_.back(); }

    int listener_;
    std::vector<Connection> connections_;  // open ones, oldest first
    std::vector<std::string_view> answers_;
    std::size_t answered_ = 0;
    std::vector<Request> requests_;
};

// Non-blocking TCP sockets on 127.0.0.1.
int listenOnLoopback();
int connectTo(int listener);
// Closes with a reset instead of an end of stream.
void resetSocket(int fd);

}  // namespace weir::fuzz
