#include "match/path_anchor.hpp"

#include "match/percent_decode.hpp"

namespace weir::match {

PathHashes PathHashes::ofRaw(std::string_view path) noexcept {
    PathHashes hashes;
    Hash segment;
    bool empty = true;
    for (const char c : path) {
        countSteps(1);
        if (c != '/') {
            segment.add(c);
            empty = false;
        } else if (!empty) {
            hashes.hash[hashes.size++] = segment.state;
            if (hashes.size == PathShape::kMaxSegments) return hashes;
            segment = {};
            empty = true;
        }
    }
    if (!empty) hashes.hash[hashes.size++] = segment.state;
    return hashes;
}

PathHashes PathHashes::ofDecoded(std::string_view path) noexcept {
    PathHashes hashes;
    while (path.starts_with('/') && hashes.size < PathShape::kMaxSegments) {
        countSteps(1);
        path.remove_prefix(1);
        const std::string_view segment = path.substr(0, path.find('/'));
        Hash hash;
        decodeEach(segment.substr(0, segment.find(';')), [&hash](char c) { hash.add(c); });
        hashes.hash[hashes.size++] = hash.state;
        path.remove_prefix(segment.size());
    }
    return hashes;
}

std::uint64_t PathHashes::key(PathShape shape) const {
    std::uint64_t key = shape.code();
    for (std::size_t i = 0; i < shape.size; ++i) {
        if (!(shape.wildcards >> i & 1)) key = mixKey(key, hash[i]);
    }
    return key;
}

void PathAnchor::add(const SegmentPattern& segment) {
    if (hashes_.size == PathShape::kMaxSegments) return;
    const auto literal = segment.literal();
    if (literal) shape_.size = static_cast<std::uint8_t>(hashes_.size + 1);
    else shape_.wildcards = static_cast<std::uint8_t>(shape_.wildcards | 1u << hashes_.size);
    hashes_.hash[hashes_.size++] = literal ? Hash::of(*literal) : 0;
}

Anchor PathAnchor::anchor() const {
    Anchor anchor;
    if (shape_.size == 0) return anchor;
    PathShape shape = shape_;
    // Wildcards behind the last literal are below it.
    shape.wildcards = static_cast<std::uint8_t>(shape.wildcards & ((1u << shape.size) - 1));
    anchor.kind = Anchor::Kind::Path;
    anchor.shape = shape.code();
    anchor.key = hashes_.key(shape);
    return anchor;
}

}  // namespace weir::match
