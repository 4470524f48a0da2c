#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "match/regex.hpp"

namespace weir::match {

// One segment of a path pattern, the part Ant and Spring's PathPattern share: literals mixed with `?` (one character),
// `*` and `{name}` (any run of characters, also none) and `{name:regex}` (a run the expression matches in full). Braces
// that are empty or do not close are literals. Immutable; matching takes time linear in pattern plus segment.
class SegmentPattern {
public:
    // `position`: where `text` begins in the whole pattern, counted from 1, for messages.
    static base::Result<SegmentPattern> compile(std::string_view text, std::size_t position = 1);

    bool matches(std::string_view segment) const noexcept;
    // False for a raw segment with an encoded slash in the place of a variable: what a variable stands for is one
    // segment, also after decoding (case B17). Asked beside matches().
    bool admits(std::string_view rawSegment) const noexcept;
    // The only text it matches, if there is only one; lives as long as the pattern.
    std::optional<std::string_view> literal() const {
        return literal_ ? std::optional<std::string_view>(glob_) : std::nullopt;
    }
    int captureGroups() const { return regex_ ? regex_->captureGroups() : 0; }

    // The index of the '}' that closes the '{' at `open`, seen past nested pairs and escapes; npos if none does.
    static std::size_t closingBrace(std::string_view text, std::size_t open);

private:
    SegmentPattern() = default;

    std::string glob_;       // variables as '*'; the text itself when literal
    bool literal_ = true;
    bool variable_ = false;
    std::optional<Regex> regex_;  // set when a variable has an expression or it is needed to be quick; it alone decides
};

}  // namespace weir::match
