#pragma once

#include <cstdint>
#include <utility>

#include "match/regex.hpp"
#include "module/abi_text.hpp"
#include "upstream/control_error.hpp"
#include "weir/abi.h"

namespace weir::chain {

// The host table's regular expressions, for the gateway's table and the probe's. They may throw for want of memory.
struct HostPatterns {
    static weir_status compile(const weir_host*, weir_str expression, weir_pattern** out, weir_error* error) {
        auto made = match::Regex::compile(module::view(expression));
        if (!made.ok()) {
            error->text = made.error().message;
            return WEIR_INVALID;
        }
        *out = reinterpret_cast<weir_pattern*>(new match::Regex(std::move(made).value()));
        return WEIR_OK;
    }
    static void release(weir_pattern* pattern) { delete reinterpret_cast<match::Regex*>(pattern); }
    static std::uint32_t groups(const weir_pattern* pattern) {
        return static_cast<std::uint32_t>(regex(pattern).captureGroups());
    }
    static std::int32_t find(const weir_pattern* pattern, weir_str text, std::size_t from, std::int32_t whole,
                             weir_str* groups, std::uint32_t count) {
        return regex(pattern).find(module::view(text), from, whole != 0, {groups, count});
    }

private:
    static const match::Regex& regex(const weir_pattern* pattern) {
        return *reinterpret_cast<const match::Regex*>(pattern);
    }
};

}  // namespace weir::chain
