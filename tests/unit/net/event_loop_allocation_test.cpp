#include <atomic>
#include <cstdlib>
#include <new>

#include "net/event_loop.hpp"
#include "net/socket.hpp"
#include "probe.hpp"

namespace {
std::atomic<std::size_t> allocations{0};
}  // namespace

void* operator new(std::size_t size) {
    ++allocations;
    if (void* memory = std::malloc(size)) return memory;
    throw std::bad_alloc();
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    ++allocations;
    return std::malloc(size);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace weir::net {

TEST_CASE("waking, reading, requeueing, closing and arming timers allocate nothing") {
    struct Reader final : Source {
        void onReady() override {
            char bytes[16];
            if (readSome(fd(), bytes, sizeof bytes) < static_cast<ssize_t>(sizeof bytes)) clearReadable();
            ++turns;
        }
        int turns = 0;
    };
    EventLoop loop;
    SocketPair first;
    SocketPair second;
    Reader reader;
    int fired = 0;
    Timer timer([](void* count) { ++*static_cast<int*>(count); }, &fired);
    const auto round = [&](SocketPair& pair) {
        if (!loop.add(reader, pair.takeOurs())) return;
        for (int i = 0; i < 100; ++i) {
            const char byte = 'x';
            if (::write(pair.peer(), &byte, 1) != 1) return;
            timer.arm(loop, Milliseconds(i * 1000));
            loop.requeue(reader);
            loop.runOnce(Milliseconds(1000));
        }
        timer.arm(loop, Milliseconds(0));
        while (timer.armed()) loop.runOnce(Milliseconds(100));
        loop.close(reader);
        loop.runOnce(Milliseconds(0));
    };
    round(first);  // the slot table and the list of descriptors to close get their memory
    const int turnsBefore = reader.turns;
    const std::size_t before = allocations;
    round(second);
    const std::size_t after = allocations;
    CHECK(after == before);
    CHECK(reader.turns >= turnsBefore + 100);
    CHECK(fired >= 2);
}

}  // namespace weir::net
