#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

#include "base/result.hpp"
#include "config/settings.hpp"
#include "gateway/access_line.hpp"
#include "net/event_loop.hpp"

namespace weir::gateway {

// Lines on their way from a loop to the writer.
struct AccessBuffer {
    static constexpr std::size_t kBytes = 65536;
    static_assert(AccessLine::kMaxBytes <= kBytes);

    std::size_t used = 0;
    char data[kBytes];

    std::size_t room() const { return kBytes - used; }
    std::string_view text() const { return {data, used}; }
};

// The access log's file and the one thread that writes it. Loops fill buffers and hand them over, a lock each time.
// When kMaxWaiting of them are there the loops drop lines; how many, and how many could not be written, is a warning in
// the log, one in 10 s at most and one at the end.
class AccessLog {
public:
    static constexpr std::size_t kMaxWaiting = 256;  // 16 MiB

    // Null when the format is off. The error: the file cannot be opened. Starts the thread: block signals first.
    static base::Result<std::unique_ptr<AccessLog>> open(const config::Settings::AccessLog& settings);
    // Writes what was handed over; a pipe or terminal that does not take it is given up after 5 s. Every LoopAccessLog
    // is gone by then, or has handed over its rest and is not used any more; base::log still works.
    ~AccessLog();
    AccessLog(const AccessLog&) = delete;
    AccessLog& operator=(const AccessLog&) = delete;

    config::AccessLogFormat format() const { return format_; }

    // ---- any thread ----
    // What is handed over from now on goes to the file that has the name then; standard output stays. When it cannot be
    // opened the old one goes on and the log says so.
    void reopen();
    // Returns when all that was handed over so far is written or lost.
    void flush();

private:
    friend class LoopAccessLog;
    using Clock = std::chrono::steady_clock;

    AccessLog(const config::Settings::AccessLog& settings, int fd);

    // ---- loops ----
    bool full() const { return full_.load(std::memory_order_relaxed); }
    void drop(std::size_t lines) { lost_.fetch_add(lines, std::memory_order_relaxed); }
    // Takes the buffer and answers an empty one.
    std::unique_ptr<AccessBuffer> exchange(std::unique_ptr<AccessBuffer> buffer);

    // ---- the writer ----
    void run();
    void openAgain();
    void look();
    void write(std::string_view lines);
    std::size_t writeSome(std::string_view text);
    bool waitForRoom();
    void report(bool last);

    const config::AccessLogFormat format_;
    const std::filesystem::path path_;  // empty: standard output
    int fd_;
    bool mayBlock_ = false;  // not a plain file
    bool cutShort_ = false;  // the file ends within a line
    int error_ = 0;          // why lines were lost since the last warning; 0: the file was too slow
    Clock::time_point nextReport_{};

    std::mutex mutex_;
    std::condition_variable wake_;
    std::condition_variable progress_;
    std::deque<std::unique_ptr<AccessBuffer>> waiting_;
    std::vector<std::unique_ptr<AccessBuffer>> free_;
    std::uint64_t handedOver_ = 0;
    std::uint64_t written_ = 0;
    bool reopen_ = false;
    bool stopping_ = false;
    std::atomic<bool> full_{false};
    std::atomic<std::uint64_t> lost_{0};  // lines not yet reported
    std::atomic<Clock::time_point> giveUp_{Clock::time_point::max()};
    std::thread thread_;
};

// One loop's side: formats lines into a buffer, without allocating, and hands it over when it is full or a second after
// its first line. Loop thread; made before the loop runs, destroyed after it has ended and before loop and log.
class LoopAccessLog {
public:
    LoopAccessLog(AccessLog& log, net::EventLoop& loop);
    ~LoopAccessLog();  // as handOverRest()

    void write(AccessRecord record);
    // To be called when the loop has ended: the log may go then.
    void handOverRest();

private:
    static void onTimer(void* self);
    void handOver();

    AccessLog& log_;
    net::EventLoop& loop_;
    AccessLine line_;
    std::unique_ptr<AccessBuffer> buffer_;
    net::Timer timer_;
};

}  // namespace weir::gateway
