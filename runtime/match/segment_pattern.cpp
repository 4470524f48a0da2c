#include "match/segment_pattern.hpp"

#include <algorithm>

#include "match/steps.hpp"
#include "match/text_search.hpp"

namespace weir::match {
namespace {

constexpr auto npos = std::string_view::npos;

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }  // a UTF-8 character

// Take from the text what a piece without '*' stands for, if it stands there; else leave it in an unspecified state.
bool takeFront(std::string_view piece, std::string_view& text) noexcept {
    for (const char c : piece) {
        countSteps(1);
        if (text.empty() || (c != '?' && c != text.front())) return false;
        text.remove_prefix(1);
        while (c == '?' && !text.empty() && continues(text.front())) text.remove_prefix(1);
    }
    return true;
}

bool takeBack(std::string_view piece, std::string_view& text) noexcept {
    for (; !piece.empty(); piece.remove_suffix(1)) {
        countSteps(1);
        const char c = piece.back();
        while (c == '?' && text.size() > 1 && continues(text.back())) text.remove_suffix(1);
        if (text.empty() || (c != '?' && c != text.back())) return false;
        text.remove_suffix(1);
    }
    return true;
}

// The first place for each piece between two '*' is as good as any later one, so no choice is ever taken back.
bool globMatches(std::string_view glob, std::string_view text) noexcept {
    const std::size_t first = glob.find('*');
    if (!takeFront(glob.substr(0, first), text)) return false;
    if (first == npos) return text.empty();
    const std::size_t last = glob.rfind('*');
    if (!takeBack(glob.substr(last + 1), text)) return false;
    for (std::string_view middle = glob.substr(first, last - first); !middle.empty();) {
        middle.remove_prefix(1);
        const std::string_view piece = middle.substr(0, middle.find('*'));
        countSteps(piece.size() + 1);
        const std::size_t at = find(text, piece);
        if (at == npos) return false;
        text.remove_prefix(at + piece.size());
        middle.remove_prefix(piece.size());
    }
    return true;
}

// Whether a '?' stands between two '*', where no search is linear: an expression decides then.
bool needsExpression(std::string_view glob) {
    const std::size_t first = glob.find('*');
    return first != npos && glob.find('?', first) < glob.rfind('*');
}

// Of bytes, as a path need not be UTF-8.
std::string expressionOf(std::string_view glob) {
    std::string expression;
    for (std::size_t i = 0; i < glob.size(); ++i) {
        if (glob[i] == '*') expression += ".*";
        else if (glob[i] == '?') expression += "[^\\x80-\\xbf][\\x80-\\xbf]*";
        else expression += Regex::quote(glob.substr(i, 1));
    }
    return expression;
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
    } else if (needsExpression(pattern.glob_)) {
        auto whole = Regex::compile(expressionOf(pattern.glob_), position, false, Regex::Unit::Byte);
        if (!whole) return std::move(whole).error();
        pattern.regex_ = std::move(whole).value();
    }
    return pattern;
}

bool SegmentPattern::admits(std::string_view rawSegment) const noexcept {
    if (!variable_) return true;
    countSteps(rawSegment.size());
    for (std::size_t at = rawSegment.find("%2"); at != npos; at = rawSegment.find("%2", at + 1)) {
        if (at + 2 < rawSegment.size() && (rawSegment[at + 2] | 0x20) == 'f') return false;
    }
    return true;
}

bool SegmentPattern::matches(std::string_view segment) const noexcept {
    if (literal_) {
        countSteps(std::min(glob_.size(), segment.size()) + 1);
        return glob_ == segment;
    }
    return regex_ ? regex_->matches(segment) : globMatches(glob_, segment);
}

}  // namespace weir::match
