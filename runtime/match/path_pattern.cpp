#include "match/path_pattern.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "match/percent_decode.hpp"

namespace weir::match {
namespace {

constexpr auto npos = std::string_view::npos;

base::Error refused(std::size_t position, std::string why) {
    return {base::ErrorCode::InvalidConfig, "", "position " + std::to_string(position) + ": " + std::move(why)};
}

bool isNameStart(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || static_cast<signed char>(c) < 0;
}

bool isNamePart(char c) { return isNameStart(c) || (c >= '0' && c <= '9') || c == '-'; }

bool isName(std::string_view name) {
    return !name.empty() && isNameStart(name.front()) && std::all_of(name.begin(), name.end(), isNamePart);
}

// Checks the braces of one segment and appends the names in them to `names`.
base::Result<void> checkVariables(std::string_view text, std::size_t position, std::vector<std::string_view>& names) {
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '}') return refused(position + i, "'}' without '{'");
        if (text[i] != '{') continue;
        const std::size_t close = SegmentPattern::closingBrace(text, i);
        if (close == npos) return refused(position + i, "'{' is not closed within its segment");
        const std::string_view variable = text.substr(i + 1, close - i - 1);
        const std::size_t colon = variable.find(':');
        const std::string_view name = variable.substr(0, colon);
        if (variable.starts_with('*')) return refused(position + i, "'{*name}' must be the whole last segment");
        if (!isName(name)) return refused(position + i + 1, "expected a variable name after '{'");
        if (std::find(names.begin(), names.end(), name) != names.end()) {
            return refused(position + i + 1, "variable '" + std::string(name) + "' is already in the pattern");
        }
        if (colon + 1 == variable.size()) return refused(position + close, "expected an expression after ':'");
        names.push_back(name);
        i = close;
    }
    return {};
}

bool isCaptureTheRest(std::string_view segment) {
    return segment.starts_with("{*") && segment.ends_with('}') && isName(segment.substr(2, segment.size() - 3));
}

}  // namespace

base::Result<PathPattern::Element> PathPattern::compileElement(std::string_view text, std::size_t position, bool last,
                                                              std::vector<std::string_view>& names) {
    if (text == "**") return refused(position, "'**' is only allowed as the last segment of a pathPattern");
    const std::size_t namesBefore = names.size();
    if (auto checked = checkVariables(text, position, names); !checked) return std::move(checked).error();
    auto pattern = SegmentPattern::compile(text, position);
    if (!pattern) return std::move(pattern).error();
    if (pattern->captureGroups() > 0) {
        return refused(position, "the expression of a variable may not have capture groups, write (?:...)");
    }
    const bool wholeVariable = text.starts_with('{') && SegmentPattern::closingBrace(text, 0) + 1 == text.size();
    const bool needsText = wholeVariable || (last ? names.size() > namesBefore : text == "*");
    return Element{std::move(pattern).value(), text.empty(), needsText};
}

base::Result<PathPattern> PathPattern::compile(std::string_view pattern) {
    if (!pattern.starts_with('/')) return refused(1, "a pathPattern must begin with '/'");
    PathPattern compiled;
    std::vector<std::string_view> names;
    for (std::size_t at = 1; at <= pattern.size();) {
        const std::string_view segment = pattern.substr(at, pattern.find('/', at) - at);
        const bool last = at + segment.size() == pattern.size();
        if (last && (segment == "**" || isCaptureTheRest(segment))) {
            compiled.openEnd_ = true;
        } else {
            auto element = compileElement(segment, at + 1, last, names);
            if (!element) return std::move(element).error();
            compiled.elements_.push_back(std::move(element).value());
        }
        at += segment.size() + 1;
    }
    return compiled;
}

bool PathPattern::elementMatches(const Element& element, std::string_view rawSegment, bool last) {
    if (element.empty) return rawSegment.empty();
    if (rawSegment.empty() && !last) return false;
    DecodeBuffer buffer;
    const std::string_view encoded = rawSegment.substr(0, rawSegment.find(';'));
    if (!element.pattern.admits(encoded)) return false;
    const std::string_view text = buffer.decode(encoded, DecodeBuffer::Plus::Literal);
    if (text.empty() && element.needsText) return false;
    return element.pattern.matches(text);
}

Anchor PathPattern::anchor() const {
    PathAnchor anchor(true);
    for (const auto& element : elements_) anchor.add(element.pattern);
    return anchor.anchor();
}

bool PathPattern::matches(std::string_view path) const noexcept {
    if (!path.starts_with('/')) return false;
    std::string_view rest = path;  // after the elements matched so far: nothing, or begins with '/'
    for (const auto& element : elements_) {
        if (rest.empty()) return false;
        rest.remove_prefix(1);
        const std::string_view segment = rest.substr(0, rest.find('/'));
        countSteps(segment.size() + 1);
        const bool last = &element == &elements_.back() && !openEnd_;
        if (!elementMatches(element, segment, last)) return false;
        rest.remove_prefix(segment.size());
    }
    return openEnd_ || rest.empty();
}

}  // namespace weir::match
