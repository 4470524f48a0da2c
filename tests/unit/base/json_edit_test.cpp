#include "base/json_edit.hpp"

#include <chrono>
#include <string>
#include <vector>

#include "support/catch.hpp"

using namespace weir::base;
using Kind = JsonEdit::Kind;

namespace {

std::string edited(const std::vector<JsonEdit>& list, std::string_view json) {
    JsonEdits edits;
    for (const JsonEdit& edit : list) REQUIRE(edits.append(edit).ok());
    std::string out;
    return edits.apply(json, out) ? out : "(not JSON)";
}

std::string nested(int depth) { return std::string(depth, '[') + std::string(depth, ']'); }

}  // namespace

TEST_CASE("JSON edits add, rename and remove as Jayway's JsonPath does") {
    struct Row { JsonEdit edit; const char* json; const char* made; };
    const Row rows[] = {
        {{Kind::Add, "$", "k", "v"}, "{}", R"({"k":"v"})"},
        {{Kind::Add, "$", "k", "v"}, R"({"a":1})", R"({"a":1,"k":"v"})"},
        {{Kind::Add, "$", "k", "v"}, R"({"k":[1,2],"a":1})", R"({"k":"v","a":1})"},
        {{Kind::Add, "$", "k", "v"}, R"({"k":1,"a":1,"\u006b":2})", R"({"a":1,"\u006b":"v"})"},
        {{Kind::Add, "$.a", "k", "7"}, R"({"a":{"b":1}})", R"({"a":{"b":1,"k":"7"}})"},
        {{Kind::Add, "$.a.*", "k", "v"}, R"({"a":{"x":{},"y":[],"z":1}})", R"({"a":{"x":{"k":"v"},"y":[],"z":1}})"},
        {{Kind::Add, "$..a", "k", "v"}, R"({"a":{"a":{}}})", R"({"a":{"a":{"k":"v"},"k":"v"}})"},
        {{Kind::Add, "$[*]", "k", "v"}, "[{},{},3]", R"([{"k":"v"},{"k":"v"},3])"},
        {{Kind::Add, "$", "a\"b", "x\ny\xC3\xA4\xFF"}, "{}", "{\"a\\\"b\":\"x\\ny\xC3\xA4\xEF\xBF\xBD\"}"},
        {{Kind::Add, "$.missing", "k", "v"}, R"({"a":1})", R"({"a":1})"},
        {{Kind::Add, "$", "k", "v"}, "[]", "[]"},
        {{Kind::Add, "$", "k", "v"}, "\"text\"", "\"text\""},
        {{Kind::AddList, "$", "k", "v"}, R"({"k":"old","a":1})", R"({"k":["v"],"a":1})"},
        {{Kind::AddList, "$", "k", ""}, "{}", R"({"k":[""]})"},

        {{Kind::Rename, "$", "a", "b"}, R"({"a":{"x":[1.0]},"c":2})", R"({"c":2,"b":{"x":[1.0]}})"},
        {{Kind::Rename, "$", "a", "b"}, R"({"b":1,"c":2,"a":3})", R"({"c":2,"b":3})"},
        {{Kind::Rename, "$", "a", "b"}, R"({"a":1,"c":2,"a":3})", R"({"c":2,"b":3})"},
        {{Kind::Rename, "$", "a", "a"}, R"({"a":1,"b":2})", R"({"a":1,"b":2})"},
        {{Kind::Rename, "$", "x", "b"}, R"({"a":1})", R"({"a":1})"},
        {{Kind::Rename, "$", "x", "a"}, R"({"a":1})", R"({"a":1})"},
        {{Kind::Rename, "$", "a", "b"}, R"({"a":1})", R"({"b":1})"},
        {{Kind::Rename, "$..*", "a", "b"}, R"({"o":{"a":{"a":{}}}})", R"({"o":{"b":{"b":{}}}})"},
        {{Kind::Rename, "$", "0", "b"}, "[1]", "[1]"},

        {{Kind::Remove, "$.a.b", "", ""}, R"({"a":{"b":1,"c":2}})", R"({"a":{"c":2}})"},
        {{Kind::Remove, "$.a[0]", "", ""}, R"({"a":[1,2]})", R"({"a":[2]})"},
    };
    for (const Row& row : rows) {
        INFO(row.edit.path << " " << row.edit.key << " in " << row.json);
        CHECK(edited({row.edit}, row.json) == row.made);
    }
}

