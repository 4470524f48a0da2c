#include "net/event_loop.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <limits>
#include <system_error>

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/assert.hpp"
#include "base/steady_clock.hpp"

namespace weir::net {

namespace {

constexpr std::uint64_t kWakeToken = ~std::uint64_t{0};
constexpr std::uint32_t kNoSlot = ~std::uint32_t{0};
constexpr std::size_t kEventsPerBatch = 32;  // what is deferred waits for all of them

using base::steadyNs;

std::uint64_t steadyMs() { return steadyNs() / 1'000'000; }

int openOrThrow(int fd, const char* what) {
    if (fd < 0) throw std::system_error(errno, std::generic_category(), what);
    return fd;
}

struct Descriptor {
    explicit Descriptor(int number) : fd(number) {}
    ~Descriptor() { ::close(fd); }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;

    const int fd;
};

// Where an event's token points. The generation grows with each close, so a token fits one registration only.
struct Slot {
    Source* source = nullptr;
    std::uint32_t generation = 0;
    std::uint32_t nextFree = kNoSlot;
};

}  // namespace

struct EventLoop::Private {
    explicit Private(std::uint64_t tick) : wheel(tick) {}

    std::uint64_t token(const Source& source) const {
        return std::uint64_t{slots[source.slot_].generation} << 32 | source.slot_;
    }

    std::uint32_t takeSlot(Source& source) {
        if (freeSlot == kNoSlot) {
            slots.emplace_back();
            freeSlot = static_cast<std::uint32_t>(slots.size() - 1);
        }
        const std::uint32_t index = freeSlot;
        freeSlot = slots[index].nextFree;
        slots[index].source = &source;
        return index;
    }

    void giveSlot(std::uint32_t index) {
        slots[index] = {nullptr, slots[index].generation + 1, freeSlot};
        freeSlot = index;
    }

    const Descriptor epoll{openOrThrow(::epoll_create1(EPOLL_CLOEXEC), "epoll_create1")};
    const Descriptor wakeup{openOrThrow(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), "eventfd")};
    std::array<epoll_event, kEventsPerBatch> events;
    std::vector<Slot> slots;
    std::uint32_t freeSlot = kNoSlot;
    std::vector<int> closing;
    Source* firstReady = nullptr;
    Source* lastReady = nullptr;
    std::size_t readyCount = 0;
    std::vector<Source*> deferred;  // null: has had its call, or is closed
    TimerWheel wheel;
    bool inBatch = false;

    // The only members other threads touch, on a cache line of their own.
    alignas(64) std::atomic<Message*> messages{nullptr};  // newest first
    std::atomic<bool> stopped{false};
};

Source::~Source() { WEIR_ASSERT(fd_ < 0); }

void Timer::arm(EventLoop& loop, Milliseconds delay) { loop.arm(*this, delay); }

EventLoop::EventLoop()
    : wokeNs_(steadyNs()), nowMs_(wokeNs_ / 1'000'000), private_(std::make_unique<Private>(nowMs_ / kTickMs)) {
    // Edge-triggered, so that the count need not be read back: every write is an edge.
    epoll_event event{};
    event.events = EPOLLIN | EPOLLET;
    event.data.u64 = kWakeToken;
    openOrThrow(::epoll_ctl(private_->epoll.fd, EPOLL_CTL_ADD, private_->wakeup.fd, &event), "epoll_ctl");
}

EventLoop::~EventLoop() {
    finishBatch();
    while (Message* message = private_->messages.exchange(nullptr, std::memory_order_acquire)) {
        while (message) {
            Message* next = message->next_;
            delete message;
            message = next;
        }
        finishBatch();  // what they owned may have been closed or retired just now
    }
    WEIR_ASSERT(counters_.sources == 0);
}

bool EventLoop::add(Source& source, int fd) {
    if (!registerSource(source, fd, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET)) return false;
    source.writable_ = true;
    return true;
}

bool EventLoop::addListener(Source& source, int fd) { return registerSource(source, fd, EPOLLIN); }

