#pragma once

#include <atomic>

#include "manage/status_source.hpp"

namespace weir::manage {

struct FakeStatus final : StatusSource {
    std::atomic<ServingState> now{ServingState::Up};

    ServingState state() const override { return now; }
    std::string serverAddress() const override { return "127.0.0.1"; }
    std::uint16_t serverPort() const override { return now == ServingState::Starting ? 0 : 9195; }
    std::vector<ProvidedRow> provided() const override {
        return {{"LoadBalancer", "hash", "", "load-balancer", "0.1.0", "selected"},
                {"Plugin", "global", "-1", "global", "0.1.0", "selected"}};
    }
};

}  // namespace weir::manage
