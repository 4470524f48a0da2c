#pragma once

#include <string>
#include <utility>
#include <variant>

#include "base/assert.hpp"

namespace weir::base {

// What the world did wrong. Each layer that passes an error up adds what it knows to `message`; the HTTP status is
// derived in one place (chain/error_reply.hpp) and nowhere else.
enum class ErrorCode {
    InvalidConfig,   // a file, handle or setting that says something impossible
    InvalidModule,   // a shared object that is not a module we can load
    NotFound,        // a name nobody provides
    Io,              // the operating system refused
    Protocol,        // bytes that are not the protocol
    Unsupported,     // valid, but not offered here
};

struct Error {
    ErrorCode code = ErrorCode::Io;
    std::string origin;   // where: "weir.yaml:12:7", a path, an address; empty when the caller knows it
    std::string message;  // what happened and what was expected, in words for the operator
    bool retryable = false;

    // "origin: message", or the message alone.
    std::string text() const { return origin.empty() ? message : origin + ": " + message; }
};

// A value or the error that stands in its place. Check before value(): reading the wrong side is our own bug.
template <class T, class E = Error>
class [[nodiscard]] Result {
public:
    Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
    Result(E error) : state_(std::in_place_index<1>, std::move(error)) {}

    bool ok() const { return state_.index() == 0; }
    explicit operator bool() const { return ok(); }

    T& value() & { WEIR_ASSERT(ok()); return *std::get_if<0>(&state_); }
    const T& value() const& { WEIR_ASSERT(ok()); return *std::get_if<0>(&state_); }
    T value() && { WEIR_ASSERT(ok()); return std::move(*std::get_if<0>(&state_)); }
    T& operator*() & { return value(); }
    const T& operator*() const& { return value(); }
    T* operator->() { return &value(); }
    const T* operator->() const { return &value(); }

    E& error() & { WEIR_ASSERT(!ok()); return *std::get_if<1>(&state_); }
    const E& error() const& { WEIR_ASSERT(!ok()); return *std::get_if<1>(&state_); }
    E error() && { WEIR_ASSERT(!ok()); return std::move(*std::get_if<1>(&state_)); }

private:
    std::variant<T, E> state_;
};

template <class E>
class [[nodiscard]] Result<void, E> {
public:
    Result() = default;
    Result(E error) : error_(std::move(error)), failed_(true) {}

    bool ok() const { return !failed_; }
    explicit operator bool() const { return ok(); }
    const E& error() const& { WEIR_ASSERT(failed_); return error_; }
    E error() && { WEIR_ASSERT(failed_); return std::move(error_); }

private:
    E error_{};
    bool failed_ = false;
};

}  // namespace weir::base
