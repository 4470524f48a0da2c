#pragma once

#include <chrono>
#include <coroutine>
#include <cstdint>
#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "weir/arena.hpp"
#include "weir/error.hpp"
#include "weir/exchange.hpp"

// Coroutines of a plugin. Only the host resumes, always through resume() of the plugin table: a suspended coroutine
// leaves the handle to go on with in its frame's root, and the trampoline resumes it there. No symmetric transfer (g++
// 12 makes it a real call at -O0, -O1 and under sanitizers), so the stack stays flat however deep tasks nest.

namespace weir {

template <class T = void>
class Task;

// What became of the rest of the chain.
enum class NextResult {
    Ok = WEIR_NEXT_OK,
    TimedOut = WEIR_NEXT_TIMED_OUT,           // the deadline passed; everything behind is cancelled and undone
    Failed = WEIR_NEXT_FAILED,                // a plugin behind failed; the error reply is in the response
    NotReplayable = WEIR_NEXT_NOT_REPLAYABLE  // a second walk was asked for, but the body is gone or the head is out
};

namespace detail {

// A failure on its way out of a coroutine, in the exchange's arena. Texts are copied at the catch: no exception object
// crosses a suspension or a shared object's border.
struct ErrorRecord {
    int status;
    int code;
    std::string_view text;

    void raise() const { throw Error(status, code, text); }
};

// The one object the host knows of a running coroutine (its weir_frame).
struct Root {
    Exchange* exchange;
    std::coroutine_handle<> leaf;        // to be resumed next; null: over
    std::coroutine_handle<> outer;       // execute() itself; destroying it destroys everything inside; null: gone
    const ErrorRecord* error = nullptr;  // of execute(), when it is over
    std::uint64_t deadlineNs = 0;
    const weir_event* event = nullptr;   // the last one, within the call that brought it
    std::int32_t answer = 0;             // 0: none yet, go on at the leaf
    bool forwarded = false;              // has called next()

    Root(Exchange& of, std::coroutine_handle<> execute) : exchange(&of), leaf(execute), outer(execute) {}
};
static_assert(sizeof(Root) <= WEIR_ARENA_STEP);

inline constexpr ErrorRecord kOutOfMemory{500, -1, "out of memory"};

inline const ErrorRecord* recordCurrentException(weir_exchange& exchange) noexcept {
    const auto record = [&exchange](int status, int code, const char* text) -> const ErrorRecord* {
        try {
            const std::size_t size = std::strlen(text);
            auto* block = static_cast<char*>(arenaAllocate(exchange, sizeof(ErrorRecord) + size));
            std::memcpy(block + sizeof(ErrorRecord), text, size);
            return new (block) ErrorRecord{status, code, {block + sizeof(ErrorRecord), size}};
        } catch (...) {
            return &kOutOfMemory;
        }
    };
    try {
        throw;
    } catch (const Error& error) {
        return record(error.status(), error.code(), error.what());
    } catch (const std::exception& error) {
        return record(500, -1, error.what());
    } catch (...) {
        return record(500, -1, "an exception of an unknown type");
    }
}

inline Exchange* findExchange() { return nullptr; }
template <class First, class... Rest>
Exchange* findExchange(First& first, Rest&... rest) {
    if constexpr (std::is_same_v<First, Exchange>) {
        return &first;
    } else {
        return findExchange(rest...);
    }
}

struct PromiseBase {
    Root* root = nullptr;
    std::coroutine_handle<> parent;
    const ErrorRecord* error = nullptr;

    // An inner task waits for its awaiter to take the result. execute() has none and is not suspended: its frame goes
    // at once, which spares destroying it from outside.
    class Final {
    public:
        explicit Final(bool outermost) noexcept : outermost_(outermost) {}
        bool await_ready() const noexcept { return outermost_; }
        void await_suspend(std::coroutine_handle<>) const noexcept {}
        void await_resume() const noexcept {}

    private:
        bool outermost_;
    };

    std::suspend_always initial_suspend() const noexcept { return {}; }
    Final final_suspend() const noexcept {
        root->leaf = parent;
        if (parent) return Final(false);
        root->outer = nullptr;
        root->error = error;
        root->answer = WEIR_DONE;
        return Final(true);
    }
    void unhandled_exception() noexcept { error = recordCurrentException(*root->exchange->raw()); }

    // Frames come from the arena of the Exchange& among the coroutine's parameters; a helper that has none gets a
    // counted block from the host.
    static constexpr std::size_t kHeader = WEIR_ARENA_ALIGN;

