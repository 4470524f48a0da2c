#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "match/anchor.hpp"
#include "match/segment_pattern.hpp"

namespace weir::match {

// Path patterns are found by their first segments up to the last literal one before any `**`, as "this and anything
// below". Their shape says how many segments that are, which of them are wildcards, and whether the request's segments
// are compared as PathPattern or as Ant does it. A request is looked up once for each shape in use, of which there are
// few: kMaxSegments bounds them.
struct PathShape {
    static constexpr std::size_t kMaxSegments = 8;

    bool decoded;  // PathPattern: decoded, without ;parameters, empty segments count. Ant: raw, without empty segments
    std::uint8_t size;
    std::uint8_t wildcards;  // bit i: segment i is one

    static PathShape from(std::uint16_t code) {
        return {(code & 0x1000) != 0, static_cast<std::uint8_t>(code >> 8 & 0xf), static_cast<std::uint8_t>(code)};
    }
    std::uint16_t code() const {
        return static_cast<std::uint16_t>((decoded ? 0x1000 : 0) | size << 8 | wildcards);
    }
};

// The hashes of a path's first segments.
struct PathHashes {
    std::array<std::uint64_t, PathShape::kMaxSegments> hash;
    std::uint8_t size = 0;

    static PathHashes ofRaw(std::string_view path) noexcept;
    static PathHashes ofDecoded(std::string_view path) noexcept;

    // The key of the first shape.size segments, of which there must be as many.
    std::uint64_t key(PathShape shape) const;
};

// Makes the anchor of a pattern from its segments, in order, up to its first `**`.
class PathAnchor {
public:
    explicit PathAnchor(bool decoded) : shape_{decoded, 0, 0} {}

    void add(const SegmentPattern& segment);
    Anchor anchor() const;  // Kind::None when no segment is literal

private:
    PathShape shape_;
    PathHashes hashes_;
};

}  // namespace weir::match
