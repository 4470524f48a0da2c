#pragma once

#include <memory>

#include "base/result.hpp"
#include "config/settings.hpp"

namespace weir::gateway {

// Where the running gateway's log lines go: a line each with UTC time and level, written by a thread of its own so that
// nobody who logs waits for a disk or a terminal. Takes base::log's lines while it exists; one at a time.
class LogOutput {
public:
    // The error: the file cannot be opened. Starts the thread: block signals first.
    static base::Result<std::unique_ptr<LogOutput>> open(const config::Settings::Log& settings);
    ~LogOutput();  // writes what is left; every thread that logs has ended
    LogOutput(const LogOutput&) = delete;
    LogOutput& operator=(const LogOutput&) = delete;

    // Any thread. The next line goes to the file that has the name then, after somebody moved the old one away;
    // standard error stays.
    void reopen();
    // Any thread. Returns when all lines so far are written.
    void flush();

private:
    struct Channels;
    explicit LogOutput(std::unique_ptr<Channels> channels);

    std::unique_ptr<Channels> channels_;
};

// For the verbs that end by themselves: errors and warnings as lines of standard error, the rest is dropped.
void logToTerminal();

}  // namespace weir::gateway
