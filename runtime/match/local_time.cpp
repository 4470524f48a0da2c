#include "match/local_time.hpp"

#include <chrono>

namespace weir::match {

std::optional<LocalTime> LocalTime::parse(std::string_view text) {
    constexpr std::string_view kForm = "yyyy-MM-dd HH:mm:ss";
    if (text.size() != kForm.size()) return std::nullopt;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool digit = text[i] >= '0' && text[i] <= '9';
        const bool letter = (kForm[i] | 0x20) >= 'a' && (kForm[i] | 0x20) <= 'z';
        if (letter ? !digit : text[i] != kForm[i]) return std::nullopt;
    }
    const auto number = [text](std::size_t at, std::size_t digits) {
        int value = 0;
        for (const char c : text.substr(at, digits)) value = value * 10 + (c - '0');
        return value;
    };
    const LocalTime time{number(0, 4), number(5, 2), number(8, 2), number(11, 2), number(14, 2), number(17, 2)};
    const std::chrono::year_month_day date{std::chrono::year(time.year),
                                           std::chrono::month(static_cast<unsigned>(time.month)),
                                           std::chrono::day(static_cast<unsigned>(time.day))};
    if (!date.ok() || time.hour > 23 || time.minute > 59 || time.second > 59) return std::nullopt;
    return time;
}

std::time_t LocalTime::moment() const {
    const auto fields = [this](int daylight) {
        std::tm tm{};
        tm.tm_year = year - 1900;
        tm.tm_mon = month - 1;
        tm.tm_mday = day;
        tm.tm_hour = hour;
        tm.tm_min = minute;
        tm.tm_sec = second;
        tm.tm_isdst = daylight;
        return tm;
    };
    // Where summer and winter both show this hour, summer's was first. A skipped hour counts as winter's.
    std::tm summer = fields(1);
    const std::time_t first = std::mktime(&summer);
    if (summer.tm_isdst > 0 && summer.tm_hour == hour && summer.tm_min == minute) return first;
    std::tm winter = fields(0);
    return std::mktime(&winter);
}

}  // namespace weir::match
