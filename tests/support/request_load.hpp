#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "support/wire_connection.hpp"

namespace weir::support {

// Clients that repeat one request, each on a keep-alive connection of its own, from construction until stop(). A
// request fails when its answer is not 200, does not come whole, or does not pass `check`. answers(), waitForRound()
// and failures() may be called from any thread.
class RequestLoad {
public:
    // Says what is wrong with an answer, "" when nothing is. Called from the clients' threads, several at once.
    using Check = std::function<std::string(const HttpMessage& answer)>;

    RequestLoad(int port, std::string request, int clients = 4, Check check = {});
    ~RequestLoad() { stop(); }
    RequestLoad(const RequestLoad&) = delete;
    RequestLoad& operator=(const RequestLoad&) = delete;

    // Every client completes the request it is at.
    void stop();

    std::size_t answers() const { return answers_; }
    // Waits until twice as many more answers as there are clients have come; false at the deadline.
    bool waitForRound() const;
    // What was wrong, one entry per failed request (the first hundred).
    std::vector<std::string> failures() const;

private:
    void repeat();
    void fail(std::string reason);

    const int port_;
    const std::string request_;
    const Check check_;
    std::atomic<bool> stopping_{false};
    std::atomic<std::size_t> answers_{0};
    mutable std::mutex mutex_;
    std::vector<std::string> failures_;
    std::vector<std::thread> clients_;
};

}  // namespace weir::support
