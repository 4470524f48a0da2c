#include "gateway/signals.hpp"

#include <unistd.h>

#include <mutex>
#include <vector>

#include "support/catch.hpp"
#include "support/eventually.hpp"

using namespace weir::gateway;

TEST_CASE("the five signals are waited for and do not end the process; all but HUP and USR1 end a gateway") {
    const Signals signals;
    struct Row { int number; bool ends; };
    for (const Row& row : {Row{SIGINT, true}, Row{SIGTERM, true}, Row{SIGQUIT, true}, Row{SIGHUP, false},
                           Row{SIGUSR1, false}}) {
        ::kill(::getpid(), row.number);
        CHECK(signals.wait() == row.number);
        CHECK(Signals::ends(row.number) == row.ends);
    }
}

TEST_CASE("a signal thread takes every signal until it is gone") {
    const Signals signals;
    std::mutex mutex;
    std::vector<int> taken;
    const auto count = [&] {
        std::lock_guard lock(mutex);
        return taken.size();
    };
    {
        const SignalThread thread(signals, [&](int number) {
            std::lock_guard lock(mutex);
            taken.push_back(number);
        });
        ::kill(::getpid(), SIGHUP);
        CHECK(weir::support::eventually([&] { return count() == 1; }));
        ::kill(::getpid(), SIGTERM);
        CHECK(weir::support::eventually([&] { return count() == 2; }));
    }
    CHECK(taken == std::vector<int>{SIGHUP, SIGTERM});
    ::kill(::getpid(), SIGUSR1);
    CHECK(signals.wait() == SIGUSR1);
}
