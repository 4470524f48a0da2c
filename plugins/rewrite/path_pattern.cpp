#include "path_pattern.hpp"

#include <algorithm>
#include <array>

namespace weir::rewrite {

namespace {

// Whether anything is found at the end of a text, where there is nothing left to take. Assertions (^, \b) can only tell
// four cases apart there: nothing in front, the end of a line, a letter, another character.
bool isFoundAtEnd(const Pattern& pattern) {
    constexpr std::array<std::string_view, 4> kTexts = {"", "\n", "a", "/"};
    return std::ranges::any_of(kTexts, [&](std::string_view text) { return pattern.find(text, text.size(), {}); });
}

}  // namespace

bool PathPattern::compile(const PathTemplate& parsed, weir_error* error) {
    if (!pattern_.compile(parsed.expression, "regex", error)) return false;
    whole_ = parsed.hasPlaceholders;
    matchesEnd_ = isFoundAtEnd(pattern_);
    return true;
}

bool PathPattern::find(std::string_view text, std::size_t from, std::span<weir_str> captures) const {
    if (whole_) return from == 0 && pattern_.matches(text, captures);
    // The search behind a match that reached the end costs as much as the first one: it is saved where it is in vain.
    if (from == text.size() && !matchesEnd_) return false;
    return pattern_.find(text, from, captures);
}

}  // namespace weir::rewrite
