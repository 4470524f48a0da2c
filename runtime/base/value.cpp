#include "base/value.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/ascii.hpp"

namespace weir::base {

namespace {

bool equalsIgnoringCase(std::string_view a, std::string_view b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return toLower(x) == toLower(y); });
}

bool isDigit(char c) { return c >= '0' && c <= '9'; }

// Typing slips between two words: letters added, lost, changed or swapped with their neighbour; case does not count.
std::size_t editDistance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> twoUp(b.size() + 1), up(b.size() + 1), row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) up[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            bool same = toLower(a[i - 1]) == toLower(b[j - 1]);
            row[j] = std::min({up[j] + 1, row[j - 1] + 1, up[j - 1] + (same ? 0 : 1)});
            bool swapped = i > 1 && j > 1 && toLower(a[i - 1]) == toLower(b[j - 2]) && toLower(a[i - 2]) == toLower(b[j - 1]);
            if (swapped) row[j] = std::min(row[j], twoUp[j - 2] + 1);
        }
        std::swap(twoUp, up);
        std::swap(up, row);
    }
    return up[b.size()];
}

}  // namespace

Value Value::null(Mark mark) {
    Value value;
    value.mark_ = mark;
    return value;
}

Value Value::scalar(std::string text, bool quoted, Mark mark) {
    Value value;
    value.kind_ = Kind::Scalar;
    value.quoted_ = quoted;
    value.mark_ = mark;
    value.text_ = std::move(text);
    return value;
}

Value Value::array(Mark mark) {
    Value value;
    value.kind_ = Kind::Array;
    value.mark_ = mark;
    return value;
}

Value Value::object(Mark mark) {
    Value value;
    value.kind_ = Kind::Object;
    value.mark_ = mark;
    return value;
}

bool Value::isNull() const {
    if (kind_ == Kind::Null) return true;
    if (kind_ != Kind::Scalar || quoted_) return false;
    return text_ == "~" || text_ == "null" || text_ == "Null" || text_ == "NULL";
}

std::optional<bool> Value::toBool() const {
    for (std::string_view word : {"true", "yes", "on"}) {
        if (equalsIgnoringCase(text_, word)) return true;
    }
    for (std::string_view word : {"false", "no", "off"}) {
        if (equalsIgnoringCase(text_, word)) return false;
    }
    return std::nullopt;
}

std::optional<std::int64_t> Value::toInt() const {
    std::string_view digits = text_;
    if (digits.starts_with('+')) {
        digits.remove_prefix(1);
        if (digits.starts_with('-')) return std::nullopt;
    }
    std::int64_t number = 0;
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
    return number;
}

std::optional<double> Value::toDouble() const {
    std::string_view digits = text_;
    std::string_view magnitude = digits.substr(digits.starts_with('+') || digits.starts_with('-') ? 1 : 0);
    // from_chars alone would take "inf", "nan", ".5" and "5." as well.
    if (magnitude.empty() || !isDigit(magnitude.front()) || !isDigit(magnitude.back())) return std::nullopt;
    if (digits.starts_with('+')) digits = magnitude;
    double number = 0;
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error != std::errc() || end != digits.data() + digits.size() || !std::isfinite(number)) return std::nullopt;
    return number;
}

std::string_view Value::describe() const {
    if (isNull()) return "nothing";
    if (kind_ == Kind::Array) return "a list";
    if (kind_ == Kind::Object) return "a map";
    return !quoted_ && toDouble() ? "a number" : "a text";
}

const Value* Value::find(std::string_view key) const {
    for (const Member& member : members_) {
        if (member.key == key) return &member.value;
    }
    return nullptr;
}

Value& Value::append(Value item) {
    WEIR_ASSERT(kind_ == Kind::Array);
    return items_.emplace_back(std::move(item));
}

Value& Value::set(std::string key, Value value, Mark keyMark) {
    WEIR_ASSERT(kind_ == Kind::Object);
    return members_.emplace_back(Member{std::move(key), keyMark, std::move(value)}).value;
}

std::string_view nearest(std::string_view word, const std::vector<std::string_view>& candidates) {
    std::string_view best;
    std::size_t bestDistance = word.size() / 3 + 1;
    for (std::string_view candidate : candidates) {
        std::size_t distance = editDistance(word, candidate);
        if (distance >= bestDistance) continue;
        best = candidate;
        bestDistance = distance;
    }
    return best;
}

}  // namespace weir::base
