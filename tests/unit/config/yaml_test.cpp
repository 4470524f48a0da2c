#include "config/yaml.hpp"

#include "support/catch.hpp"

using namespace weir;
using config::parseYaml;

namespace {

// The tree as JSON, or the error as an operator reads it.
std::string read(std::string_view yaml) {
    auto value = parseYaml(yaml, "weir.yaml");
    return value ? base::toJson(*value) : value.error().text();
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != text.npos; }

}  // namespace

TEST_CASE("YAML is read as written: scalars keep their text") {
    struct Row { const char* yaml; const char* json; };
    const Row rows[] = {
        {"", "null"},
        {"# only a comment\n\n", "null"},
        {"weir:\n  server: {address: 127.0.0.1, port: 9195}\n",
         R"({"weir":{"server":{"address":"127.0.0.1","port":9195}}})"},
        {"a: no\nb: on\nc: 010\nd: \"5\"\n", R"({"a":"no","b":"on","c":"010","d":"5"})"},
        {"a: ~\nb: null\nc:\nd: ''\ne: 'null'\n", R"({"a":"~","b":null,"c":null,"d":"","e":"null"})"},
        {"c:\nnull : 1\n", "weir.yaml:2:1: expected a key as text, got nothing; quote it if it is meant"},
        {"- a\n- [b, {c: d}]\n-\n", R"(["a",["b",{"c":"d"}],null])"},
        {"{a, b}", R"({"a":null,"b":null})"},
        {"a: !!str 5\nb: !!int 5\nc: ! 5\n", R"({"a":"5","b":5,"c":"5"})"},
        {"a: &x 1\nb: *x\nc: &y [2]\nd: *y\n", R"({"a":1,"b":1,"c":[2],"d":[2]})"},
        {"a: >\n  one\n  two\nb: |\n  x\n  y\n", R"({"a":"one two\n","b":"x\ny\n"})"},
        {"a: 1\n  2\n", R"({"a":"1 2"})"},
        {"a: 1", R"({"a":1})"},
        {"a:", R"({"a":null})"},
        {"a: ", R"({"a":null})"},
        {"? a", R"({"a":null})"},
    };
    for (const Row& row : rows) {
        INFO(row.yaml);
        CHECK(read(row.yaml) == row.json);
    }
}

