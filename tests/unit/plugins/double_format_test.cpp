#include "mock/double_format.hpp"

#include "support/catch.hpp"

using weir::mock::DoubleFormat;

TEST_CASE("a number is written as the format says") {
    struct Row { const char* format; double number; const char* text; bool isNumber; };
    const Row rows[] = {
        {"%.2f", 3.14159, "3.14", true},   {"%f", 0.5, "0.500000", true},   {"%.0f", 2.0, "2", true},
        {"%8.2f|", 3.14159, "    3.14|", false}, {"%-8.2f|", 3.14159, "3.14    |", false},
        {"%08.2f", -3.14159, "-0003.14", false}, {"%+.1f", 1.25, "+1.2", false}, {"% .1f", 1.0, " 1.0", false},
        {"%.1f%% of $", 99.0, "99.0% of $", false},
    };
    for (const Row& row : rows) {
        INFO(row.format);
        const auto format = DoubleFormat::parse(row.format);
        REQUIRE(format);
        CHECK(format->format(row.number) == row.text);
        CHECK(format->isNumber() == row.isNumber);
    }
    CHECK(DoubleFormat().format(0.1) == "0.1");
    CHECK(DoubleFormat::parse("%.30f")->format(1.7e308).size() == 309 + 31);
}

TEST_CASE("a format that is not for one number is refused") {
    for (const char* format : {"", "text", "%d", "%s", "%n", "%", "%.f", "%.2", "%.31f", "%101f",
                               "%99999999999999999999f", "%-f",
                               "%0f", "%-08f", "%*f", "%.2f %.2f", "%1$f", "%lf", "%."}) {
        INFO(format);
        CHECK_FALSE(DoubleFormat::parse(format));
    }
}
