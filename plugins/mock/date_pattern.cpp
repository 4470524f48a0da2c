#include "date_pattern.hpp"

#include <algorithm>
#include <chrono>

namespace weir::mock {

namespace {

constexpr std::string_view kMonths[] = {"January", "February", "March",     "April",   "May",      "June",
                                        "July",    "August",   "September", "October", "November", "December"};
constexpr std::string_view kDays[] = {"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};

bool isLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// How often a letter may be repeated; 0: not supported.
std::size_t longestRun(char letter) {
    switch (letter) {
        case 'y':
        case 'u':
        case 'Y':
        case 'S': return 9;
        case 'M':
        case 'E': return 4;
        case 'D': return 3;
        case 'd':
        case 'H':
        case 'h':
        case 'm':
        case 's': return 2;
        case 'a': return 1;
        default: return 0;
    }
}

void appendNumber(std::string& out, long number, std::size_t digits) {
    const std::string text = std::to_string(number);
    out.append(digits > text.size() ? digits - text.size() : 0, '0').append(text);
}

void appendName(std::string& out, std::string_view name, std::size_t count) {
    out += count == 4 ? name : name.substr(0, 3);
}

void appendField(std::string& out, char letter, std::size_t count, const Moment& moment) {
    const std::tm& at = moment.local;
    const long year = at.tm_year + 1900L;
    switch (letter) {
        case 'M':
            if (count < 3) return appendNumber(out, at.tm_mon + 1, count);
            return appendName(out, kMonths[at.tm_mon], count);
        case 'E': return appendName(out, kDays[at.tm_wday], count);
        case 'd': return appendNumber(out, at.tm_mday, count);
        case 'D': return appendNumber(out, at.tm_yday + 1, count);
        case 'H': return appendNumber(out, at.tm_hour, count);
        case 'h': return appendNumber(out, (at.tm_hour + 11) % 12 + 1, count);
        case 'm': return appendNumber(out, at.tm_min, count);
        case 's': return appendNumber(out, at.tm_sec, count);
        case 'a': out += at.tm_hour < 12 ? "AM" : "PM"; return;
        case 'S': {
            std::string fraction;
            appendNumber(fraction, moment.nanoseconds, 9);
            out.append(fraction, 0, count);
            return;
        }
        default: return appendNumber(out, count == 2 ? year % 100 : year, count);  // y, u, Y
    }
}

}  // namespace

Moment Moment::now() {
    const auto now = std::chrono::system_clock::now();
    const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
    const auto rest = std::chrono::nanoseconds(now.time_since_epoch()) % std::chrono::seconds(1);
    Moment moment{{}, static_cast<long>(rest.count())};
    localtime_r(&seconds, &moment.local);
    return moment;
}

std::string& DatePattern::openText() {
    if (fields_.empty() || fields_.back().letter) fields_.push_back({0, 0, {}});
    return fields_.back().text;
}

// From the quote at `at` to behind the one that ends it; false: none does.
bool DatePattern::addText(std::string_view pattern, std::size_t& at) {
    if (pattern.substr(at).starts_with("''")) {
        openText() += '\'';
        at += 2;
        return true;
    }
    for (++at; at < pattern.size(); ++at) {
        if (pattern[at] == '\'') {
            if (!pattern.substr(at).starts_with("''")) break;
            ++at;
        }
        openText() += pattern[at];
    }
    return at++ < pattern.size();
}

std::optional<DatePattern> DatePattern::parse(std::string_view pattern) {
    DatePattern made;
    for (std::size_t at = 0; at < pattern.size();) {
        const char c = pattern[at];
        if (c == '\'') {
            if (!made.addText(pattern, at)) return std::nullopt;
        } else if (isLetter(c)) {
            const std::size_t count = std::min(pattern.find_first_not_of(c, at), pattern.size()) - at;
            if (count > longestRun(c)) return std::nullopt;
            made.fields_.push_back({c, count, {}});
            at += count;
        } else if (std::string_view("[]{}#").find(c) != std::string_view::npos) {
            return std::nullopt;
        } else {
            made.openText() += c;
            ++at;
        }
    }
    return made;
}

std::string DatePattern::format(const Moment& moment) const {
    std::string out;
    for (const Field& field : fields_) {
        if (field.letter) appendField(out, field.letter, field.count, moment);
        else out += field.text;
    }
    return out;
}

}  // namespace weir::mock
