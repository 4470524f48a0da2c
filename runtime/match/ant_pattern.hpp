#pragma once

#include <string_view>
#include <vector>

#include "match/path_anchor.hpp"
#include "match/segment_pattern.hpp"

namespace weir::match {

// ShenYu's operator `match` on a uri: Spring's AntPathMatcher with its defaults, compiled (docs/compatibility.md).
// `**` as a whole segment takes any number of segments, anywhere and also several times; inside a segment see
// SegmentPattern. Repeated slashes count as one, nothing is decoded, case matters, pattern and path both begin with '/'
// or both do not. A segment with an encoded slash is not taken by a `{name}` (case B17). A trailing slash is
// significant, except that `/a/*` takes `/a/` and that nothing compares it in a pattern with `**`. Immutable, any
// thread; no allocation; time linear in pattern plus path: each segment of the path is compared with at most as many of
// the pattern's as stand between two `**`, and kMaxBetween bounds those.
class AntPattern {
public:
    static constexpr std::size_t kMaxBetween = 16;

    // Fails only for a `{name:regex}` whose expression is refused and for more than kMaxBetween segments between two
    // `**`; the message says the position.
    static base::Result<AntPattern> compile(std::string_view pattern);

    bool matches(std::string_view path) const noexcept;
    Anchor anchor() const;  // Path or None

private:
    using Block = std::vector<SegmentPattern>;

    AntPattern() = default;
    bool matchesWithoutDoubleStar(std::string_view path) const noexcept;

    std::vector<Block> blocks_{1};  // the segments between the `**`: one block without `**`, else first, middle, last
    bool leadingSlash_ = false;
    bool trailingSlash_ = false;
    bool endsInStar_ = false;  // the last segment is just `*`
};

}  // namespace weir::match
