#include "base/value.hpp"

#include <limits>

#include "support/catch.hpp"

using namespace weir::base;

namespace {
Value plain(std::string text) { return Value::scalar(std::move(text), false); }
Value quoted(std::string text) { return Value::scalar(std::move(text), true); }
}  // namespace

TEST_CASE("a boolean is one of six words in any case, quoted or not") {
    for (const char* word : {"true", "True", "TRUE", "yes", "Yes", "on", "ON"}) CHECK(plain(word).toBool() == true);
    for (const char* word : {"false", "False", "no", "NO", "off", "oFF"}) CHECK(plain(word).toBool() == false);
    CHECK(quoted("false").toBool() == false);
    for (const char* word : {"flase", "", "1", "0", "y", "n", "truee", "~"}) {
        INFO(word);
        CHECK_FALSE(plain(word).toBool());
    }
    CHECK_FALSE(Value().toBool());
    CHECK_FALSE(Value::array().toBool());
}

TEST_CASE("an integer is decimal digits with an optional sign within 64 bits") {
    struct Row { const char* text; std::optional<std::int64_t> number; };
    const Row rows[] = {
        {"0", 0}, {"9195", 9195}, {"-1", -1}, {"+7", 7}, {"007", 7},
        {"9223372036854775807", std::numeric_limits<std::int64_t>::max()},
        {"-9223372036854775808", std::numeric_limits<std::int64_t>::min()},
        {"9223372036854775808", {}}, {"", {}}, {"+", {}}, {"-", {}}, {"+-1", {}}, {"1.0", {}}, {"0x10", {}},
        {"1e3", {}}, {" 1", {}}, {"1 ", {}}, {"1_000", {}}, {"ten", {}},
    };
    for (const Row& row : rows) {
        INFO(row.text);
        CHECK(plain(row.text).toInt() == row.number);
    }
    CHECK(quoted("50").toInt() == 50);
}

TEST_CASE("a fractional number is decimal and finite") {
    struct Row { const char* text; std::optional<double> number; };
    const Row rows[] = {
        {"0.5", 0.5}, {"-2", -2.0}, {"+1.5", 1.5}, {"1e3", 1000.0}, {"1.5E-1", 0.15},
        {"inf", {}}, {"nan", {}}, {"1e999", {}}, {".5", {}}, {"5.", {}}, {"", {}}, {"+-1", {}}, {"0x1p3", {}},
        {"1e", {}}, {"1,5", {}},
    };
    for (const Row& row : rows) {
        INFO(row.text);
        CHECK(plain(row.text).toDouble() == row.number);
    }
}

TEST_CASE("null is a missing value or one of four plain words, never a quoted one") {
    CHECK(Value().isNull());
    for (const char* word : {"~", "null", "Null", "NULL"}) CHECK(plain(word).isNull());
    CHECK_FALSE(quoted("null").isNull());
    CHECK_FALSE(plain("nULL").isNull());
    CHECK_FALSE(plain("").isNull());
    CHECK_FALSE(Value::object().isNull());
}

TEST_CASE("a value says what it is in words") {
    CHECK(Value().describe() == "nothing");
    CHECK(plain("null").describe() == "nothing");
    CHECK(plain("12").describe() == "a number");
    CHECK(quoted("12").describe() == "a text");
    CHECK(plain("no").describe() == "a text");
    CHECK(Value::array().describe() == "a list");
    CHECK(Value::object().describe() == "a map");
}

TEST_CASE("an object keeps the order of its members and finds them by key") {
    Value object = Value::object({3, 1});
    object.set("b", plain("1"), {3, 2});
    object.set("a", plain("2"), {4, 2});
    CHECK(object.mark().line == 3);
    REQUIRE(object.members().size() == 2);
    CHECK(object.members()[0].key == "b");
    CHECK(object.members()[1].keyMark.line == 4);
    REQUIRE(object.find("a"));
    CHECK(object.find("a")->text() == "2");
    CHECK(object.find("c") == nullptr);
    CHECK(plain("x").find("a") == nullptr);
}

TEST_CASE("the nearest word is at most a third of the word away") {
    const std::vector<std::string_view> keys = {"port", "address", "scheduleTime", "scheduleDelay", "path", "enabled"};
    struct Row { const char* word; const char* nearest; };
    const Row rows[] = {
        {"prot", "port"},           {"adress", "address"},  {"scheduletime", "scheduleTime"},
        {"schedulDelay", "scheduleDelay"}, {"Enabled", "enabled"}, {"enable", "enabled"},
        {"pathh", "path"},          {"colour", ""},         {"", ""}, {"xy", ""},
    };
    for (const Row& row : rows) {
        INFO(row.word);
        CHECK(nearest(row.word, keys) == row.nearest);
    }
    CHECK(nearest("port", {}) == "");
}