    template <class... Args>
    static void* operator new(std::size_t size, Args&... args) {
        Exchange* exchange = findExchange(args...);
        void* block = exchange ? arenaAllocate(*exchange->raw(), size + kHeader)
                               : hostTable->allocate(size + kHeader);
        if (!block) throw std::bad_alloc();
        weir_exchange* owner = exchange ? exchange->raw() : nullptr;
        std::memcpy(block, &owner, sizeof owner);
        return static_cast<char*>(block) + kHeader;
    }
    static void operator delete(void* frame, std::size_t size) noexcept {
        void* block = static_cast<char*>(frame) - kHeader;
        weir_exchange* owner = nullptr;
        std::memcpy(&owner, block, sizeof owner);
        if (owner) {
            arenaFree(*owner, block, size + kHeader);
        } else {
            hostTable->release(block, size + kHeader);
        }
    }
};

template <class T>
struct Promise : PromiseBase {
    std::optional<T> value;

    Task<T> get_return_object();
    template <class U>
    void return_value(U&& result) { value.emplace(std::forward<U>(result)); }
};

template <>
struct Promise<void> : PromiseBase {
    Task<void> get_return_object();
    void return_void() const noexcept {}
};

}  // namespace detail

// A coroutine that starts when awaited and ends before its awaiter goes on. References it takes must outlive the await,
// which they do when they are the awaiter's locals. Throws what its body threw, as weir::Error.
template <class T>
class [[nodiscard]] Task {
public:
    using promise_type = detail::Promise<T>;
    using Handle = std::coroutine_handle<promise_type>;

    explicit Task(Handle handle) noexcept : handle_(handle) {}
    Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
    Task& operator=(Task&& other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~Task() {
        if (handle_) handle_.destroy();
    }

    class Awaiter {
    public:
        explicit Awaiter(Handle child) noexcept : child_(child) {}
        bool await_ready() const noexcept { return false; }
        template <class Promise>
        void await_suspend(std::coroutine_handle<Promise> parent) const noexcept {
            detail::Root* root = parent.promise().root;
            child_.promise().root = root;
            child_.promise().parent = parent;
            root->leaf = child_;
        }
        T await_resume() const {
            if (const detail::ErrorRecord* error = child_.promise().error) error->raise();
            if constexpr (!std::is_void_v<T>) return std::move(*child_.promise().value);
        }

    private:
        Handle child_;
    };

    Awaiter operator co_await() && noexcept { return Awaiter(handle_); }

    Handle release() noexcept { return std::exchange(handle_, {}); }  // for the trampoline

private:
    Handle handle_;
};

namespace detail {

template <class T>
Task<T> Promise<T>::get_return_object() {
    return Task<T>(std::coroutine_handle<Promise<T>>::from_promise(*this));
}
inline Task<void> Promise<void>::get_return_object() {
    return Task<void>(std::coroutine_handle<Promise<void>>::from_promise(*this));
}

// Waits for an operation of the host that `Start` begins. Derived awaiters read event(); when nothing could be
// started, its status is Start::kNotStarted.
template <class Start>
class OperationAwaiter {
public:
    explicit OperationAwaiter(Start start) : start_(std::move(start)) {}
    bool await_ready() const noexcept { return false; }
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> handle) {
        root_ = handle.promise().root;
        if (start_(root_->exchange->raw()) == 0) {
            root_->event = &kNotStarted;
            return false;  // nothing was started: go on at once
        }
        root_->leaf = handle;
        root_->answer = WEIR_SUSPENDED;
        return true;
    }

protected:
    const weir_event& event() const { return *root_->event; }
    Start& start() { return start_; }

private:
    static constexpr weir_event kNotStarted{sizeof(weir_event), WEIR_EVENT_COMPLETED, 0, Start::kNotStarted, {}};

