#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "weir/text.hpp"

namespace weir {

// A regular expression of the gateway's (RE2 syntax, matched in time linear in the text; '.' matches every character).
// Made and destroyed on the control thread: a handle owns it. Any thread may match.
class Pattern {
public:
    Pattern() = default;  // none: matches nothing
    Pattern(Pattern&& other) noexcept : raw_(std::exchange(other.raw_, nullptr)) {}
    Pattern& operator=(Pattern&& other) noexcept {
        std::swap(raw_, other.raw_);
        return *this;
    }
    ~Pattern() {
        if (raw_) detail::hostTable->pattern_release(raw_);
    }

    // false: refused, the reason and the position are in `error`, under `path` (where the handle has the expression).
    bool compile(std::string_view expression, std::string_view path, weir_error* error) {
        detail::hostTable->error_set(error, detail::str(path), detail::str(""));  // the host gives the text only
        weir_pattern* made = nullptr;
        if (detail::hostTable->pattern_compile(detail::hostTable, detail::str(expression), &made, error) != WEIR_OK)
            return false;
        if (raw_) detail::hostTable->pattern_release(raw_);
        raw_ = made;
        return true;
    }
    explicit operator bool() const { return raw_; }
    std::size_t groups() const { return raw_ ? detail::hostTable->pattern_groups(raw_) : 0; }

    // The first match at or behind `from`. captures[0] becomes the match, captures[i] group i, as views of `text`; one
    // that took no part has data null.
    bool find(std::string_view text, std::size_t from, std::span<weir_str> captures) const {
        return match(text, from, false, captures);
    }
    // Whether all of `text` matches; captures as above.
    bool matches(std::string_view text, std::span<weir_str> captures = {}) const {
        return match(text, 0, true, captures);
    }

private:
    bool match(std::string_view text, std::size_t from, bool whole, std::span<weir_str> captures) const {
        return raw_ && detail::hostTable->pattern_find(raw_, detail::str(text), from, whole, captures.data(),
                                                       static_cast<std::uint32_t>(captures.size())) != 0;
    }

    weir_pattern* raw_ = nullptr;
};

}  // namespace weir
