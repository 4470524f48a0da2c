#include "match/segment_pattern.hpp"

namespace weir::match {
namespace {

constexpr auto npos = std::string_view::npos;

// The index after the UTF-8 character at `at`.
std::size_t nextCharacter(std::string_view text, std::size_t at) {
    ++at;
    while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) ++at;
    return at;
}

// Only the latest '*' needs a second try: a later one can take over whatever an earlier one would have taken.
bool globMatches(std::string_view glob, std::string_view text) noexcept {
    std::size_t g = 0;
    std::size_t t = 0;
    std::size_t star = npos;
    std::size_t starText = 0;
    while (t < text.size()) {
        if (g < glob.size() && glob[g] == '*') {
            star = g++;
            starText = t;
        } else if (g < glob.size() && glob[g] == '?') {
            ++g;
            t = nextCharacter(text, t);
        } else if (g < glob.size() && glob[g] == text[t]) {
            ++g;
            ++t;
        } else if (star != npos) {
            g = star + 1;
            t = starText = nextCharacter(text, starText);
        } else {
            return false;
        }
    }
    return glob.find_first_not_of('*', g) == npos;
}

}  // namespace

std::size_t SegmentPattern::closingBrace(std::string_view text, std::size_t open) {
    int depth = 0;
    for (std::size_t i = open; i < text.size(); ++i) {
        if (text[i] == '\\') ++i;
        else if (text[i] == '{') ++depth;
        else if (text[i] == '}' && --depth == 0) return i;
    }
    return npos;
}

base::Result<SegmentPattern> SegmentPattern::compile(std::string_view text, std::size_t position) {
    SegmentPattern pattern;
    std::string expression;
    bool hasExpression = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const std::size_t close = text[i] == '{' ? closingBrace(text, i) : npos;
        if (close != npos && close > i + 1) {
            const std::string_view variable = text.substr(i + 1, close - i - 1);
            const std::size_t colon = variable.find(':');
            pattern.literal_ = false;
            pattern.variable_ = true;
            pattern.glob_ += '*';
            if (colon == npos) {
                expression += ".*";
            } else {
                const std::string_view constraint = variable.substr(colon + 1);
                auto alone = Regex::compile(constraint, position + i + 1 + colon + 1);
                if (!alone) return std::move(alone).error();
                expression.append("(?:").append(constraint).append(")");
                hasExpression = true;
            }
            i = close;
        } else {
            pattern.glob_ += text[i];
            if (text[i] == '*') expression += ".*";
            else if (text[i] == '?') expression += '.';
            else expression += Regex::quote(text.substr(i, 1));
            if (text[i] == '*' || text[i] == '?') pattern.literal_ = false;
        }
    }
    if (hasExpression) {
        auto whole = Regex::compile(expression, position);
        if (!whole) return std::move(whole).error();
        pattern.regex_ = std::move(whole).value();
    }
    return pattern;
}

bool SegmentPattern::admits(std::string_view rawSegment) const noexcept {
    if (!variable_) return true;
    for (std::size_t at = rawSegment.find("%2"); at != npos; at = rawSegment.find("%2", at + 1)) {
        if (at + 2 < rawSegment.size() && (rawSegment[at + 2] | 0x20) == 'f') return false;
    }
    return true;
}

bool SegmentPattern::matches(std::string_view segment) const noexcept {
    if (literal_) return glob_ == segment;
    return regex_ ? regex_->matches(segment) : globMatches(glob_, segment);
}

}  // namespace weir::match