TEST_CASE("comments, blanks and URLs around values mean what people expect") {
    struct Row { const char* yaml; const char* json; };
    const Row rows[] = {
        {"a: false   # off\n", R"({"a":false})"},
        {"a: false   \n", R"({"a":false})"},
        {"- http://127.0.0.1:2379   # a\n", R"(["http://127.0.0.1:2379"])"},
        {"path: /a#b\n", R"({"path":"/a#b"})"},
        {"path: \"/a #b\"   # c\n", R"({"path":"/a #b"})"},
        {"maxSize : 10\n", R"({"maxSize":10})"},
        {"{'a' : \"b\" , \"c\":1}", R"({"a":"b","c":1})"},
    };
    for (const Row& row : rows) {
        INFO(row.yaml);
        CHECK(read(row.yaml) == row.json);
    }
}

TEST_CASE("quoted and plain scalars can be told apart, and all values know their place") {
    auto value = parseYaml("a: \"1\"\nb: 1\nc: |\n  1\nlist:\n  - x\n  - y\nlast:\n", "f");
    REQUIRE(value);
    CHECK(value->find("a")->quoted());
    CHECK_FALSE(value->find("b")->quoted());
    CHECK(value->find("c")->quoted());
    CHECK(value->find("b")->mark().line == 2);
    CHECK(value->find("b")->mark().column == 4);
    CHECK(value->find("list")->items()[1].mark().line == 7);
    CHECK(value->find("list")->items()[1].mark().column == 5);
    CHECK(value->members()[3].keyMark.line == 5);
    CHECK(value->find("last")->mark().line == 8);
}

TEST_CASE("a BOM, CRLF and a missing last line end change nothing") {
    const std::string plain = "weir:\n  a: \"x\n    y\"\n  b: |\n    t\n    u\nc: 1\n";
    std::string crlf;
    for (char c : plain) crlf += c == '\n' ? "\r\n" : std::string(1, c);
    const std::string expected = read(plain);
    CHECK(expected == R"({"weir":{"a":"x y","b":"t\nu\n"},"c":1})");
    CHECK(read("\xEF\xBB\xBF" + plain) == expected);
    CHECK(read(crlf) == expected);
    CHECK(read("\xEF\xBB\xBF" + crlf) == expected);
    CHECK(read(plain.substr(0, plain.size() - 1)) == expected);
}

TEST_CASE("what is not UTF-8 text is refused with its place") {
    using namespace std::string_literals;
    struct Row { std::string yaml; const char* error; };
    const Row rows[] = {
        {"\xFF\xFE" "a\0:\0"s, "weir.yaml:1:1: the file is UTF-16; expected UTF-8"},
        {"\xFE\xFF\0a\0:"s, "weir.yaml:1:1: the file is UTF-16; expected UTF-8"},
        {"a\0:\0"s, "weir.yaml:1:2: a NUL byte; expected text in UTF-8"},
        {"a: 1\nb: caf\xE9\n", "weir.yaml:2:7: the byte 0xE9 is not UTF-8; expected a file in UTF-8"},
        {"a: \xC3\xA9\nb: \x80\n", "weir.yaml:2:4: the byte 0x80 is not UTF-8; expected a file in UTF-8"},
        {"a: 1\x04\nb: 2\n", "weir.yaml:1:5: a control character (4); expected text"},
        {"a: 1\rb: 2\n", "weir.yaml:1:5: a control character (13); expected text"},
    };
    for (const Row& row : rows) CHECK(read(row.yaml) == row.error);
}

TEST_CASE("a tab that indents is refused by name, a tab in a value is kept") {
    struct Row { const char* yaml; const char* place; };
    const Row refused[] = {
        {"server:\n\tport: 9195\n", "weir.yaml:2:1: a tab"},
        {"server:\n  \tport: 9195\n", "weir.yaml:2:3: a tab"},
        {"a:\n  - x\n\t- y\n", "weir.yaml:3:1: a tab"},
        {"a: b\n\tc\n", "weir.yaml:2:1: a tab"},
        {"a: {\n\tb: 1\n}\n", "weir.yaml:2:1: a tab"},
        {"a: |\n  x\n\ty\n", "weir.yaml:3:1: a tab"},
        {"a: 1\n\t# a comment\n", "weir.yaml:2:1: a tab"},
        {"a: \"x\ty\"\nb:\n\tc: 1\n", "weir.yaml:3:1: a tab"},
    };
    for (const Row& row : refused) {
        INFO(row.yaml);
        CHECK(has(read(row.yaml), row.place));
    }
    struct Kept { const char* yaml; const char* json; };
    const Kept kept[] = {
        {"a: b\tc\n", R"({"a":"b\tc"})"},
        {"a:\tb\n", R"({"a":"b"})"},
        {"a: \"x\n\ty\"\n", R"({"a":"x y"})"},
        {"a: 'it''s\n\tfine'\n", R"({"a":"it's fine"})"},
        {"a: |\n  \tx\n  y\nb: 1\n", R"({"a":"\tx\ny\n","b":1})"},
        {"a: &n |\n  x\n  \ty\n", R"({"a":"x\n\ty\n"})"},
        {"a:\n  b: 1\n\nc: 2  \t\n", R"({"a":{"b":1},"c":2})"},
        {"a: 1\t# c\n", R"({"a":1})"},
    };
    for (const Kept& row : kept) {
        INFO(row.yaml);
        CHECK(read(row.yaml) == row.json);
    }
}

TEST_CASE("a key twice in one map is refused naming both lines") {
    struct Row { const char* yaml; const char* error; };
    const Row rows[] = {
        {"shenyu:\n  a: 1\nb: 2\nshenyu:\n  c: 3\n",
         "weir.yaml:4:1: the key \"shenyu\" is there twice in one map, first at line 1, column 1"},
        {"weir:\n  server:\n    port: 1\n    address: x\n    port: 2\n",
         "weir.yaml:5:5: the key \"port\" is there twice in one map, first at line 3, column 5"},
        {"{port: 1, \"port\": 2}",
         "weir.yaml:1:11: the key \"port\" is there twice in one map, first at line 1, column 2"},
        {"a: {<<: {x: 1}, <<: {y: 2}}",
         "weir.yaml:1:17: the key \"<<\" is there twice in one map, first at line 1, column 5"},
    };
    for (const Row& row : rows) CHECK(read(row.yaml) == row.error);
}

TEST_CASE("<< merges maps, keys beside it win, keys merged twice are refused") {
    struct Row { const char* yaml; const char* result; };
    const Row rows[] = {
        {"base: &b {x: 1, y: 2}\nc:\n  <<: *b\n  y: 3\n", R"({"base":{"x":1,"y":2},"c":{"y":3,"x":1}})"},
        {"p: &p {x: 1}\nq: &q {y: 2}\nc:\n  <<: [*p, *q]\n", R"({"p":{"x":1},"q":{"y":2},"c":{"x":1,"y":2}})"},
        {"p: &p {x: 1}\nq: &q {<<: *p, y: 2}\nc: {<<: *q}\n",
         R"({"p":{"x":1},"q":{"y":2,"x":1},"c":{"y":2,"x":1}})"},
        {"c: {\"<<\": 1}", R"({"c":{"<<":1}})"},
        {"p: &p {x: 1}\nq: &q {x: 2}\nc:\n  <<: [*p, *q]\n",
         "weir.yaml:2:8: the key \"x\" is merged twice into one map, also from line 1, column 8"},
        {"p: &p {x: 1}\nq: &q {x: 2}\nc:\n  <<: [*p, *q]\n  x: 3\n", R"({"p":{"x":1},"q":{"x":2},"c":{"x":3}})"},
        {"c:\n  <<: 5\n", "weir.yaml:2:3: expected a map, or a list of maps, to merge with <<, got a number"},
        {"c:\n  <<: [{a: 1}, x]\n", "weir.yaml:2:3: expected a map, or a list of maps, to merge with <<, got a text"},
    };
    for (const Row& row : rows) {
        INFO(row.yaml);
        CHECK(read(row.yaml) == row.result);
    }
}

TEST_CASE("aliases cannot be used to fill the memory") {
    std::string laughs = "a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n";
    for (int i = 1; i < 10; ++i) {
        std::string before = "*a" + std::to_string(i - 1);
        std::string name = "a" + std::to_string(i);
        laughs += name + ": &" + name + " [" + before;
        for (int j = 1; j < 9; ++j) laughs += ", " + before;
        laughs += "]\n";
    }
    CHECK(has(read(laughs), "aliases expand to more than 16 MiB"));
    std::string large = "a: &a " + std::string(1 << 20, 'x') + "\nb: [";
    for (int i = 0; i < 20; ++i) large += "*a, ";
    CHECK(has(read(large + "]\n"), "aliases expand to more than 16 MiB"));
    CHECK(has(read("a: &x [*x]\n"), "weir.yaml:1:8: an alias inside the value of its own anchor"));
    CHECK(has(read("a: *no\n"), "weir.yaml:1:4: an alias to an anchor that is not defined before it"));
}

TEST_CASE("mistakes that YAML libraries let pass are refused") {
    struct Row { std::string yaml; const char* error; };
    const Row rows[] = {
        {"a: 1\n---\nb: 2\n", "weir.yaml:2:1: a second document"},
        {"- a\nb: c\n", "weir.yaml:2:1: a second document"},
        {"a: 1\nb\n", "weir.yaml:2:1: expected \":\" after \"b\""},
        {"a: \"x\nb: 3\n", "weir.yaml:1:4: the quote that opens here is never closed"},
        {"a: \"x\\\"\nb: 3\n", "weir.yaml:1:4: the quote that opens here is never closed"},
        {"a: 'x\nb: ''3\n", "weir.yaml:1:4: the quote that opens here is never closed"},
        {"a: 'x' y\n", "weir.yaml:1:8: text after the closing quote"},
        {"a: \"x\"y\n", "weir.yaml:1:7: text after the closing quote"},
        {"{a}: 1\n", "weir.yaml:1:1: expected a key as text, got a map"},
        {"key: {{x}}\n", "weir.yaml:1:7: expected a key as text, got a map"},
        {"? [a]\n: 1\n", "weir.yaml:1:3: expected a key as text, got a list"},
        {"~: 1\n", "weir.yaml:1:1: expected a key as text, got nothing"},
        {"a: &k x\n*k : 1\n", "weir.yaml:2:1: expected a key as text, got an alias"},
        {"a: !!binary aGk=\n", "weir.yaml:1:4: the tag \"tag:yaml.org,2002:binary\" is not taken here"},
        {"a: !env X\n", "weir.yaml:1:4: the tag \"!env\" is not taken here"},
        {"a: !!set {x}\n", "weir.yaml:1:4: the tag \"tag:yaml.org,2002:set\" is not taken here"},
        {std::string(65, '[') + std::string(65, ']'), "weir.yaml:1:65: nested deeper than 64 levels"},
        {std::string(100000, '['), "weir.yaml:1:"},
        {"a: b: c\n", "weir.yaml:1:5: a \":\" where no key can stand"},
        {"a: 1\n b: 2\n", "weir.yaml:2:3: a \":\" where no key can stand"},
        {"a: [1, 2\nb: 3\n", "weir.yaml:2:2: expected \",\" or \"]\""},
        {"a: {b: 1\n", "weir.yaml:2:1: expected \",\" or \"}\""},
        {"a: {b", "weir.yaml:1:6: expected \",\" or \"}\""},
        {"a: {b: ${P}}\n", "weir.yaml:1:9: \"${...}\" inside { } or [ ] needs quotes"},
        {"a:\n- [x, h:${P:1}]\n", "weir.yaml:2:10: \"${...}\" inside { } or [ ] needs quotes"},
        {"a: ]\n", "weir.yaml:1:4: a \"]\" or \"}\" that closes nothing"},
        {"a: @x\n", "weir.yaml:1:4: a value cannot begin with this character; quote it"},
        {"a: [1] x\n", "weir.yaml:1:"},
        {"a: {b: 1} c\n", "weir.yaml:1:"},
        {"a:\n  b: 1\n c: 2\n", "weir.yaml:3:"},
        {"[a] b\n", "weir.yaml:1:"},
        {"a: [b, c\n", "weir.yaml:2:1: expected"},
    };
    for (const Row& row : rows) {
        INFO(row.yaml.substr(0, 80));
        INFO(read(row.yaml));
        CHECK(read(row.yaml).starts_with(row.error));
    }
}

TEST_CASE("places are right behind characters of several bytes") {
    CHECK(read("\xC3\xA9: \"x\"\n\xE2\x82\xAC: \"y\" z\n") ==
          "weir.yaml:2:10: text after the closing quote; quote the whole value");
}
