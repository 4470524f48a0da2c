#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace weir::chain {

// Threads for work that plugins offload. Any thread may submit; jobs run once, in order of submission.
class WorkerPool {
public:
    explicit WorkerPool(std::size_t threads, std::size_t maxQueued = 1024);
    ~WorkerPool();  // runs what is queued, then joins

    // false when the queue is full: nothing was taken.
    bool submit(std::function<void()> job);

private:
    void work();

    std::mutex mutex_;
    std::condition_variable wake_;
    std::deque<std::function<void()>> queue_;
    const std::size_t maxQueued_;
    bool stopping_ = false;
    std::vector<std::thread> threads_;
};

}  // namespace weir::chain
