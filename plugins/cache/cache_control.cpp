#include "cache_control.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <ctime>
#include <limits>

namespace weir::cache {

namespace {

// A number of seconds that is none is 0: stale at once (RFC 9111 4.2.1). One that is too large is the largest.
std::uint64_t seconds(std::string_view text) {
    if (text.size() >= 2 && text.front() == '"' && text.back() == '"') text = text.substr(1, text.size() - 2);
    std::uint64_t value = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (fault == std::errc::result_out_of_range) return std::numeric_limits<std::uint32_t>::max();
    return fault == std::errc() && end == text.data() + text.size() ? value : 0;
}

std::optional<int> number(std::string_view text) {
    int value = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (fault != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

}  // namespace

std::string_view trimmed(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(" \t");
    if (begin == text.npos) return {};
    return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

CacheControl CacheControl::of(const Headers& headers) {
    CacheControl control;
    headers.forEachHeader([&control](std::string_view field, std::string_view value) {
        if (!equalsIgnoreCase(field, "Cache-Control")) return;
        forEachMember(value, [&control](std::string_view directive) {
            const std::size_t equals = directive.find('=');
            const std::string_view name = trimmed(directive.substr(0, equals));
            const std::string_view argument = equals == directive.npos ? "" : trimmed(directive.substr(equals + 1));
            if (equalsIgnoreCase(name, "no-store")) control.noStore = true;
            else if (equalsIgnoreCase(name, "no-cache")) control.noCache = true;
            else if (equalsIgnoreCase(name, "private")) control.isPrivate = true;
            else if (equalsIgnoreCase(name, "public")) control.isPublic = true;
            else if (equalsIgnoreCase(name, "max-age")) control.maxAge = seconds(argument);
            else if (equalsIgnoreCase(name, "s-maxage")) control.sharedMaxAge = seconds(argument);
            return true;
        });
    });
    return control;
}

// "Sun, 06 Nov 1994 08:49:37 GMT"
std::optional<std::int64_t> httpDate(std::string_view text) {
    static constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                                 "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    if (text.size() != 29 || text.substr(3, 2) != ", " || text.substr(25) != " GMT") return std::nullopt;
    const auto month = std::ranges::find(kMonths, text.substr(8, 3));
    const auto day = number(text.substr(5, 2));
    const auto year = number(text.substr(12, 4));
    const auto hour = number(text.substr(17, 2));
    const auto minute = number(text.substr(20, 2));
    const auto second = number(text.substr(23, 2));
    if (month == kMonths.end() || !day || !year || !hour || !minute || !second) return std::nullopt;
    std::tm parts{};
    parts.tm_mday = *day;
    parts.tm_mon = static_cast<int>(month - kMonths.begin());
    parts.tm_year = *year - 1900;
    parts.tm_hour = *hour;
    parts.tm_min = *minute;
    parts.tm_sec = *second;
    return timegm(&parts);
}

}  // namespace weir::cache
