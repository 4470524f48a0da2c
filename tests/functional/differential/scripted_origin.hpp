#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "functional/differential/message_reading.hpp"
#include "support/recording_upstream.hpp"

namespace weir::functional {

// The upstream of one proxy. It reads requests as a plain server does, answers with what the input wants, and notes
// what it got. The methods may be called from any thread.
class ScriptedOrigin {
public:
    // Answered with the body "end", and not noted when it came as it was sent.
    static constexpr char kTail[] = "GET /s1/end HTTP/1.1\r\nHost: g\r\nConnection: close\r\n\r\n";
    // Not noted at all.
    static constexpr char kProbe[] = "GET /s1/probe HTTP/1.1\r\nHost: g\r\nConnection: close\r\n\r\n";

    std::string address() const { return upstream_.address(); }

    // The answer to all other requests from now on, none: 200 with the body "ok". `closes`: and then the close. One
    // that expects 100-continue gets 100 and the plain answer, but the given one instead.
    void answerWith(const std::optional<std::string>& reply, bool closes);

    // What came since answerWith(), in the order in which it was whole; what was not comes last.
    std::vector<Reading> received() const;

    // Closes the sending side of all connections and waits until the proxy has closed them too.
    void closeAll();

private:
    using Connection = support::RecordingUpstream::Connection;

    void serve(Connection& connection);
    void read(Connection& connection);
    // Takes the request at the front of `input`, which is whole, and answers it; false when that ends the connection.
    bool answer(Connection& connection, std::string& input);
    // To the head of a request that waits to be asked for its body; false when that ends the connection.
    bool answerExpectation(Connection& connection);

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::optional<std::string> reply_;
    bool closes_ = false;
    std::vector<Reading> received_;
    std::vector<Reading> parts_;
    std::set<Connection*> open_;
    std::size_t over_ = 0;  // connections that are done
    support::RecordingUpstream upstream_{[this](Connection& connection) { serve(connection); }};
};

}  // namespace weir::functional