bool EventLoop::registerSource(Source& source, int fd, std::uint32_t events) {
    WEIR_ASSERT(source.fd_ < 0 && fd >= 0);
    source.slot_ = private_->takeSlot(source);
    epoll_event event{};
    event.events = events;
    event.data.u64 = private_->token(source);
    if (::epoll_ctl(private_->epoll.fd, EPOLL_CTL_ADD, fd, &event) < 0) {
        private_->giveSlot(source.slot_);
        return false;
    }
    source.fd_ = fd;
    ++counters_.sources;
    return true;
}

void EventLoop::close(Source& source) {
    WEIR_ASSERT(source.fd_ >= 0);
    if (source.queued_) unhook(source);
    if (std::exchange(source.deferred_, false)) *std::ranges::find(private_->deferred, &source) = nullptr;
    private_->giveSlot(source.slot_);
    private_->closing.push_back(source.fd_);  // closing it leaves epoll too: no epoll_ctl needed
    source.fd_ = -1;
    source.readable_ = source.writable_ = source.peerClosed_ = source.broken_ = false;
    --counters_.sources;
}

void EventLoop::pauseListener(Source& source) { modifyListener(source, 0); }

void EventLoop::resumeListener(Source& source) { modifyListener(source, EPOLLIN); }

void EventLoop::modifyListener(Source& source, std::uint32_t events) {
    WEIR_ASSERT(source.fd_ >= 0);
    epoll_event event{};
    event.events = events;
    event.data.u64 = private_->token(source);
    const int result = ::epoll_ctl(private_->epoll.fd, EPOLL_CTL_MOD, source.fd_, &event);
    WEIR_ASSERT(result == 0);
}

void EventLoop::requeue(Source& source) {
    WEIR_ASSERT(source.fd_ >= 0);
    if (source.queued_) return;
    source.queued_ = true;
    source.nextReady_ = nullptr;
    source.previousReady_ = private_->lastReady;
    (private_->lastReady ? private_->lastReady->nextReady_ : private_->firstReady) = &source;
    private_->lastReady = &source;
    ++private_->readyCount;
}

void EventLoop::unhook(Source& source) {
    (source.previousReady_ ? source.previousReady_->nextReady_ : private_->firstReady) = source.nextReady_;
    (source.nextReady_ ? source.nextReady_->previousReady_ : private_->lastReady) = source.previousReady_;
    source.queued_ = false;
    --private_->readyCount;
}

void EventLoop::defer(Source& source) {
    WEIR_ASSERT(source.fd_ >= 0);
    if (std::exchange(source.deferred_, true)) return;
    private_->deferred.push_back(&source);
}

std::uint64_t EventLoop::nowNs() const { return steadyNs(); }

void EventLoop::arm(Timer& timer, Milliseconds delay) {
    if (!private_->inBatch) [[unlikely]] nowMs_ = steadyMs();  // the last wake may be long ago
    const auto ms = static_cast<std::uint64_t>(std::max<Milliseconds::rep>(delay.count(), 0));
    // One more than the whole ticks in it: nowMs_ itself is rounded down, and early is never right.
    private_->wheel.arm(timer, (nowMs_ + ms) / kTickMs + 1);
}

void EventLoop::run() {
    while (!private_->stopped.load(std::memory_order_acquire)) runBatch(std::numeric_limits<int>::max());
    private_->stopped.store(false, std::memory_order_relaxed);
}

void EventLoop::runOnce(Milliseconds wait) {
    nowMs_ = steadyMs();
    runBatch(static_cast<int>(wait.count()));
}

void EventLoop::runBatch(int limit) {
    WEIR_ASSERT(!private_->inBatch);
    runDeferred();  // what was deferred or closed since the last one, by code outside of any
    finishBatch();
    const auto size = static_cast<int>(private_->events.size());
    const int count = ::epoll_wait(private_->epoll.fd, private_->events.data(), size, waitMs(limit));
    WEIR_ASSERT(count >= 0 || errno == EINTR);
    ++counters_.wakes;
    wokeNs_ = steadyNs();
    nowMs_ = wokeNs_ / 1'000'000;
    private_->inBatch = true;
    for (int i = 0; i < count; ++i) dispatch(private_->events[static_cast<std::size_t>(i)]);
    runDeferred();
    runReady();
    private_->wheel.advance(nowMs_ / kTickMs);
    runDeferred();
    finishBatch();
    private_->inBatch = false;
    busy_.observe(steadyNs() - wokeNs_);
}

