#include "mock/date_pattern.hpp"

#include "support/catch.hpp"

using weir::mock::DatePattern;
using weir::mock::Moment;

namespace {

// Saturday, 2 January 2021, 00:04:05.006007008.
Moment moment() {
    Moment made{{}, 6007008};
    made.local.tm_year = 121;
    made.local.tm_mon = 0;
    made.local.tm_mday = 2;
    made.local.tm_hour = 0;
    made.local.tm_min = 4;
    made.local.tm_sec = 5;
    made.local.tm_wday = 6;
    made.local.tm_yday = 1;
    return made;
}

}  // namespace

TEST_CASE("a pattern of a date is filled in as Java does") {
    struct Row { const char* pattern; const char* text; };
    const Row rows[] = {
        {"YYYY-MM-dd HH:mm:ss", "2021-01-02 00:04:05"},
        {"yyyy-MM-dd'T'HH:mm:ss.SSS", "2021-01-02T00:04:05.006"},
        {"yy/M/d H:m:s", "21/1/2 0:4:5"},
        {"uuuuu", "02021"},
        {"EEE, d MMM yyyy", "Sat, 2 Jan 2021"},
        {"EEEE, MMMM", "Saturday, January"},
        {"hh:mm a", "12:04 AM"},
        {"D DDD", "2 002"},
        {"S SSSSSSSSS", "0 006007008"},
        {"''yyyy'' 'it''s'", "'2021' it's"},
        {"", ""},
    };
    for (const Row& row : rows) {
        INFO(row.pattern);
        const auto pattern = DatePattern::parse(row.pattern);
        REQUIRE(pattern);
        CHECK(pattern->format(moment()) == row.text);
    }
    Moment evening = moment();
    evening.local.tm_hour = 13;
    CHECK(DatePattern::parse("h a")->format(evening) == "1 PM");
}

TEST_CASE("a pattern with what a local time has not is refused") {
    for (const char* pattern : {"z", "yyyy XXX", "MMMMM", "ddd", "'open", "[HH]", "#", "SSSSSSSSSS", "aa", "no"}) {
        INFO(pattern);
        CHECK_FALSE(DatePattern::parse(pattern));
    }
}
