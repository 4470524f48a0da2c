#include "mock/json_text.hpp"

#include "support/catch.hpp"

using namespace weir::mock;

TEST_CASE("a text becomes a JSON string and back") {
    struct Row { std::string text; const char* json; };
    const Row rows[] = {
        {"", R"("")"},
        {"a\"b\\c/", R"("a\"b\\c/")"},
        {"\n\x01\x7f", "\"\\u000a\\u0001\x7f\""},
        {"\xe4\xbd\xa0 \xf0\x9f\x98\x80", "\"\xe4\xbd\xa0 \xf0\x9f\x98\x80\""},
    };
    for (const Row& row : rows) {
        CHECK(quoteJson(row.text) == row.json);
        CHECK(unquoteJson(row.json) == row.text);
    }
    CHECK(unquoteJson(R"("\b\f\n\r\t\/\u00e4\u20ac\ud83d\ude00")") ==
          "\b\f\n\r\t/\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80");
}

TEST_CASE("what is no UTF-8, and half of a pair, becomes the replacement character") {
    for (const char* bad : {"\xff", "\xc3", "\xc0\x80", "\xed\xa0\x80", "\xe0\x80\x80", "\xf4\x90\x80\x80", "\x80"})
        CHECK(quoteJson(bad).starts_with("\"\xef\xbf\xbd"));
    CHECK(quoteJson("a\xc3z") == "\"a\xef\xbf\xbdz\"");
    for (const char* half : {R"("\ud83d")", R"("\ude00")"}) CHECK(unquoteJson(half) == "\xef\xbf\xbd");
    CHECK(unquoteJson(R"("\ud83d\u0041")") == "\xef\xbf\xbd" "A");
}

TEST_CASE("members and elements are found in a text that is JSON") {
    const auto whole =
        jsonValue(R"j( {"a": {"b": [1, "x,]", {"c": null}]}, "a\u0062": -1.5e3, "d": 1, "d": 2} )j");
    REQUIRE(whole);
    const auto array = jsonMember(*jsonMember(*whole, "a"), "b");
    REQUIRE(array);
    CHECK(jsonElement(*array, 0) == "1");
    CHECK(jsonElement(*array, 1) == "\"x,]\"");
    CHECK(jsonMember(*jsonElement(*array, 2), "c") == "null");
    CHECK_FALSE(jsonElement(*array, 3));
    CHECK(jsonMember(*whole, "ab") == "-1.5e3");
    CHECK(jsonMember(*whole, "d") == "2");
    CHECK_FALSE(jsonMember(*whole, "e"));
    CHECK_FALSE(jsonMember(*array, "a"));
    CHECK_FALSE(jsonElement(*whole, 0));
}

TEST_CASE("what is not JSON is not taken for it") {
    const std::string deep(100, '[');
    for (const std::string_view text : {"", "{", "[1,]", "{\"a\"}", "01", "\"\n\"", "\"\\x\"", "nul", "1 2", "'a'",
                                        "\"\\u12g4\"", "-", "1.", "{1:2}", deep.c_str()}) {
        INFO(text);
        CHECK_FALSE(jsonValue(text));
    }
}
