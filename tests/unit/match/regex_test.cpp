#include "match/regex.hpp"

#include "support/catch.hpp"

namespace weir::match {

TEST_CASE("A regular expression matches whole texts only") {
    auto regex = Regex::compile("a.c|b");
    REQUIRE(regex.ok());
    CHECK(regex->matches("a\nc"));
    CHECK(regex->matches("b"));
    CHECK_FALSE(regex->matches("xb"));
    CHECK_FALSE(regex->matches("abcd"));
}

TEST_CASE("Constructs that only Java knows are refused with their position") {
    struct Row {
        const char* expression;
        const char* message;
    };
    const Row rows[] = {
        {"ab(?=c)", "position 3: "},   {"(a)\\1", "position 4: "},      {"ab*+", "position 3: "},
        {"(?>a)", "position 1: "},     {"[a-z&&[^b]]", "position 5: "}, {"[a[b]]", "position 3: "},
        {"a)", "position 1: "},        {"[z-a]", "position 2: "},
    };
    for (const auto& row : rows) {
        CAPTURE(row.expression);
        auto regex = Regex::compile(row.expression);
        REQUIRE_FALSE(regex.ok());
        CHECK_THAT(regex.error().message, Catch::Matchers::StartsWith(row.message));
    }
}

}  // namespace weir::match