int EventLoop::waitMs(int limit) const {
    if (private_->readyCount) return 0;
    const std::uint64_t tick = private_->wheel.nextTick();
    if (tick == TimerWheel::kNever) return limit == std::numeric_limits<int>::max() ? -1 : limit;
    const std::uint64_t at = tick * kTickMs;  // at most a turn away, so the difference fits
    return at <= nowMs_ ? 0 : std::min(limit, static_cast<int>(at - nowMs_));
}

void EventLoop::dispatch(const epoll_event& event) {
    const std::uint64_t token = event.data.u64;
    if (token == kWakeToken) return runMessages();
    const Slot& slot = private_->slots[static_cast<std::uint32_t>(token)];
    if (slot.generation != token >> 32) {
        ++counters_.staleEvents;
        return;
    }
    Source& source = *slot.source;
    bool gained = false;
    const auto set = [&](bool& flag, std::uint32_t mask) {
        if (!(event.events & mask) || flag) return;
        flag = gained = true;
    };
    constexpr std::uint32_t kBroken = EPOLLERR | EPOLLHUP;
    set(source.readable_, EPOLLIN | EPOLLRDHUP | kBroken);
    set(source.writable_, EPOLLOUT | kBroken);
    set(source.peerClosed_, EPOLLRDHUP);
    set(source.broken_, kBroken);
    if (!gained) return;
    if (source.queued_) unhook(source);  // this is its turn
    source.onReady();
}

void EventLoop::runMessages() {
    Message* newest = private_->messages.exchange(nullptr, std::memory_order_acquire);
    Message* oldest = nullptr;
    while (newest) {
        Message* older = std::exchange(newest->next_, oldest);
        oldest = std::exchange(newest, older);
    }
    while (oldest) {
        const std::unique_ptr<Message> message(oldest);
        oldest = message->next_;
        message->run();
    }
}

void EventLoop::runReady() {
    // As many turns as there were sources at the start: one that requeues itself waits for the next batch.
    for (std::size_t turns = private_->readyCount; turns && private_->firstReady; --turns) {
        Source& source = *private_->firstReady;
        unhook(source);
        source.onReady();
    }
}

void EventLoop::runDeferred() {
    for (std::size_t i = 0; i < private_->deferred.size(); ++i) {  // one may defer another
        Source* const source = std::exchange(private_->deferred[i], nullptr);
        if (!source) continue;
        source->deferred_ = false;
        source->onDeferred();
    }
    private_->deferred.clear();
}

void EventLoop::finishBatch() {
    for (std::size_t i = 0; i < retired_.size(); ++i) {  // a destructor may retire more
        const Retired retired = retired_[i];
        retired.destroy(retired.object);
    }
    retired_.clear();
    for (const int fd : private_->closing) ::close(fd);
    private_->closing.clear();
}

void EventLoop::stop() {
    private_->stopped.store(true, std::memory_order_release);
    wake();
}

void EventLoop::post(std::unique_ptr<Message> message) {
    Message* const newest = message.release();
    Message* before = private_->messages.load(std::memory_order_relaxed);
    do {
        newest->next_ = before;
    } while (!private_->messages.compare_exchange_weak(before, newest, std::memory_order_release,
                                                       std::memory_order_relaxed));
    // From here on the message belongs to the loop. Whoever found the queue empty wakes it, for those behind as well.
    if (!before) wake();
}

void EventLoop::wake() {
    const std::uint64_t one = 1;
    // Fails only when the count is full, which takes 2^64 - 2 of them.
    [[maybe_unused]] const auto written = ::write(private_->wakeup.fd, &one, sizeof one);
}

}  // namespace weir::net
