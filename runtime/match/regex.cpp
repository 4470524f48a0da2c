#include "match/regex.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "match/steps.hpp"
#include "match/text_search.hpp"

namespace weir::match {
namespace {

// Java reads '[' and "&&" inside a class as union and intersection, RE2 as plain characters: not an error there, but
// another meaning. The offset of the first such place, or npos.
std::size_t javaClassOperator(std::string_view expression) {
    bool inClass = false;
    for (std::size_t i = 0; i < expression.size(); ++i) {
        const char c = expression[i];
        if (c == '\\') {
            ++i;
        } else if (!inClass) {
            inClass = c == '[';
        } else if (c == ']') {
            inClass = false;
        } else if (c == '[' || expression.substr(i, 2) == "&&") {
            return i;
        }
    }
    return std::string_view::npos;
}

base::Error refused(std::size_t position, const std::string& why) {
    return {base::ErrorCode::InvalidConfig, "",
            "position " + std::to_string(position) + ": not a regular expression of the RE2 syntax: " + why};
}

bool isAscii(char c) { return static_cast<unsigned char>(c) < 0x80; }

// Whether a character of an expression, or a special one behind a backslash, stands for itself.
bool isLiteral(char c, bool escaped) {
    constexpr std::string_view kSpecial = "\\^$.|?*+()[]{}";
    return isAscii(c) && (kSpecial.find(c) != std::string_view::npos) == escaped;
}

// Takes from `expression` the plain text it begins with, as far as that is easy to see: what has an alternative, or is
// repeated, need not be in a match.
std::string takePrefix(std::string_view& expression) {
    constexpr std::string_view kRepeats = "?*+{";
    std::string prefix;
    if (expression.find('|') != std::string_view::npos) return prefix;
    while (!expression.empty()) {
        const bool escaped = expression.front() == '\\' && expression.size() > 1;
        const std::string_view behind = expression.substr(escaped ? 2 : 1);
        const char c = expression[escaped ? 1 : 0];
        const bool repeated = !behind.empty() && kRepeats.find(behind.front()) != std::string_view::npos;
        if (!isLiteral(c, escaped) || repeated) break;
        prefix += c;
        expression = behind;
    }
    return prefix;
}

bool search(const re2::RE2& compiled, std::string_view text, std::size_t from, re2::RE2::Anchor anchor,
            std::span<weir_str> groups) {
    std::array<re2::StringPiece, 10> few;  // $0 to $9
    std::vector<re2::StringPiece> many(groups.size() > few.size() ? groups.size() : 0);
    re2::StringPiece* pieces = many.empty() ? few.data() : many.data();
    if (!compiled.Match(re2::StringPiece(text.data(), text.size()), from, text.size(), anchor, pieces,
                        static_cast<int>(groups.size()))) {
        return false;
    }
    for (std::size_t i = 0; i < groups.size(); ++i) groups[i] = {pieces[i].data(), pieces[i].size()};
    return true;
}

}  // namespace

Regex::Regex(std::unique_ptr<const re2::RE2> compiled) : compiled_(std::move(compiled)) {}
Regex::Regex(Regex&&) noexcept = default;
Regex& Regex::operator=(Regex&&) noexcept = default;
Regex::~Regex() = default;

base::Result<Regex> Regex::compile(std::string_view expression, std::size_t position, bool ignoreCase, Unit unit) {
    if (const auto at = javaClassOperator(expression); at != std::string_view::npos) {
        return refused(position + at, "'[' and '&&' inside a character class");
    }
    re2::RE2::Options options;
    options.set_log_errors(false);
    options.set_dot_nl(true);
    options.set_case_sensitive(!ignoreCase);
    if (unit == Unit::Byte) options.set_encoding(re2::RE2::Options::EncodingLatin1);
    auto compiled = std::make_unique<const re2::RE2>(re2::StringPiece(expression.data(), expression.size()), options);
    if (!compiled->ok()) {
        const auto at = expression.find(compiled->error_arg());
        return refused(position + (at == std::string_view::npos ? 0 : at), compiled->error());
    }
    Regex regex(std::move(compiled));
    if (!ignoreCase) {
        regex.prefix_ = takePrefix(expression);
        regex.takesRest_ = !regex.prefix_.empty() && (expression == "(.*)" || expression == ".*");
    }
    return regex;
}

bool Regex::matches(std::string_view text) const noexcept {
    countSteps(text.size());
    if (!text.starts_with(prefix_)) return false;
    if (takesAll(text.substr(prefix_.size()))) return true;
    return re2::RE2::FullMatch(re2::StringPiece(text.data(), text.size()), *compiled_);
}

// Whether what is behind the prefix takes all of `rest`. '.' would not take malformed UTF-8.
bool Regex::takesAll(std::string_view rest) const {
    return takesRest_ && std::ranges::all_of(rest, isAscii);
}

// Searching is what costs most in RE2: three automata, each behind a lock. Where the first match can begin is known
// when its first characters are; from there one automaton, without a lock, tells the rest for most expressions.
bool Regex::find(std::string_view text, std::size_t from, bool whole, std::span<weir_str> groups) const {
    if (from > text.size()) return false;
    const re2::RE2::Anchor anchor = whole ? re2::RE2::ANCHOR_BOTH : re2::RE2::UNANCHORED;
    if (prefix_.empty()) return search(*compiled_, text, from, anchor, groups);
    if (!text.substr(from).starts_with(prefix_)) {
        const std::size_t distance = whole ? text.npos : match::find(text.substr(from), prefix_);
        if (distance == text.npos) return false;
        from += distance;
    }
    if (const std::string_view rest = text.substr(from + prefix_.size()); takesAll(rest)) {
        std::ranges::fill(groups, weir_str{nullptr, 0});
        if (groups.size() > 0) groups[0] = {text.data() + from, text.size() - from};
        if (groups.size() > 1 && captureGroups() > 0) groups[1] = {rest.data(), rest.size()};
        return true;
    }
    if (!whole && search(*compiled_, text, from, re2::RE2::ANCHOR_START, groups)) return true;
    return search(*compiled_, text, from, anchor, groups);
}

int Regex::captureGroups() const { return compiled_->NumberOfCapturingGroups(); }

std::string Regex::quote(std::string_view literal) {
    return re2::RE2::QuoteMeta(re2::StringPiece(literal.data(), literal.size()));
}

}  // namespace weir::match
