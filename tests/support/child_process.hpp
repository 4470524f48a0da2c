#pragma once

#include <sys/types.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "support/eventually.hpp"

namespace weir::support {

// A program that a test starts, with its standard output and error caught together. Dies with the test program. The
// methods belong to the thread that made it; all throw std::runtime_error when the system refuses.
class ChildProcess {
public:
    // `arguments` without the program's own name; `environment` as NAME=VALUE, added to the test program's own.
    ChildProcess(const std::string& program, const std::vector<std::string>& arguments,
                 const std::vector<std::string>& environment = {});
    // Kills it, and what it started, if it still runs.
    ~ChildProcess();
    ChildProcess(const ChildProcess&) = delete;
    ChildProcess& operator=(const ChildProcess&) = delete;

    pid_t pid() const { return pid_; }
    void signal(int number);

    // Its exit code, or 128 + the signal that ended it; nothing when it still runs at the deadline.
    std::optional<int> waitForExit(std::chrono::milliseconds deadline = kDeadline);

    // What it has written so far.
    std::string output() const;
    // Waits until `text` is followed by a line end in the output and returns the rest of that line. Throws when the
    // program closes its output or the deadline passes before; the exception's text carries the output.
    std::string waitForLine(const std::string& text, std::chrono::milliseconds deadline = kDeadline) const;

    // Waits until all that it wrote has arrived.
    void waitForOutputEnd(std::chrono::milliseconds deadline = kDeadline) const;

private:
    void collect(int fd);
    void reap();

    pid_t pid_ = -1;
    std::optional<int> exitCode_;
    mutable std::mutex mutex_;
    mutable std::condition_variable changed_;
    std::string output_;
    bool outputClosed_ = false;
    std::thread collector_;
};

// Runs a program to its end. Throws when it is not over at the deadline.
struct Finished {
    int exitCode;
    std::string output;
};
Finished runToEnd(const std::string& program, const std::vector<std::string>& arguments,
                  const std::vector<std::string>& environment = {});

}  // namespace weir::support
