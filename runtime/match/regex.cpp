#include "match/regex.hpp"

#include <re2/re2.h>

#include <vector>

#include "match/steps.hpp"

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
    return Regex(std::move(compiled));
}

bool Regex::matches(std::string_view text) const noexcept {
    countSteps(text.size());
    return re2::RE2::FullMatch(re2::StringPiece(text.data(), text.size()), *compiled_);
}

bool Regex::find(std::string_view text, std::size_t from, bool whole, std::span<std::string_view> groups) const {
    if (from > text.size()) return false;
    std::vector<re2::StringPiece> pieces(groups.size());
    if (!compiled_->Match(re2::StringPiece(text.data(), text.size()), from, text.size(),
                          whole ? re2::RE2::ANCHOR_BOTH : re2::RE2::UNANCHORED, pieces.data(),
                          static_cast<int>(pieces.size()))) {
        return false;
    }
    for (std::size_t i = 0; i < groups.size(); ++i) groups[i] = {pieces[i].data(), pieces[i].size()};
    return true;
}

int Regex::captureGroups() const { return compiled_->NumberOfCapturingGroups(); }

std::string Regex::quote(std::string_view literal) {
    return re2::RE2::QuoteMeta(re2::StringPiece(literal.data(), literal.size()));
}

}  // namespace weir::match
