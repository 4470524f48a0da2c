#include "match/regex.hpp"

#include "support/catch.hpp"

namespace weir::match {

namespace {

std::string_view view(weir_str text) { return {text.data, text.size}; }

}  // namespace

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


TEST_CASE("An expression is found with its groups, from a place on or over the whole text") {
    const auto compiled = Regex::compile("(a+)(b)?");
    REQUIRE(compiled.ok());
    const Regex& regex = compiled.value();
    CHECK(regex.captureGroups() == 2);
    weir_str groups[4];
    const std::string_view text = "xaab aa";
    REQUIRE(regex.find(text, 0, false, groups));
    CHECK(view(groups[0]) == "aab");
    CHECK(groups[0].data == text.data() + 1);
    CHECK(view(groups[1]) == "aa");
    CHECK(view(groups[2]) == "b");
    CHECK(groups[3].data == nullptr);  // there is no third
    REQUIRE(regex.find(text, 4, false, groups));
    CHECK(groups[0].data == text.data() + 5);
    CHECK(groups[2].data == nullptr);  // it took no part
    CHECK_FALSE(regex.find(text, text.size(), false, groups));
    CHECK(regex.find(text, 5, false, {}));
    CHECK_FALSE(regex.find(text, 0, true, groups));
    CHECK(regex.find(text, 5, true, groups));
    CHECK_FALSE(regex.find(text, text.size() + 1, false, groups));
}

TEST_CASE("The text an expression begins with changes nothing in what it matches") {
    const char* const expressions[] = {
        "/order/(.*)",     "/order/.*",   "/order/(.*)$", "/order/([^/]+)/(.*)", "/order",      "/orde?r",
        "/order{0,2}(.*)", "/order+(.)",  "/a\\.b(.*)",   "/a.b",                "/\\/(.*)",    "/a|b(.*)",
        "/a(?i)B(.*)",     "/a\\d(.*)",   "/a\\b(.*)",    "/a(.*)b",             "aab(.*)",     "/a$",
        "/a(.*)?",         "/a(.*?)",     "/a()(.*)",     "\xc3\xa9(.*)",        "a\xc3\xa9*(.*)",
    };
    const std::string_view texts[] = {
        "",       "/",      "/order/", "/order/1", "/http/order/1/2",  "/order",     "/orde",           "/ordr1",
        "/aXb",   "b/a",    "/aB",     "/ab/a",    "/order/x/order/y", "//order//",  "/order/\xc3\xa9/z", "/orderrr",
        "/a1/a2", "aaab",   "/a.b/c",  "/order/\xff", "a\xc3\xa9\xa9",
    };
    for (const std::string expression : expressions) {
        for (const auto unit : {Regex::Unit::Character, Regex::Unit::Byte}) {
            const auto quick = Regex::compile(expression, 1, false, unit);
            const auto plain = Regex::compile("(?:" + expression + ")", 1, false, unit);  // begins with no text
            REQUIRE((quick.ok() && plain.ok()));
            for (const std::string_view text : texts) {
                CHECK(quick->matches(text) == plain->matches(text));
                for (const bool whole : {false, true}) {
                    for (std::size_t from = 0; from <= text.size(); ++from) {
                        CAPTURE(expression, text, whole, from);
                        weir_str found[12];
                        weir_str expected[12];
                        REQUIRE(quick->find(text, from, whole, found) == plain->find(text, from, whole, expected));
                        if (!plain->find(text, from, whole, expected)) continue;
                        for (std::size_t i = 0; i < std::size(found); ++i) {
                            CHECK(found[i].data == expected[i].data);
                            CHECK(found[i].size == expected[i].size);
                        }
                    }
                }
            }
        }
    }
}

}  // namespace weir::match
