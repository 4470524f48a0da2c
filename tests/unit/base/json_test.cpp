#include "base/value.hpp"
#include "support/catch.hpp"

using namespace weir::base;

namespace {
std::string nested(int depth) { return std::string(depth, '[') + std::string(depth, ']'); }
std::string printed(std::string_view json) {
    auto value = parseJson(json);
    return value ? toJson(*value) : value.error().text();
}
}  // namespace

TEST_CASE("JSON is read and written back the same, numbers in their own spelling") {
    struct Row { const char* in; const char* out; };
    const Row rows[] = {
        {"{}", "{}"},
        {" [ ] ", "[]"},
        {"[{\"upstreamUrl\":\"127.0.0.1:8189\", \"weight\": 50}]",
         "[{\"upstreamUrl\":\"127.0.0.1:8189\",\"weight\":50}]"},
        {"{\"a\":null,\"b\":true,\"c\":false,\"d\":\"null\"}", "{\"a\":null,\"b\":true,\"c\":false,\"d\":\"null\"}"},
        {"[0,-0,1.50,1e5,1E+05,-2.5e-3,123456789012345678901234567890]",
         "[0,-0,1.50,1e5,1E+05,-2.5e-3,123456789012345678901234567890]"},
        {"\"\\u0061\\\"\\\\\\/\\b\\f\\n\\r\\t\\u000b\"", "\"a\\\"\\\\/\\b\\f\\n\\r\\t\\u000b\""},
        {"\"\\u00e9\\u20AC\\uD83D\\uDE00\"", "\"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\""},
        {"\"\xC3\xA9\"", "\"\xC3\xA9\""},
        {"7", "7"},
    };
    for (const Row& row : rows) {
        INFO(row.in);
        CHECK(printed(row.in) == row.out);
    }
}

TEST_CASE("what is not JSON is refused with line, column and what was expected") {
    struct Row { std::string in; const char* error; };
    const Row rows[] = {
        {"", "1:1: expected a JSON value, found the end of the text"},
        {"{\"a\":1,}", "1:8: expected a key in double quotes, found \"}\""},
        {"[1,]", "1:4: expected a JSON value, found \"]\""},
        {"[1 2]", "1:4: expected \",\" or \"]\" in the list, found \"2\""},
        {"{\"a\" 1}", "1:6: expected \":\" after the key, found \"1\""},
        {"{\n  \"a\": 1\n  \"b\": 2}", "3:3: expected \",\" or \"}\" in the object, found \"\\\"\""},
        {"{\"a\":1,\n \"a\":2}", "2:2: the key \"a\" is there twice, first at 1:2"},
        {"{'a':1}", "1:2: expected a key in double quotes, found \"'\""},
        {"01", "1:1: expected a JSON value, found \"0\""},
        {"1.", "1:1: expected a JSON value, found \"1\""},
        {"-", "1:1: expected a JSON value, found \"-\""},
        {"+1", "1:1: expected a JSON value, found \"+\""},
        {"NaN", "1:1: expected a JSON value, found \"N\""},
        {"truex", "1:1: expected a JSON value, found \"t\""},
        {"hello", "1:1: expected a JSON value, found \"h\""},
        {"1 2", "1:3: expected the end of the text after the JSON value, found \"2\""},
        {"[1] // x", "1:5: expected the end of the text after the JSON value, found \"/\""},
        {"\"a", "1:1: this string is never closed"},
        {"\"a\nb\"", "1:3: a control character must be escaped in a string"},
        {"\"\\x\"", "1:2: not an escape of JSON"},
        {"\"\\", "1:2: not an escape of JSON"},
        {"\"\\u12g4\"", "1:2: expected four hexadecimal digits after \\u"},
        {"\"\\u12", "1:2: expected four hexadecimal digits after \\u"},
        {"\"\\uD83D\"", "1:2: half of a surrogate pair"},
        {"\"\\uD83D\\u0041\"", "1:2: half of a surrogate pair"},
        {"\"\\uDE00\"", "1:2: half of a surrogate pair"},
        {"\"\xE9\"", "1:2: a byte that is not UTF-8"},
        {"\xEF\xBB\xBF{}", "1:1: expected a JSON value, found \"\xEF\xBB\xBF\""},
        {std::string("\0", 1), "1:1: expected a JSON value, found \"\\u0000\""},
        {nested(65), "1:65: nested deeper than 64 levels"},
        {std::string(100000, '['), "1:65: nested deeper than 64 levels"},
    };
    for (const Row& row : rows) {
        INFO(row.in.substr(0, 80));
        CHECK(printed(row.in) == row.error);
    }
    CHECK(printed(nested(64)) == nested(64));
}

TEST_CASE("JSON values know where they stand") {
    auto value = parseJson("{\n  \"a\": [1,\n    2]}");
    REQUIRE(value);
    const Value& list = *value->find("a");
    CHECK(value->members()[0].keyMark.line == 2);
    CHECK(value->members()[0].keyMark.column == 3);
    CHECK(list.mark().column == 8);
    CHECK(list.items()[1].mark().line == 3);
    CHECK(list.items()[1].mark().column == 5);
}

TEST_CASE("plain words that are no JSON value are quoted when written") {
    Value list = Value::array();
    for (const char* text : {"no", "01", "1.", "~", "", "True", "1", "null"}) list.append(Value::scalar(text, false));
    list.append(Value::scalar("1", true));
    CHECK(toJson(list) == "[\"no\",\"01\",\"1.\",\"~\",\"\",\"True\",1,null,\"1\"]");
}

TEST_CASE("quoting replaces what is not UTF-8") {
    struct Row { std::string in; const char* out; };
    const Row rows[] = {
        {"a\xE9z", "\"a\xEF\xBF\xBDz\""},
        {"\xC0\xAF", "\"\xEF\xBF\xBD\xEF\xBF\xBD\""},
        {"\xED\xA0\x80", "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\""},
        {"\xF4\x90\x80\x80", "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\""},
        {"\xE2\x82", "\"\xEF\xBF\xBD\xEF\xBF\xBD\""},
        {"\x7F</", "\"\x7F</\""},
    };
    for (const Row& row : rows) CHECK(jsonQuote(row.in) == row.out);
}
