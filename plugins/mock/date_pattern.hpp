#pragma once

#include <cstddef>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::mock {

// A point in time as the gateway's clock and time zone have it.
struct Moment {
    std::tm local;
    long nanoseconds;

    static Moment now();
};

// Java's DateTimeFormatter patterns as far as a local time has them: y u Y (year), M d D (month, day, day of the year),
// E (day of the week), H h m s a (time), S (fraction), 'text', '' and all bytes that are no letters or one of []{}#.
// Names are English. Y is the year, not the week's year as in Java.
class DatePattern {
public:
    static std::optional<DatePattern> parse(std::string_view pattern);  // nothing: it has something else

    std::string format(const Moment& moment) const;

private:
    struct Field {
        char letter;  // 0: text
        std::size_t count;
        std::string text;
    };
    bool addText(std::string_view pattern, std::size_t& at);
    std::string& openText();

    std::vector<Field> fields_;
};

constexpr std::string_view kDefaultPattern = "yyyy-MM-dd HH:mm:ss";

}  // namespace weir::mock
