#include "net/event_loop.hpp"

#include <atomic>
#include <cerrno>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>

#include "net/socket.hpp"
#include "probe.hpp"

namespace weir::net {

namespace {

bool isOpen(int fd) { return ::fcntl(fd, F_GETFD) >= 0; }

struct Alarm {
    explicit Alarm(std::function<void()> call) : then(std::move(call)) {}
    static void fire(void* self) { static_cast<Alarm*>(self)->then(); }

    std::function<void()> then;
    Timer timer{&Alarm::fire, this};
};

}  // namespace

TEST_CASE("a source starts writable and not readable, and bytes that were there already come as an edge") {
    EventLoop loop;
    Probe early(loop);
    CHECK(early.writable());
    CHECK_FALSE(early.readable());
    early.pair.send();
    loop.runOnce(Milliseconds(1000));
    CHECK(early.readable());
    CHECK(early.turns == 1);
}

TEST_CASE("a source is called when readiness is gained and only then") {
    EventLoop loop;
    Probe probe(loop);
    loop.runOnce(Milliseconds(0));  // the edge of being writable, which it was taken for
    CHECK(probe.turns == 0);
    probe.pair.send();
    loop.runOnce(Milliseconds(1000));
    CHECK(probe.turns == 1);
    probe.pair.send();  // it has not said that it read what was there
    loop.runOnce(Milliseconds(0));
    CHECK(probe.turns == 1);
    probe.clearReadable();
    probe.pair.send();
    loop.runOnce(Milliseconds(1000));
    CHECK(probe.turns == 2);
    CHECK(probe.readable());
}

TEST_CASE("a write that hit EAGAIN is followed by an edge once the peer reads") {
    EventLoop loop;
    Probe probe(loop);
    const std::string bytes(65536, 'x');
    ssize_t written = 0;
    while ((written = writeSome(probe.fd(), bytes.data(), bytes.size())) > 0) {
    }
    REQUIRE(written == -EAGAIN);
    probe.clearWritable();
    loop.runOnce(Milliseconds(0));
    CHECK_FALSE(probe.writable());
    CHECK(probe.turns == 0);

    std::string sink(65536, ' ');
    while (readSome(probe.pair.peer(), sink.data(), sink.size()) > 0) {
    }
    loop.runOnce(Milliseconds(1000));
    CHECK(probe.writable());
    CHECK(probe.turns == 1);
}

TEST_CASE("the peer's end shows as a flag, and as readable so that it is read") {
    EventLoop loop;
    Probe probe(loop);
    SECTION("half closed") {
        REQUIRE(::shutdown(probe.pair.peer(), SHUT_WR) == 0);
        loop.runOnce(Milliseconds(1000));
        CHECK_FALSE(probe.broken());
    }
    SECTION("closed") {
        probe.pair.closePeer();
        loop.runOnce(Milliseconds(1000));
        CHECK(probe.broken());
    }
    CHECK(probe.peerClosed());
    CHECK(probe.readable());
    CHECK(probe.turns == 1);
}

TEST_CASE("an event for a source that was closed earlier in the batch is dropped") {
    EventLoop loop;
    Probe first(loop);
    Probe second(loop);
    // Whichever comes first closes the other.
    first.then = [&] { loop.close(second); };
    second.then = [&] { loop.close(first); };
    first.pair.send();
    second.pair.send();
    loop.runOnce(Milliseconds(1000));
    CHECK(first.turns + second.turns == 1);
    CHECK(loop.counters().staleEvents == 1);
    CHECK(loop.counters().sources == 1);
}

TEST_CASE("an event for a closed source does not reach the one that took its place in the same batch") {
    EventLoop loop;
    Probe first(loop);
    Probe second(loop);
    std::unique_ptr<Probe> successor;
    int closedFd = -1;
    const auto replace = [&](Probe& other) {
        closedFd = other.fd();
        loop.close(other);
        successor = std::make_unique<Probe>(loop);
    };
    first.then = [&] { replace(second); };
    second.then = [&] { replace(first); };
    first.pair.send();
    second.pair.send();
    loop.runOnce(Milliseconds(1000));
    REQUIRE(successor);
    CHECK(successor->turns == 0);
    CHECK_FALSE(successor->readable());
    CHECK(loop.counters().staleEvents == 1);
    CHECK(successor->fd() != closedFd);  // the number was not free yet

    // Now it is, and a source on it hears only of its own.
    const int copy = ::fcntl(successor->pair.peer(), F_DUPFD_CLOEXEC, closedFd);
    REQUIRE(copy == closedFd);
    struct Plain final : Source {
        void onReady() override { ++turns; }
        int turns = 0;
    } reused;
    REQUIRE(loop.add(reused, copy));
    loop.runOnce(Milliseconds(0));
    CHECK(reused.turns == 0);
    CHECK(loop.counters().staleEvents == 1);
    loop.close(reused);
}

TEST_CASE("a descriptor is closed at the end of the batch, not before") {
    EventLoop loop;
    Probe probe(loop);
    const int fd = probe.fd();
    bool openAfterClose = false;
    probe.then = [&] {
        loop.close(probe);
        openAfterClose = isOpen(fd);
    };
    probe.pair.send();
    loop.runOnce(Milliseconds(1000));
    CHECK(openAfterClose);
    CHECK_FALSE(isOpen(fd));
    CHECK(probe.fd() == -1);
    char byte;
    CHECK(readSome(probe.pair.peer(), &byte, 1) <= 0);
}

TEST_CASE("what is closed outside of a batch is closed by the next one or with the loop") {
    auto loop = std::make_unique<EventLoop>();
    int fd = -1;
    {
        Probe probe(*loop);
        fd = probe.fd();
        probe.pair.send();
    }
    SECTION("the next batch") { loop->runOnce(Milliseconds(0)); }
    SECTION("the end of the loop") { loop.reset(); }
    CHECK_FALSE(isOpen(fd));
}

TEST_CASE("a source may be destroyed in its own turn and its object retired") {
    EventLoop loop;
    struct Tail {
        ~Tail() { *gone = true; }
        bool* gone;
    };
    bool gone = false;
    bool goneInTurn = true;
    auto probe = std::make_unique<Probe>(loop);
    Probe* raw = probe.get();
    raw->then = [&] {
        loop.retire(std::make_unique<Tail>(Tail{&gone}));
        gone = false;  // the temporary above
        loop.close(*raw);
        loop.retire(std::move(probe));
        goneInTurn = gone;
    };
    raw->pair.send();
    loop.runOnce(Milliseconds(1000));
    CHECK_FALSE(goneInTurn);
    CHECK(gone);
    CHECK(loop.counters().sources == 0);
}

TEST_CASE("a source that always requeues itself does not starve another") {
    EventLoop loop;
    Probe greedy(loop);
    Probe modest(loop);
    greedy.then = [&] { loop.requeue(greedy); };
    greedy.pair.send();
    loop.runOnce(Milliseconds(1000));
    for (int round = 0; round < 10; ++round) {
        modest.clearReadable();
        modest.pair.send();
        const int before = greedy.turns;
        loop.runOnce(Milliseconds(60'000));  // a requeued source makes this wait a poll
        CHECK(modest.turns == round + 1);
        CHECK(greedy.turns == before + 1);
    }
}

TEST_CASE("requeued sources take turns, and timers and messages come between them") {
    EventLoop loop;
    std::string order;
    Probe a(loop);
    Probe b(loop);
    a.then = [&] {
        order += 'a';
        loop.requeue(a);
        loop.requeue(a);
    };
    b.then = [&] {
        order += 'b';
        loop.requeue(b);
    };
    bool fired = false;
    bool posted = false;
    Alarm alarm([&] { fired = true; });
    loop.requeue(a);
    loop.requeue(b);
    loop.runOnce(Milliseconds(0));
    loop.runOnce(Milliseconds(0));
    loop.runOnce(Milliseconds(0));
    CHECK(order == "ababab");

    alarm.timer.arm(loop, Milliseconds(20));
    loop.post([&] { posted = true; });
    runUntil(loop, [&] { return fired && posted; });
    CHECK(a.turns == b.turns);
}

TEST_CASE("a requeued source that is closed gets no turn") {
    EventLoop loop;
    Probe probe(loop);
    Probe closer(loop);
    closer.then = [&] { loop.close(probe); };
    loop.requeue(closer);
    loop.requeue(probe);
    loop.runOnce(Milliseconds(0));
    CHECK(closer.turns == 1);
    CHECK(probe.turns == 0);
    loop.runOnce(Milliseconds(0));
    CHECK(probe.turns == 0);
}

TEST_CASE("what is deferred runs once, behind the batch's events, or at its end when turns and timers defer it") {
    EventLoop loop;
    std::string order;
    Probe a(loop);
    Probe b(loop);
    Alarm alarm([&] {
        order += 't';
        loop.defer(b);
    });
    a.then = [&] {
        order += 'a';
        loop.defer(a);
        loop.defer(a);
        loop.requeue(b);
    };
    a.later = [&] { order += 'A'; };
    b.then = [&] { order += 'b'; };
    b.later = [&] { order += 'B'; };
    alarm.timer.arm(loop, Milliseconds(0));
    const std::uint64_t due = loop.nowMs() + 5 * EventLoop::kTickMs;
    while (loop.nowNs() < due * 1'000'000) {
    }
    a.pair.send();
    loop.post([&] { order += 'm'; });
    loop.runOnce(Milliseconds(1000));
    CHECK((order == "amAbtB" || order == "maAbtB"));
    loop.runOnce(Milliseconds(0));
    CHECK(order.size() == 6);
}

TEST_CASE("what is deferred outside of a batch does not wait for an event") {
    EventLoop loop;
    Probe probe(loop);
    int calls = 0;
    probe.later = [&] {
        ++calls;
        loop.stop();  // an event for the wait that comes
    };
    loop.defer(probe);
    const std::uint64_t began = loop.nowNs();
    loop.runOnce(Milliseconds(60'000));
    CHECK(calls == 1);
    CHECK(loop.nowNs() - began < 30'000'000'000);
}

TEST_CASE("a deferred source may be closed, by itself or by another, and defer another") {
    EventLoop loop;
    std::string order;
    Probe first(loop);
    Probe gone(loop);
    Probe last(loop);
    first.later = [&] {
        order += '1';
        loop.close(gone);
        loop.defer(last);
        loop.close(first);
    };
    gone.later = [&] { order += '2'; };
    last.later = [&] { order += '3'; };
    loop.defer(first);
    loop.defer(gone);
    loop.runOnce(Milliseconds(0));
    CHECK(order == "13");
}

TEST_CASE("a source that is deferred once more while others have their call may be closed") {
    EventLoop loop;
    int calls = 0;
    Probe again(loop);
    Probe other(loop);
    again.later = [&] { ++calls; };
    other.later = [&] {
        loop.defer(again);
        loop.close(again);
    };
    loop.defer(again);
    loop.defer(other);
    loop.runOnce(Milliseconds(0));
    CHECK(calls == 1);
}

TEST_CASE("a timer is never early and not much late") {
    EventLoop loop;
    const int delay = GENERATE(0, 1, 9, 10, 11, 25, 60);
    bool fired = false;
    Alarm alarm([&] { fired = true; });
    const std::uint64_t start = loop.nowNs();
    alarm.timer.arm(loop, Milliseconds(delay));
    CHECK(alarm.timer.armed());
    runUntil(loop, [&] { return fired; });
    const auto elapsed = static_cast<double>(loop.nowNs() - start) / 1e6;
    CHECK(elapsed >= delay);
    CHECK(elapsed < delay + 2000);  // a busy machine
    CHECK_FALSE(alarm.timer.armed());
}

TEST_CASE("timers fire in order, move when armed again, and may do so in a callback") {
    EventLoop loop;
    std::string order;
    Alarm late([&] { order += 'l'; });
    Alarm moved([&] { order += 'm'; });
    Alarm never([&] { order += 'n'; });
    Alarm early([&] {
        order += 'e';
        never.timer.disarm();
    });
    int rounds = 0;
    Alarm again([&] {
        order += 'a';
        if (++rounds < 3) again.timer.arm(loop, Milliseconds(0));
    });
    moved.timer.arm(loop, Milliseconds(5));
    late.timer.arm(loop, Milliseconds(200));
    early.timer.arm(loop, Milliseconds(30));
    never.timer.arm(loop, Milliseconds(60));
    again.timer.arm(loop, Milliseconds(100));
    moved.timer.arm(loop, Milliseconds(300));
    runUntil(loop, [&] { return !moved.timer.armed(); });
    CHECK(order == "eaaalm");
}

TEST_CASE("a timer armed long after the last wake counts from then") {
    EventLoop loop;
    const std::uint64_t start = loop.nowMs();
    while (loop.nowNs() / 1'000'000 < start + 40) {
    }
    bool fired = false;
    Alarm alarm([&] { fired = true; });
    const std::uint64_t armed = loop.nowNs();
    alarm.timer.arm(loop, Milliseconds(30));
    runUntil(loop, [&] { return fired; });
    CHECK(loop.nowNs() - armed >= 30'000'000);
}

TEST_CASE("a deadline in the far future neither fires nor overflows") {
    EventLoop loop;
    Alarm day([] { FAIL("fired"); });
    Alarm ever([] { FAIL("fired"); });
    day.timer.arm(loop, std::chrono::hours(24));
    ever.timer.arm(loop, Milliseconds::max());
    loop.runOnce(Milliseconds(20));
    CHECK(day.timer.armed());
    CHECK(ever.timer.armed());
}

TEST_CASE("the cached clock moves once per wake") {
    EventLoop loop;
    std::uint64_t first = 0;
    std::uint64_t second = 0;
    loop.post([&] {
        first = loop.nowMs();
        while (loop.nowNs() / 1'000'000 < first + 3) {
        }
        second = loop.nowMs();
    });
    loop.runOnce(Milliseconds(1000));
    CHECK(first == second);
    loop.runOnce(Milliseconds(0));
    CHECK(loop.nowMs() >= first + 3);
}

TEST_CASE("messages of several threads all run on the loop's thread, each thread's in order") {
    constexpr int kThreads = 4;
    constexpr int kEach = 5000;
    EventLoop loop;
    const auto loopThread = std::this_thread::get_id();
    std::vector<int> next(kThreads, 0);
    int outOfOrder = 0;
    int elsewhere = 0;
    int ran = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
        threads.emplace_back([&, t] {
            for (int i = 0; i < kEach; ++i) {
                loop.post([&, t, i] {
                    if (next[static_cast<std::size_t>(t)]++ != i) ++outOfOrder;
                    if (std::this_thread::get_id() != loopThread) ++elsewhere;
                    if (++ran == kThreads * kEach) loop.stop();
                });
            }
        });
    }
    loop.run();
    for (std::thread& thread : threads) thread.join();
    CHECK(ran == kThreads * kEach);
    CHECK(outOfOrder == 0);
    CHECK(elsewhere == 0);
}

TEST_CASE("messages that were waiting together cost one wake") {
    EventLoop loop;
    int ran = 0;
    for (int i = 0; i < 100; ++i) loop.post([&] { ++ran; });
    loop.runOnce(Milliseconds(1000));
    CHECK(ran == 100);
    CHECK(loop.counters().wakes == 1);
}

TEST_CASE("a message that posts another leaves it for the next batch") {
    EventLoop loop;
    int ran = 0;
    loop.post([&] {
        ++ran;
        loop.post([&] { ++ran; });
    });
    loop.runOnce(Milliseconds(1000));
    CHECK(ran == 1);
    loop.runOnce(Milliseconds(1000));
    CHECK(ran == 2);
}

TEST_CASE("messages left when the loop ends are deleted unrun") {
    const auto token = std::make_shared<int>(0);
    bool ran = false;
    {
        EventLoop loop;
        loop.post([token, &ran] { ran = true; });
        loop.post([token, &ran] { ran = true; });
        CHECK(token.use_count() == 3);
    }
    CHECK_FALSE(ran);
    CHECK(token.use_count() == 1);
}

TEST_CASE("stop ends run from another thread, from within and beforehand") {
    EventLoop loop;
    SECTION("another thread") {
        std::atomic<bool> running{false};
        std::thread stopper([&] {
            while (!running) std::this_thread::yield();
            loop.stop();
        });
        loop.post([&] { running = true; });
        loop.run();
        stopper.join();
    }
    SECTION("within") {
        loop.post([&] { loop.stop(); });
        loop.run();
    }
    SECTION("beforehand") {
        loop.stop();
        loop.run();
        CHECK(loop.counters().wakes == 0);
    }
    bool ran = false;
    loop.post([&] {
        ran = true;
        loop.stop();
    });
    loop.run();  // works again
    CHECK(ran);
}

TEST_CASE("a descriptor the system cannot watch is refused and stays the caller's") {
    EventLoop loop;
    struct Plain final : Source {
        void onReady() override {}
    } source;
    const int file = ::open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    REQUIRE(file >= 0);
    CHECK_FALSE(loop.add(source, file));
    CHECK(errno == EPERM);
    CHECK(source.fd() == -1);
    CHECK(loop.counters().sources == 0);
    CHECK(isOpen(file));
    ::close(file);
}

}  // namespace weir::net
