#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "manage/status_source.hpp"

namespace weir::gateway {

// Loads of modules, each on a thread of its own. One that does not come back can not be ended: it hangs there, and is
// shown, until it does come back or the process ends. Any thread.
class RunningLoads {
public:
    using Id = std::uint64_t;

    // `module`: what is known of it before it serves.
    Id begin(manage::ModuleStatus module);
    // Nobody waits for it any more. False: it is over.
    bool giveUp(Id id);
    // One that was given up says so in the log. Its module must be gone.
    void end(Id id);

    // Those that were given up and are not over; `since` is when they began.
    std::vector<manage::ModuleStatus> hanging() const;
    // Of the one with these bytes.
    std::optional<std::chrono::seconds> hangsFor(const std::string& sha256) const;

private:
    struct Load {
        manage::ModuleStatus module;
        bool givenUp = false;
    };

    mutable std::mutex mutex_;
    std::map<Id, Load> loads_;
    Id last_ = 0;
};

}  // namespace weir::gateway
