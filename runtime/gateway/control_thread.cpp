#include "gateway/control_thread.hpp"

namespace weir::gateway {

ControlThread::ControlThread() : thread_([this] { run(); }) {}

ControlThread::~ControlThread() { stop(); }

void ControlThread::stop() {
    {
        std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    wake_.notify_all();
    if (thread_.joinable()) thread_.join();
}

void ControlThread::postAt(Clock::time_point due, std::function<void()> task) {
    {
        std::lock_guard lock(mutex_);
        if (stopping_) return;
        tasks_.emplace(due, std::move(task));
    }
    wake_.notify_one();
}

void ControlThread::run() {
    std::unique_lock lock(mutex_);
    for (;;) {
        const auto now = Clock::now();
        if (!tasks_.empty() && tasks_.begin()->first <= now) {
            const std::function<void()> task = std::move(tasks_.begin()->second);
            tasks_.erase(tasks_.begin());
            lock.unlock();
            task();
            lock.lock();
        } else if (stopping_) {
            tasks_.clear();
            return;
        } else if (tasks_.empty()) {
            wake_.wait(lock);
        } else {
            wake_.wait_until(lock, tasks_.begin()->first);
        }
    }
}

}  // namespace weir::gateway
