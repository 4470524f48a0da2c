#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "support/wire_connection.hpp"

namespace weir::support {

// An upstream that remembers every request byte by byte and answers from a script. A thread per connection runs the
// script; the methods may be called from any thread.
class RecordingUpstream {
public:
    // From a request to the bytes of its answer; called for one request after the other until the peer closes.
    using Reply = std::function<std::string(const HttpMessage& request)>;
    // Has a connection to itself, for late, slow, partial and reset answers and bodies too long to keep. Requests that
    // it takes through next() are recorded. The connection closes when it returns.
    class Connection;
    using Serve = std::function<void(Connection&)>;

    // The default reply: 200 with the body "ok". Port 0 takes a free one.
    RecordingUpstream() : RecordingUpstream(Reply([](const HttpMessage&) { return ok("ok"); })) {}
    // `host`: an IPv4 address of this machine, for names that have several.
    explicit RecordingUpstream(Reply reply, int port = 0, const std::string& host = "127.0.0.1");
    explicit RecordingUpstream(Serve serve, int port = 0, const std::string& host = "127.0.0.1");
    // Cuts all connections and waits until every script has returned.
    ~RecordingUpstream();
    RecordingUpstream(const RecordingUpstream&) = delete;
    RecordingUpstream& operator=(const RecordingUpstream&) = delete;

    int port() const { return port_; }
    // As divide's handle wants it: "host:port".
    std::string address() const { return host_ + ":" + std::to_string(port_); }

    std::vector<HttpMessage> requests() const;
    // All bytes of all connections as they came, whole requests or not, up to kKeptBytes.
    std::string received() const;
    static constexpr std::size_t kKeptBytes = 1 << 20;
    // Connections accepted so far, and those of them whose script is over.
    std::size_t connections() const;
    std::size_t ended() const;

    // Wait until that many have been seen; false at the deadline.
    bool waitForRequests(std::size_t n) const;
    bool waitForEnded(std::size_t n) const;

    // A response with that body and its Content-Length.
    static std::string ok(const std::string& body, const std::string& fields = "");

private:
    void accept();
    void run(Connection& connection);

    Serve serve_;
    const std::string host_;
    int listener_ = -1;
    int port_ = 0;
    mutable std::mutex mutex_;
    mutable std::condition_variable changed_;
    std::vector<HttpMessage> requests_;
    std::string received_;
    std::vector<std::unique_ptr<Connection>> connections_;
    std::vector<std::thread> threads_;
    std::size_t ended_ = 0;
    std::thread acceptor_;
};

class RecordingUpstream::Connection : public WireConnection {
public:
    Connection(int fd, RecordingUpstream& upstream) : WireConnection(fd), upstream_(upstream) {}

    // The next whole request, recorded; nothing when the peer has closed.
    std::optional<HttpMessage> next();

private:
    void arrived(std::string_view bytes) override;

    RecordingUpstream& upstream_;
};

// Opens once, for the scripts that hold an answer back until the test says so.
class Gate {
public:
    void open();
    // False at the deadline.
    bool wait() const;

private:
    mutable std::mutex mutex_;
    mutable std::condition_variable changed_;
    bool open_ = false;
};

}  // namespace weir::support
