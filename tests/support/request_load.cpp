#include "support/request_load.hpp"

#include <exception>

namespace weir::support {

namespace {
constexpr std::size_t kKeptFailures = 100;
}

RequestLoad::RequestLoad(int port, std::string request, int clients, Check check)
    : port_(port), request_(std::move(request)), check_(std::move(check)) {
    for (int i = 0; i < clients; ++i) clients_.emplace_back([this] { repeat(); });
}

void RequestLoad::stop() {
    stopping_ = true;
    for (auto& client : clients_) {
        if (client.joinable()) client.join();
    }
}

bool RequestLoad::waitForRound() const {
    const std::size_t wanted = answers_ + 2 * clients_.size();
    return eventually([&] { return answers_ >= wanted; });
}

std::vector<std::string> RequestLoad::failures() const {
    std::lock_guard lock(mutex_);
    return failures_;
}

void RequestLoad::repeat() {
    while (!stopping_) {
        try {
            RawClient client(port_);
            while (!stopping_) {
                const HttpMessage answer = client.exchange(request_);
                if (answer.status() != 200) fail(answer.raw);
                else if (check_) fail(check_(answer));
                ++answers_;
            }
        } catch (const std::exception& error) {
            fail(error.what());
        }
    }
}

void RequestLoad::fail(std::string reason) {
    if (reason.empty()) return;
    std::lock_guard lock(mutex_);
    if (failures_.size() < kKeptFailures) failures_.push_back(std::move(reason));
}

}  // namespace weir::support
