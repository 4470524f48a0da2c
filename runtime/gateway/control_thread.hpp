#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <future>
#include <map>
#include <mutex>
#include <thread>
#include <type_traits>
#include <utility>

namespace weir::gateway {

// The one thread that changes what the loops see: modules, data, snapshots. Tasks run one after the other, those due at
// the same time in the order they came. A task may block; the loops never wait for it.
class ControlThread {
public:
    using Clock = std::chrono::steady_clock;

    ControlThread();
    ~ControlThread();  // stop()

    // ---- any thread ----
    void post(std::function<void()> task) { postAt(Clock::now(), std::move(task)); }
    void postAfter(std::chrono::milliseconds delay, std::function<void()> task) {
        postAt(Clock::now() + delay, std::move(task));
    }
    // Runs `task` there and waits for what it returns (or throws). Not from the control thread itself. After stop() the
    // task is not run and std::future_error is thrown.
    template <class F>
    std::invoke_result_t<F&> call(F task) {
        auto packaged = std::make_shared<std::packaged_task<std::invoke_result_t<F&>()>>(std::move(task));
        auto result = packaged->get_future();
        post([packaged] { (*packaged)(); });
        packaged.reset();
        return result.get();
    }
    // Ends the running task's successors: what is not due yet is dropped unrun. Waits for the thread.
    void stop();

private:
    void postAt(Clock::time_point due, std::function<void()> task);
    void run();

    std::mutex mutex_;
    std::condition_variable wake_;
    std::multimap<Clock::time_point, std::function<void()>> tasks_;
    bool stopping_ = false;
    std::thread thread_;
};

}  // namespace weir::gateway
