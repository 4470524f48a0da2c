#include "double_format.hpp"

#include <charconv>
#include <cmath>

namespace weir::mock {

namespace {

constexpr std::size_t kWidest = 100;
constexpr std::size_t kMostDigits = 30;  // behind the point

bool isDigit(char c) { return c >= '0' && c <= '9'; }

// The number at `at`, which moves behind it; false: there is none, or it is over `most`.
bool readCount(std::string_view text, std::size_t& at, std::size_t most, std::size_t& count) {
    if (at == text.size() || !isDigit(text[at])) return false;
    for (count = 0; at < text.size() && isDigit(text[at]) && count <= most; ++at)
        count = count * 10 + static_cast<std::size_t>(text[at] - '0');
    return count <= most;
}

}  // namespace

// Behind the '%'.
bool DoubleFormat::parseSpecifier(std::string_view text, std::size_t& at) {
    for (; at < text.size(); ++at) {
        if (text[at] == '-') left_ = true;
        else if (text[at] == '0') zeros_ = true;
        else if (text[at] == '+' || text[at] == ' ') sign_ = text[at];
        else break;
    }
    const bool hasWidth = at < text.size() && isDigit(text[at]);
    if (hasWidth && !readCount(text, at, kWidest, width_)) return false;
    if ((left_ || zeros_) && (!hasWidth || (left_ && zeros_))) return false;  // as Java
    std::size_t digits = 6;
    if (at < text.size() && text[at] == '.' && !readCount(text, ++at, kMostDigits, digits)) return false;
    precision_ = static_cast<int>(digits);
    return at < text.size() && text[at++] == 'f';
}

std::optional<DoubleFormat> DoubleFormat::parse(std::string_view text) {
    DoubleFormat made;
    bool found = false;
    for (std::size_t at = 0; at < text.size();) {
        std::string& around = found ? made.behind_ : made.before_;
        if (text[at] != '%') {
            around += text[at++];
        } else if (text.substr(at).starts_with("%%")) {
            around += '%';
            at += 2;
        } else if (found || !made.parseSpecifier(text, ++at)) {
            return std::nullopt;
        } else {
            found = true;
        }
    }
    if (!found) return std::nullopt;
    return made;
}

std::string DoubleFormat::format(double number) const {
    char text[400];  // the largest double has 309 digits before the point
    const double positive = std::fabs(number);
    const auto end = precision_ < 0 ? std::to_chars(text, text + sizeof text, positive)
                                    : std::to_chars(text, text + sizeof text, positive, std::chars_format::fixed,
                                                    precision_);
    const std::string digits(text, end.ptr);
    std::string sign;
    if (std::signbit(number)) sign = "-";
    else if (sign_) sign = sign_;
    const std::size_t size = sign.size() + digits.size();
    const std::size_t missing = width_ > size ? width_ - size : 0;
    std::string made = before_;
    if (!left_ && !zeros_) made.append(missing, ' ');
    made += sign;
    if (zeros_) made.append(missing, '0');
    made += digits;
    if (left_) made.append(missing, ' ');
    return made + behind_;
}

bool DoubleFormat::isNumber() const { return before_.empty() && behind_.empty() && width_ == 0 && sign_ == 0; }

}  // namespace weir::mock
