#include "probe/probe_leftovers.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>
#include <thread>

namespace weir::probe {

namespace fs = std::filesystem;

std::uint32_t countThreads() {
    std::error_code error;
    const fs::directory_iterator tasks("/proc/self/task", error);
    return error ? 0 : static_cast<std::uint32_t>(std::distance(fs::begin(tasks), fs::end(tasks)));
}

std::uint32_t settledThreads(std::uint32_t expected) {
    constexpr int kLooks = 200;
    std::uint32_t threads = countThreads();
    for (int look = 0; threads > expected && look < kLooks; ++look) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        threads = countThreads();
    }
    return threads;
}

bool endChildren() {
    bool ran = false;
    for (;;) {
        const pid_t gone = ::waitpid(-1, nullptr, WNOHANG | __WALL);
        if (gone > 0) continue;
        if (gone < 0) return ran;
        ran = true;
        // Their own children are handed to this process when they die. Those of other threads are not listed here; the
        // gateway kills the whole group at the end.
        std::ifstream children("/proc/self/task/" + std::to_string(::getpid()) + "/children");
        pid_t child = 0;
        bool any = false;
        while (children >> child) {
            any = true;
            ::kill(child, SIGKILL);
            ::waitpid(child, nullptr, __WALL);
        }
        if (!any) return ran;
    }
}

}  // namespace weir::probe