    Start start_;
    Root* root_ = nullptr;
};

struct StartBody {
    static constexpr std::int32_t kNotStarted = WEIR_NO_MEMORY;
    std::size_t limit;
    explicit StartBody(std::size_t bytes) : limit(bytes) {}
    weir_operation operator()(weir_exchange* exchange) const { return hostTable->request_body(exchange, limit); }
};
struct StartResponseBody {
    static constexpr std::int32_t kNotStarted = WEIR_NO_MEMORY;
    std::size_t limit;
    explicit StartResponseBody(std::size_t bytes) : limit(bytes) {}
    weir_operation operator()(weir_exchange* exchange) const { return hostTable->response_body(exchange, limit); }
};
struct StartSleep {
    static constexpr std::int32_t kNotStarted = WEIR_NO_MEMORY;
    std::uint64_t ns;
    explicit StartSleep(std::uint64_t duration) : ns(duration) {}
    weir_operation operator()(weir_exchange* exchange) const { return hostTable->sleep(exchange, ns); }
};
struct StartCall {
    static constexpr std::int32_t kNotStarted = WEIR_CALL_NONE;
    StartCall() {}
    weir_operation operator()(weir_exchange* exchange) const { return hostTable->upstream_call(exchange); }
};

// What an offloaded function left behind: written by the worker, read by the loop after the completion.
struct OffloadFailure {
    bool failed = false;
    int status = 500;
    int code = -1;
    std::string text;

    OffloadFailure() {}
    template <class F>
    void guard(F&& function) noexcept {
        try {
            function();
        } catch (const Error& error) {
            set(error.status(), error.code(), error.what());
        } catch (const std::exception& error) {
            set(500, -1, error.what());
        } catch (...) {
            set(500, -1, "an exception of an unknown type");
        }
    }
    void set(int httpStatus, int errorCode, const char* what) noexcept {
        failed = true;
        status = httpStatus;
        code = errorCode;
        try {
            text = what;
        } catch (...) {  // the codes alone must do
        }
    }
};

template <class F>
class OffloadAwaiter {
public:
    using Result = std::invoke_result_t<F&>;

    explicit OffloadAwaiter(F function) : function_(std::move(function)) {}
    OffloadAwaiter(const OffloadAwaiter&) = delete;

    bool await_ready() const noexcept { return false; }
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> handle) {
        Root* root = handle.promise().root;
        // The worker may be done before this returns, but its completion only comes back through the loop.
        if (hostTable->offload(root->exchange->raw(), &OffloadAwaiter::work, this) == 0) {
            failure_.set(503, -1, "no worker thread for offloaded work");
            return false;
        }
        root->leaf = handle;
        root->answer = WEIR_SUSPENDED;
        return true;
    }
    Result await_resume() {
        if (failure_.failed) throw Error(failure_.status, failure_.code, failure_.text);
        if constexpr (!std::is_void_v<Result>) return std::move(*result_);
    }

private:
    struct Nothing {};
    static void work(void* self) {
        auto& that = *static_cast<OffloadAwaiter*>(self);
        that.failure_.guard([&that] {
            if constexpr (std::is_void_v<Result>) {
                that.function_();
            } else {
                that.result_.emplace(that.function_());
            }
        });
    }

    F function_;
    std::optional<std::conditional_t<std::is_void_v<Result>, Nothing, Result>> result_;
    OffloadFailure failure_;
};

class NextAwaiter {
public:
    explicit NextAwaiter(std::uint64_t deadlineNs) : deadlineNs_(deadlineNs) {}
    bool await_ready() const noexcept { return false; }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> handle) noexcept {
        root_ = handle.promise().root;
        root_->leaf = handle;
        root_->answer = WEIR_FORWARD;
        root_->forwarded = true;
        root_->deadlineNs = deadlineNs_;
    }
    NextResult await_resume() const noexcept { return static_cast<NextResult>(root_->event->status); }

private:
    std::uint64_t deadlineNs_;
    Root* root_ = nullptr;
};

class LeaveAwaiter {
public:
    LeaveAwaiter() {}
    bool await_ready() const noexcept { return false; }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> handle) const noexcept {
        Root* root = handle.promise().root;
        root->leaf = nullptr;
        root->answer = WEIR_FORWARD;
    }
    void await_resume() const noexcept {}
};

// ---- The trampoline. ----

inline void destroyRoot(Root* root) noexcept {
    weir_exchange& exchange = *root->exchange->raw();
    if (root->outer) root->outer.destroy();
    arenaFree(exchange, root, sizeof(Root));
}

// Resumes until the coroutine waits for something or ends; then its frame is gone and the answer says how.
inline std::int32_t drive(Root* root, std::coroutine_handle<> leaf, weir_outcome* out) noexcept {
    while (leaf.resume(), root->answer == 0) leaf = root->leaf;
    std::int32_t answer = root->answer;
    if (root->leaf) {
        out->frame = reinterpret_cast<weir_frame*>(root);
        out->deadline_ns = root->deadlineNs;
        return answer;
    }
    if (const ErrorRecord* error = root->error) {
        hostTable->fail(root->exchange->raw(), error->status, error->code, str(error->text));
        answer = WEIR_FAILED;
    } else if (answer == WEIR_DONE && !root->forwarded && hostTable->replied(root->exchange->raw())) {
        answer = WEIR_REPLY;
    }
    destroyRoot(root);
    out->frame = nullptr;
    return answer;
}