TEST_CASE("JSON edits are made one after the other") {
    CHECK(edited({{Kind::Add, "$", "a", "1"}, {Kind::Rename, "$", "a", "b"}, {Kind::Remove, "$.b", "", ""}}, "{}") ==
          "{}");
    CHECK(edited({{Kind::Rename, "$", "a", "b"}, {Kind::Add, "$.b", "k", "v"}, {Kind::Add, "$", "z", ""}},
                 R"({"a":{},"c":1})") == R"({"c":1,"b":{"k":"v"},"z":""})");
    CHECK(edited({{Kind::AddList, "$", "a", "1"}, {Kind::Remove, "$.a[0]", "", ""}}, "{}") == R"({"a":[]})");
    CHECK(edited({{Kind::Add, "$", "a", "1"}, {Kind::Rename, "$", "b", "c"}, {Kind::Add, "$", "d", "2"}},
                 R"({"b":1})") == R"({"a":"1","c":1,"d":"2"})");
    CHECK(edited({}, " [ 1 , 2 ] ") == "[1,2]");
}

TEST_CASE("what JSON edits do not touch stays as it was spelled") {
    const char* spelled[] = {
        "-0.0",
        "1E400",
        "12345678901234567890123.10",
        R"("\u00e4\/\ud83d\ude00")",
        R"("half \ud83d")",
        "\"\xF0\x9F\x98\x80\x7F\"",
        R"([true,false,null,{"\u0062":{},"c":[]}])",
        R"({"twice":1,"twice":2})",
    };
    for (const std::string text : spelled) {
        CHECK(edited({{Kind::Add, "$", "k", "v"}}, R"({"a":)" + text + "}") == R"({"a":)" + text + R"(,"k":"v"})");
    }
    CHECK(edited({{Kind::Remove, "$.a", "", ""}}, "\t{ \"a\" : 1 ,\r\n \"b\" : [ 1 , { } ] } ") == R"({"b":[1,{}]})");
}

TEST_CASE("what is not JSON is not edited") {
    const std::string texts[] = {
        "",        " ",       "{",         "[1",      "[1,]",       "{\"a\"}",     "{\"a\":}",  "{a:1}",  "{'a':1}",
        "01",      "1.",      "+1",        "nul",     "nulll",      "\"a",         "\"\\x\"",   "\"\\u12\"", "\"\n\"",
        "\"\xFF\"", "1 2",     "{}x",       "[1 2]",   "{\"a\":1,}", "{\"a\" 1}",   "\xEF\xBB\xBF{}", "]", "<a/>",
        nested(65), std::string(100000, '['), std::string("[\0]", 3),
    };
    for (const std::string& text : texts) {
        INFO(text.substr(0, 40));
        CHECK(edited({{Kind::Add, "$", "k", "v"}}, text) == "(not JSON)");
    }
    CHECK(edited({}, nested(64)) == nested(64));
}

TEST_CASE("the whole of a body can not be removed") {
    JsonEdits edits;
    const auto appended = edits.append({Kind::Remove, "$", {}, {}});
    REQUIRE_FALSE(appended.ok());
    CHECK(appended.error().message == "expected a path within the body, found $, which is all of it");
    CHECK(edits.empty());
}

TEST_CASE("nested paths cost time in proportion to the text") {
    // Each of the 60 levels is below all of those above: naive descent would go 60^6 / 6! ways in each of 200.
    std::string branch = "1";
    for (int i = 0; i < 60; ++i) branch = R"({"a":)" + branch + "}";
    std::string json = "[" + branch;
    for (int i = 1; i < 200; ++i) json += "," + branch;
    json += "]";
    const auto before = std::chrono::steady_clock::now();
    CHECK(edited({{Kind::Add, "$..a..a..a..a..a..a", "k", "v"}}, json).size() > json.size());
    CHECK(std::chrono::steady_clock::now() - before < std::chrono::seconds(5));
}
