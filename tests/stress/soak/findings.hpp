#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

namespace weir::soak {

// What was wrong, told by several threads: all are counted, the first few kept.
class Findings {
public:
    void add(std::string what) {
        ++count_;
        std::lock_guard lock(mutex_);
        if (kept_.size() < kKept) kept_.push_back(std::move(what));
    }

    std::size_t count() const { return count_; }
    std::vector<std::string> kept() const {
        std::lock_guard lock(mutex_);
        return kept_;
    }

private:
    static constexpr std::size_t kKept = 20;
    std::atomic<std::size_t> count_{0};
    mutable std::mutex mutex_;
    std::vector<std::string> kept_;
};

}  // namespace weir::soak
