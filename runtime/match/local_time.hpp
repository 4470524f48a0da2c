#pragma once

#include <compare>
#include <ctime>
#include <optional>
#include <string_view>

namespace weir::match {

// A date and time of the local clock, as operators TimeBefore and TimeAfter write it: yyyy-MM-dd HH:mm:ss.
struct LocalTime {
    int year;
    int month;  // 1 to 12
    int day;
    int hour;
    int minute;
    int second;

    // Nothing when `text` has another form, or names a day that does not exist.
    static std::optional<LocalTime> parse(std::string_view text);

    // The moment it stands for in the zone of this process: of an hour that the clocks show twice the first, of one
    // they skip the moment as far after the skip as it is into it.
    std::time_t moment() const;

    auto operator<=>(const LocalTime&) const = default;
};

}  // namespace weir::match