// Starts the task that `make` returns as a frame of its own.
template <class Make>
std::int32_t startTask(weir_exchange* raw, weir_outcome* out, Make&& make) noexcept {
    try {
        void* block = arenaAllocate(*raw, sizeof(Root));
        const Task<>::Handle handle = make().release();
        auto* root = new (block) Root(Exchange::from(raw), handle);
        handle.promise().root = root;
        return drive(root, handle, out);
    } catch (...) {
        const ErrorRecord* error = recordCurrentException(*raw);
        hostTable->fail(raw, error->status, error->code, str(error->text));
        out->frame = nullptr;
        return WEIR_FAILED;
    }
}

inline std::int32_t resumeTask(weir_frame* frame, const weir_event* event, weir_outcome* out) noexcept {
    auto* root = reinterpret_cast<Root*>(frame);
    root->event = event;
    root->answer = 0;
    return drive(root, root->leaf, out);
}

inline void dropTask(weir_frame* frame) noexcept { destroyRoot(reinterpret_cast<Root*>(frame)); }

}  // namespace detail

// The rest of the chain, the upstream included. Copyable; valid within the plugin's execute() only.
class Next {
public:
    Next() {}

    // Suspends until everything behind this plugin is done, at most `deadline` (zero: no limit). Never throws. A second
    // call walks the chain again, when the request body is absent or was buffered by Request::body().
    [[nodiscard]] detail::NextAwaiter operator()(std::chrono::nanoseconds deadline = {}) const {
        return detail::NextAwaiter(deadline.count() > 0 ? static_cast<std::uint64_t>(deadline.count()) : 0);
    }
    // The same for a plugin that has nothing to do on the way back, which is cheaper: the coroutine is over, its locals
    // are destroyed, and nothing behind the co_await runs. Not after operator().
    [[nodiscard]] detail::LeaveAwaiter leave() const { return detail::LeaveAwaiter(); }
};

class BodyAwaiter : public detail::OperationAwaiter<detail::StartBody> {
public:
    explicit BodyAwaiter(std::size_t limit) : OperationAwaiter(detail::StartBody(limit)) {}
    std::string_view await_resume() const {
        if (event().status == WEIR_TOO_LARGE) throw Error(413, 413, "Request Entity Too Large");
        if (event().status == WEIR_NO_MEMORY) throw Error(503, -1, "no memory for the request body");
        if (event().status != WEIR_OK) throw Error(400, 400, "the request body ended early");
        return detail::view(event().data);
    }
};

inline BodyAwaiter Request::body(std::size_t limit) { return BodyAwaiter(limit); }

class ResponseBodyAwaiter : public detail::OperationAwaiter<detail::StartResponseBody> {
public:
    explicit ResponseBodyAwaiter(std::size_t limit) : OperationAwaiter(detail::StartResponseBody(limit)) {}
    std::optional<std::string_view> await_resume() const {
        switch (event().status) {
            case WEIR_OK: return detail::view(event().data);
            case WEIR_NOT_FOUND: return std::string_view();
            case WEIR_TOO_LARGE:
            case WEIR_INVALID: return std::nullopt;
            case WEIR_NO_MEMORY: throw Error(503, -1, "no memory for the response body");
            default: throw Error(502, -103, "the upstream's response broke off");
        }
    }
};

inline ResponseBodyAwaiter Response::body(std::size_t limit) { return ResponseBodyAwaiter(limit); }

class SleepAwaiter : public detail::OperationAwaiter<detail::StartSleep> {
public:
    explicit SleepAwaiter(std::chrono::nanoseconds duration)
        : OperationAwaiter(
              detail::StartSleep(duration.count() > 0 ? static_cast<std::uint64_t>(duration.count()) : 0)) {}
    void await_resume() const noexcept {}
};

class CallAwaiter : public detail::OperationAwaiter<detail::StartCall> {
public:
    CallAwaiter() : OperationAwaiter(detail::StartCall()) {}
    Call await_resume() const noexcept { return static_cast<Call>(event().status); }
};

}  // namespace weir
