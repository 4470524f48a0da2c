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

TEST_CASE("an expression is found with its groups, from a place on or over the whole text") {
    using weir::match::Regex;
    const auto compiled = Regex::compile("(a+)(b)?");
    REQUIRE(compiled.ok());
    const Regex& regex = compiled.value();
    CHECK(regex.captureGroups() == 2);
    std::string_view groups[4];
    const std::string_view text = "xaab aa";
    REQUIRE(regex.find(text, 0, false, groups));
    CHECK(groups[0] == "aab");
    CHECK(groups[0].data() == text.data() + 1);
    CHECK(groups[1] == "aa");
    CHECK(groups[2] == "b");
    CHECK(groups[3].data() == nullptr);  // there is no third
    REQUIRE(regex.find(text, 4, false, groups));
    CHECK(groups[0].data() == text.data() + 5);
    CHECK(groups[2].data() == nullptr);  // it took no part
    CHECK_FALSE(regex.find(text, text.size(), false, groups));
    CHECK(regex.find(text, 5, false, {}));
    CHECK_FALSE(regex.find(text, 0, true, groups));
    CHECK(regex.find(text, 5, true, groups));
    CHECK_FALSE(regex.find(text, text.size() + 1, false, groups));
}
