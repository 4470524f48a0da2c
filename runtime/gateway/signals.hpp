#pragma once

#include <atomic>
#include <functional>
#include <thread>

#include <signal.h>

namespace weir::gateway {

// The signals a gateway is steered by: INT TERM QUIT end it, HUP and USR1 do not. They are taken by waiting, never by a
// handler; Poco's own wait does not know HUP and USR1, which would end the process.
class Signals {
public:
    // Blocks them in this thread and in all it starts from now on.
    Signals();
    // The next one.
    int wait() const;

    static bool ends(int number) { return number != SIGHUP && number != SIGUSR1; }

private:
    sigset_t set_;
};

// While it exists a thread of its own waits for the signals and passes each to `handle`.
class SignalThread {
public:
    SignalThread(const Signals& signals, std::function<void(int)> handle);
    ~SignalThread();
    SignalThread(const SignalThread&) = delete;
    SignalThread& operator=(const SignalThread&) = delete;

private:
    std::atomic<bool> over_{false};
    std::thread thread_;
};

}  // namespace weir::gateway
