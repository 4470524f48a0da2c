#pragma once

#include <cstdio>
#include <exception>
#include <string_view>

#include "weir/abi.h"

namespace weir::detail {

inline weir_str str(std::string_view text) { return {text.data(), text.size()}; }
inline std::string_view view(weir_str text) {
    return text.data ? std::string_view(text.data, text.size) : std::string_view();
}

// The host's services: the one mutable static of a module, set by its first create function.
inline const weir_host* hostTable = nullptr;

// Control thread, first thing in every create function. Written once only: loops may be reading it already.
inline weir_status adoptHost(const weir_host* host, weir_error* error) noexcept {
    if (host->size < sizeof(weir_host)) {
        host->error_set(error, str(""), str("this module needs a newer gateway: it was built with a newer SDK"));
        return WEIR_INVALID;
    }
    if (hostTable != host) hostTable = host;
    return WEIR_OK;
}

inline weir_status report(weir_error* error, std::string_view text) noexcept {
    hostTable->error_set(error, str(""), str(text));
    return WEIR_INVALID;
}

// What `make` answers; an exception becomes WEIR_INVALID with its text.
template <class Make>
weir_status guarded(weir_error* error, Make&& make) noexcept {
    try {
        return make();
    } catch (const std::exception& caught) {
        return report(error, caught.what());
    } catch (...) {
        return report(error, "an exception of an unknown type");
    }
}

// What `hook` answers, of a kind that can not tell the host that it failed: an exception is logged with the hook's
// name, and the answer is `otherwise`.
template <class Answer, class Hook>
Answer answerOr(Answer otherwise, const char* name, Hook&& hook) noexcept {
    const auto logged = [name](const char* what) {
        char line[256];  // memory may be what is missing
        std::snprintf(line, sizeof line, "%s() threw: %s", name, what);
        hostTable->log(WEIR_LOG_ERROR, str(line));
    };
    try {
        return hook();
    } catch (const std::exception& caught) {
        logged(caught.what());
    } catch (...) {
        logged("an exception of an unknown type");
    }
    return otherwise;
}

}  // namespace weir::detail
