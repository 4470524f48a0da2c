#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/loop_counter.hpp"
#include "net/timer_wheel.hpp"

struct epoll_event;

namespace weir::net {

// A descriptor that a loop watches. The owner derives from it; the loop calls onReady() on its own thread whenever
// readiness was gained (one of the flags below turned true), or when the source asked to be called again. The flags are
// set by edges and cleared by the owner: after a read that returned less than asked for or EAGAIN, after a write that
// hit EAGAIN. An edge for a flag that is still set brings no call, so an owner that stops half way requeues or
// remembers. Not thread safe.
class Source {
public:
    Source(const Source&) = delete;
    Source& operator=(const Source&) = delete;

    int fd() const { return fd_; }  // -1 when not registered
    bool readable() const { return readable_; }
    bool writable() const { return writable_; }
    bool peerClosed() const { return peerClosed_; }  // EPOLLRDHUP: the peer has shut down its sending side
    bool broken() const { return broken_; }          // EPOLLERR or EPOLLHUP; also readable and writable, to be seen
    void clearReadable() { readable_ = false; }
    void clearWritable() { writable_ = false; }

protected:
    Source() = default;
    virtual ~Source();  // asserts that it is no longer registered

    // May close or destroy this source or any other.
    virtual void onReady() = 0;
    // After EventLoop::defer(); likewise.
    virtual void onDeferred() {}

private:
    friend class EventLoop;

    int fd_ = -1;
    std::uint32_t slot_ = 0;
    bool readable_ = false;
    bool writable_ = false;
    bool peerClosed_ = false;
    bool broken_ = false;
    bool queued_ = false;    // on the ready list
    bool deferred_ = false;  // on the list of defer()
    Source* nextReady_ = nullptr;
    Source* previousReady_ = nullptr;
};

// What another thread hands to a loop. Runs there once and is deleted; if the loop ends first it is deleted unrun.
class Message {
public:
    virtual ~Message() = default;
    virtual void run() = 0;

private:
    friend class EventLoop;
    Message* next_ = nullptr;
};

// Edge-triggered epoll, one thread. A descriptor is registered once for reading and writing and stays so until closed.
// Events carry a slot and its generation: one for a descriptor that was closed earlier in the same batch is recognised
// and dropped, also when its number is in use again. Descriptors and retired objects go at the end of the batch.
// A batch is one epoll_wait: its events and messages, what these deferred, one turn for each source that was requeued,
// the timers due, what turns and timers deferred. While sources are requeued the next wait does not block. Nothing here
// allocates per event, message run, timer or wake. Callbacks do not throw.
class EventLoop {
public:
    EventLoop();   // throws std::system_error when the system has no descriptor left
    ~EventLoop();  // all sources are closed and all posting threads gone by then; armed timers become disarmed
    EventLoop(const EventLoop&) = delete;
    EventLoop& operator=(const EventLoop&) = delete;

    // ---- loop thread (or before run) ----
    // Takes the descriptor over (non-blocking already). Edge-triggered, starts writable and not readable; what is
    // readable already comes as an edge. For a connect under way call clearWritable() after it, then wait for writable.
    // Returns false when the system refuses (errno is set, fd stays the caller's).
    [[nodiscard]] bool add(Source& source, int fd);
    // For acceptors: level-triggered, reading only, so that a bounded batch of accepts needs no requeue. onReady()
    // clears readable itself.
    [[nodiscard]] bool addListener(Source& source, int fd);
    // No onReady() after this; the descriptor is closed at the end of the batch (of the next one, outside of a batch).
    // The source may be destroyed or retired at once, or registered again.
    void close(Source& source);
    // A listener's interest off and on again (out of descriptors).
    void pauseListener(Source& source);
    void resumeListener(Source& source);
    // Call onReady() again once every other ready source had its turn. Twice is once.
    void requeue(Source& source);
    // Call onDeferred() once: behind the events of the batch, or at its end when it is past those (before the next one,
    // outside of a batch). For sends: those of one batch follow each other closely then, and a peer that is served by
    // one process wakes up for all of them at once, which the sender pays for. Twice is once.
    void defer(Source& source);
    // Deletes the object at the end of the batch, when no caller on the stack can still refer to it.
    template <class T>
    void retire(std::unique_ptr<T> object) {
        retired_.push_back({object.release(), [](void* p) { delete static_cast<T*>(p); }});
    }

    // Cached once per wake. Steady milliseconds, nanoseconds since an arbitrary start.
    std::uint64_t nowMs() const { return nowMs_; }
    std::uint64_t wokeNs() const { return wokeNs_; }
    std::uint64_t nowNs() const;  // read anew from the steady clock

    // Until stop(). Everything above runs inside.
    void run();
    // One wait of at most `wait` and the batch it brought; for tests.
    void runOnce(Milliseconds wait);

    // ---- any thread ----
    // run() returns after the present batch; a call before run() counts. Safe in a signal handler.
    void stop();
    // In order for each posting thread. Wakes the loop only when no message was waiting.
    void post(std::unique_ptr<Message> message);
    template <std::invocable F>
    void post(F function) {
        struct Call final : Message {
            explicit Call(F f) : function_(std::move(f)) {}
            void run() override { function_(); }
            F function_;
        };
        post(std::unique_ptr<Message>(new Call(std::move(function))));
    }

    struct Counters {               // loop thread; for tests and metrics
        std::uint64_t wakes = 0;        // epoll_wait calls
        std::uint64_t staleEvents = 0;  // dropped by generation
        std::uint64_t sources = 0;      // registered now
    };
    const Counters& counters() const { return counters_; }
    // How long its batches took: what came meanwhile had to wait for that. Any thread may read.
    using Busy = base::LoopHistogram<100'000, 500'000, 1'000'000, 5'000'000, 10'000'000, 50'000'000, 100'000'000,
                                     500'000'000, 1'000'000'000, 5'000'000'000>;
    const Busy& busy() const { return busy_; }

    static constexpr std::uint64_t kTickMs = 10;

private:
    friend class Timer;
    struct Private;
    struct Retired {
        void* object;
        void (*destroy)(void*);
    };

    bool registerSource(Source& source, int fd, std::uint32_t events);
    void modifyListener(Source& source, std::uint32_t events);
    void arm(Timer& timer, Milliseconds delay);
    void unhook(Source& source);
    void wake();
    void runBatch(int waitMs);
    int waitMs(int limit) const;
    void dispatch(const epoll_event& event);
    void runMessages();
    void runReady();
    void runDeferred();
    void finishBatch();

    std::vector<Retired> retired_;
    std::uint64_t wokeNs_;
    std::uint64_t nowMs_;  // wokeNs_, or later: a timer armed outside of a batch, and runOnce(), read the clock anew
    Counters counters_;
    Busy busy_;
    std::unique_ptr<Private> private_;
};

}  // namespace weir::net
