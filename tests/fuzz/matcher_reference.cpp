#include "fuzz/matcher_reference.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string_view>
#include <vector>

#include "base/ascii.hpp"
#include "match/regex.hpp"
#include "match/segment_pattern.hpp"

namespace weir::fuzz {

using namespace match;

namespace {

using Texts = std::vector<std::string>;

Texts split(std::string_view text, char separator) {
    Texts parts{""};
    for (const char c : text) {
        if (c == separator) parts.emplace_back();
        else parts.back() += c;
    }
    return parts;
}

bool hasVariable(std::string_view segment) {
    for (std::size_t i = 0; i < segment.size(); ++i) {
        const std::size_t close = segment[i] == '{' ? SegmentPattern::closingBrace(segment, i) : segment.npos;
        if (close != segment.npos && close > i + 1) return true;
    }
    return false;
}

bool segmentMatches(std::string_view pattern, std::string_view text) {
    if (pattern.empty()) return text.empty();
    std::size_t token = 1;
    std::optional<Regex> constraint;
    bool run = pattern[0] == '*';
    if (const auto close = pattern[0] == '{' ? SegmentPattern::closingBrace(pattern, 0) : pattern.npos;
        close != pattern.npos && close > 1) {
        run = true;
        token = close + 1;
        const auto colon = pattern.substr(0, close).find(':');
        if (colon != pattern.npos) constraint = Regex::compile(pattern.substr(colon + 1, close - colon - 1)).value();
    }
    const std::string_view rest = pattern.substr(token);
    if (!run) {
        return !text.empty() && (pattern[0] == '?' || pattern[0] == text[0]) && segmentMatches(rest, text.substr(1));
    }
    for (std::size_t n = 0; n <= text.size(); ++n) {
        if (constraint && !constraint->matches(text.substr(0, n))) continue;
        if (segmentMatches(rest, text.substr(n))) return true;
    }
    return false;
}

bool admits(std::string_view pattern, std::string_view raw) {
    return !hasVariable(pattern) || base::toLower(raw).find("%2f") == std::string::npos;
}

bool antSegments(const Texts& pattern, std::size_t p, const Texts& path, std::size_t t) {
    if (p == pattern.size()) return t == path.size();
    if (pattern[p] == "**") {
        return antSegments(pattern, p + 1, path, t) || (t < path.size() && antSegments(pattern, p, path, t + 1));
    }
    return t < path.size() && admits(pattern[p], path[t]) && segmentMatches(pattern[p], path[t]) &&
           antSegments(pattern, p + 1, path, t + 1);
}

bool antMatches(std::string_view pattern, std::string_view path) {
    if (pattern.starts_with('/') != path.starts_with('/')) return false;
    Texts parts = split(pattern, '/');
    Texts segments = split(path, '/');
    std::erase(parts, "");
    std::erase(segments, "");
    const bool found = antSegments(parts, 0, segments, 0);
    if (std::ranges::find(parts, "**") != parts.end()) return found;
    if (found) return pattern.ends_with('/') == path.ends_with('/');
    if (parts.empty() || parts.back() != "*" || !path.ends_with('/')) return false;
    parts.pop_back();
    return antSegments(parts, 0, segments, 0);
}

std::string decoded(std::string_view text) {
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto isHex = [&](std::size_t at) { return at < text.size() && std::isxdigit(text[at]); };
        if (text[i] == '%' && isHex(i + 1) && isHex(i + 2)) {
            result += static_cast<char>(std::stoi(std::string(text.substr(i + 1, 2)), nullptr, 16));
            i += 2;
        } else {
            result += text[i];
        }
    }
    return result;
}

bool elementMatches(std::string_view pattern, std::string_view raw, bool last) {
    if (pattern.empty()) return raw.empty();
    if (raw.empty() && !last) return false;
    const std::string_view encoded = raw.substr(0, raw.find(';'));
    if (!admits(pattern, encoded)) return false;
    const std::string text = decoded(encoded);
    const bool wholeVariable = pattern[0] == '{' && SegmentPattern::closingBrace(pattern, 0) + 1 == pattern.size();
    const bool needsText = wholeVariable || (last ? hasVariable(pattern) : pattern == "*");
    return !(text.empty() && needsText) && segmentMatches(pattern, text);
}

bool pathPatternMatches(std::string_view pattern, std::string_view path) {
    if (!path.starts_with('/')) return false;
    Texts parts = split(pattern.substr(1), '/');
    const bool open = parts.back() == "**" || parts.back().starts_with("{*");
    if (open) parts.pop_back();
    const Texts segments = split(path.substr(1), '/');
    if (open ? segments.size() < parts.size() : segments.size() != parts.size()) return false;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (!elementMatches(parts[i], segments[i], !open && i + 1 == parts.size())) return false;
    }
    return true;
}

}  // namespace

bool referenceHolds(const ConditionSpec& spec, std::string value, const Condition& condition, const Subject& subject) {
    std::string expected(trim(spec.paramValue));
    const std::string& op = spec.operatorName;
    const bool uri = spec.paramType == "uri";
    const bool time = op == "TimeBefore" || op == "TimeAfter";
    if (time && spec.paramName.empty()) return (op == "TimeAfter") == (expected < "2026");
    if (isBlank(value)) return op == "isBlank" || op == "exclude";
    if (op == "isBlank") return false;
    if (op == "regex" || op == ">" || op == "<" || time) return condition.holds(subject);
    if (spec.paramType == "domain") expected = base::toLower(expected);
    if (op == "=") return value == expected;
    if (op == "startsWith") return value.compare(0, expected.size(), expected) == 0;
    if (op == "endsWith") {
        return value.size() >= expected.size() && value.substr(value.size() - expected.size()) == expected;
    }
    if (uri && op == "match") return antMatches(expected, value);
    if (uri && op == "exclude") return !antMatches(expected, value);
    if (uri && op == "pathPattern") return pathPatternMatches(expected, value);
    return (value.find(expected) != value.npos) != (op == "exclude");
}

std::size_t mostBetween(const ConditionSpec& spec) {
    if (spec.paramType != "uri" || (spec.operatorName != "match" && spec.operatorName != "exclude")) return 0;
    std::size_t most = 0;
    std::size_t between = 0;
    for (const std::string& part : split(trim(spec.paramValue), '/')) {
        if (part == "**") between = 0;
        else if (!part.empty()) most = std::max(most, ++between);
    }
    return most;
}

}  // namespace weir::fuzz
