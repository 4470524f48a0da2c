#pragma once

#include <string_view>
#include <vector>

#include "match/path_anchor.hpp"
#include "match/segment_pattern.hpp"

namespace weir::match {

// ShenYu's operator `pathPattern` on a uri: Spring 6.1's PathPattern, as ShenYu 2.7 uses it (docs/compatibility.md).
// `?`, `*`, `{name}`, `{name:regex}` stay inside a segment; `/**` or `/{*name}` may only end the pattern and takes
// nothing or anything that begins with '/'. Segments are compared percent-decoded and without their `;parameters`;
// slashes are neither merged nor optional. A segment with an encoded slash is not taken by a `{name}` (case B17). `**`
// glued to other text (`/a**`) is the same as `*`. Immutable, any thread; no allocation unless an encoded segment is
// longer than DecodeBuffer::kInline.
class PathPattern {
public:
    // Refuses what Spring's parser refuses, and a pattern without leading '/' (it could never match); the message says
    // the position, counted from 1.
    static base::Result<PathPattern> compile(std::string_view pattern);

    bool matches(std::string_view path) const noexcept;
    Anchor anchor() const;  // Path or None

private:
    struct Element {
        SegmentPattern pattern;
        bool empty;      // nothing between two slashes
        bool needsText;  // does not take a segment without text
    };

    PathPattern() = default;
    static base::Result<Element> compileElement(std::string_view text, std::size_t position, bool last,
                                                std::vector<std::string_view>& names);
    static bool elementMatches(const Element& element, std::string_view rawSegment, bool last);

    std::vector<Element> elements_;
    bool openEnd_ = false;  // ends in `/**`
};

}  // namespace weir::match
