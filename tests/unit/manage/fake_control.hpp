#pragma once

#include <mutex>
#include <string>

#include "manage/data_control.hpp"

namespace weir::manage {

// Keeps the store behind a lock; refuses every change while `refusal` says why.
struct FakeControl final : DataControl {
    base::Result<void> change(const std::function<base::Result<void>(data::DataStore&)>& edit) override {
        const std::lock_guard lock(mutex);
        data::DataStore next = store;
        auto done = edit(next);
        if (!done) return done;
        if (!refusal.message.empty()) return refusal;
        store = std::move(next);
        return {};
    }
    void read(const std::function<void(const data::DataStore&)>& look) const override {
        const std::lock_guard lock(mutex);
        look(store);
    }

    std::shared_ptr<const WaitingEntries> waiting() const override { return waitingEntries; }

    std::shared_ptr<const WaitingEntries> waitingEntries = std::make_shared<const WaitingEntries>();
    mutable std::mutex mutex;
    data::DataStore store;
    base::Error refusal;
};

// SHA-512 of ShenYu's sample key, 123456.
inline constexpr const char* kSampleHash =
    "BA3253876AED6BC22D4A6FF53D8406C6AD864195ED144AB5C87621B6C233B548BAEAE6956DF346EC8C17F5EA10F35EE3CBC514797ED7DDD3145464E2A0BAB413";

}  // namespace weir::manage
