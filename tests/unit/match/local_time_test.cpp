#include "match/local_time.hpp"

#include <cstdlib>
#include <string>

#include "support/catch.hpp"

namespace weir::match {
namespace {

// The zone of this process for as long as it lives.
class Zone {
public:
    explicit Zone(const char* rule) {
        if (const char* before = std::getenv("TZ")) before_ = before;
        else unset_ = true;
        ::setenv("TZ", rule, 1);
        ::tzset();
    }
    ~Zone() {
        if (unset_) ::unsetenv("TZ");
        else ::setenv("TZ", before_.c_str(), 1);
        ::tzset();
    }

private:
    std::string before_;
    bool unset_ = false;
};

}  // namespace

TEST_CASE("Only a date that exists, written yyyy-MM-dd HH:mm:ss, is a time") {
    for (const char* good : {"2024-02-29 23:59:59", "0001-01-01 00:00:00", "9999-12-31 00:00:00"}) {
        CAPTURE(good);
        CHECK(LocalTime::parse(good));
    }
    for (const char* bad : {"", "2023-02-29 00:00:00", "2024-13-01 00:00:00", "2024-00-01 00:00:00",
                            "2024-01-00 00:00:00", "2024-01-01 24:00:00", "2024-01-01 00:60:00", "2024-01-01 00:00:60",
                            "2024-01-01T00:00:00", "2024-1-1 0:0:0", "2024-01-01", "2024-01-01 00:00:00 ",
                            "-024-01-01 00:00:00", "2024-01-01 00:00:0x"}) {
        CAPTURE(bad);
        CHECK_FALSE(LocalTime::parse(bad));
    }
}

TEST_CASE("A local time is one moment, also where the clocks change") {
    const Zone zone("CET-1CEST,M3.5.0,M10.5.0/3");
    struct Row {
        const char* time;
        std::time_t moment;
    };
    const Row rows[] = {
        {"2024-01-15 12:00:00", 1705316400}, {"2024-07-15 12:00:00", 1721037600},
        {"2024-03-31 01:59:59", 1711846799}, {"2024-03-31 03:00:00", 1711846800},
        {"2024-03-31 02:30:00", 1711848600},  // skipped: 03:30
        {"2024-10-27 02:30:00", 1729989000},  // twice: the first
        {"2024-10-27 03:00:00", 1729994400},
    };
    for (const auto& row : rows) {
        CAPTURE(row.time);
        CHECK(LocalTime::parse(row.time)->moment() == row.moment);
    }
}

}  // namespace weir::match
