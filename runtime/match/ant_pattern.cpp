#include "match/ant_pattern.hpp"

#include <string>
#include <utility>

#include "match/steps.hpp"

namespace weir::match {
namespace {

constexpr auto npos = std::string_view::npos;

// The segments of a path, taken from either end; slashes only separate, so empty segments do not exist.
class Segments {
public:
    explicit Segments(std::string_view path) : rest_(path) { trim(); }

    bool empty() const { return rest_.empty(); }
    std::string_view takeFirst() {
        const std::string_view segment = rest_.substr(0, rest_.find('/'));
        countSteps(segment.size() + 1);
        rest_.remove_prefix(segment.size());
        trim();
        return segment;
    }
    std::string_view takeLast() {
        const std::size_t slash = rest_.rfind('/');
        const std::string_view segment = rest_.substr(slash == npos ? 0 : slash + 1);
        countSteps(segment.size() + 1);
        rest_.remove_suffix(segment.size());
        trim();
        return segment;
    }

private:
    void trim() {
        const std::size_t size = rest_.size();
        while (!rest_.empty() && rest_.front() == '/') rest_.remove_prefix(1);
        while (!rest_.empty() && rest_.back() == '/') rest_.remove_suffix(1);
        countSteps(size - rest_.size());
    }

    std::string_view rest_;
};

bool takes(const SegmentPattern& pattern, std::string_view segment) {
    return pattern.admits(segment) && pattern.matches(segment);
}

// Consumes the block from the front if it stands there; otherwise leaves `path` in an unspecified state.
bool takeBlock(const std::vector<SegmentPattern>& block, Segments& path) {
    for (const auto& segment : block) {
        if (path.empty() || !takes(segment, path.takeFirst())) return false;
    }
    return true;
}

}  // namespace

base::Result<AntPattern> AntPattern::compile(std::string_view pattern) {
    AntPattern compiled;
    compiled.leadingSlash_ = pattern.starts_with('/');
    compiled.trailingSlash_ = pattern.ends_with('/');
    for (std::size_t at = 0; at < pattern.size();) {
        const std::string_view segment = pattern.substr(at, pattern.find('/', at) - at);
        if (segment == "**") {
            if (compiled.blocks_.size() > 1 && compiled.blocks_.back().size() > kMaxBetween) {
                return base::Error{base::ErrorCode::InvalidConfig, "",
                                   "position " + std::to_string(at + 1) + ": more than " + std::to_string(kMaxBetween) +
                                       " segments between two '**'"};
            }
            compiled.blocks_.emplace_back();
        } else if (!segment.empty()) {
            auto part = SegmentPattern::compile(segment, at + 1);
            if (!part) return std::move(part).error();
            compiled.blocks_.back().push_back(std::move(part).value());
            compiled.endsInStar_ = segment == "*";
        }
        at += segment.size() + 1;
    }
    return compiled;
}

Anchor AntPattern::anchor() const {
    PathAnchor anchor(false);
    for (const auto& segment : blocks_.front()) anchor.add(segment);
    return anchor.anchor();
}

bool AntPattern::matchesWithoutDoubleStar(std::string_view path) const noexcept {
    Segments rest(path);
    const Block& segments = blocks_.front();
    for (std::size_t i = 0; i < segments.size(); ++i) {
        if (rest.empty()) return i + 1 == segments.size() && endsInStar_ && path.ends_with('/');
        if (!takes(segments[i], rest.takeFirst())) return false;
    }
    return rest.empty() && path.ends_with('/') == trailingSlash_;
}

bool AntPattern::matches(std::string_view path) const noexcept {
    if (path.starts_with('/') != leadingSlash_) return false;
    if (blocks_.size() == 1) return matchesWithoutDoubleStar(path);

    Segments rest(path);
    if (!takeBlock(blocks_.front(), rest)) return false;
    const Block& last = blocks_.back();
    for (auto segment = last.rbegin(); segment != last.rend(); ++segment) {
        if (rest.empty() || !takes(*segment, rest.takeLast())) return false;
    }
    // The earliest place for each middle block is as good as any later one, so no choice is ever taken back.
    for (std::size_t i = 1; i + 1 < blocks_.size(); ++i) {
        for (;;) {
            Segments attempt = rest;
            if (takeBlock(blocks_[i], attempt)) {
                rest = attempt;
                break;
            }
            if (rest.empty()) return false;
            rest.takeFirst();
        }
    }
    return true;
}

}  // namespace weir::match
