#include "base/json_path.hpp"

#include <string>

#include "base/json_edit.hpp"
#include "support/catch.hpp"

using namespace weir::base;

namespace {

// What of `json` is left when everything that `path` leads to is gone.
std::string without(const std::string& path, std::string_view json) {
    JsonEdits edits;
    const auto appended = edits.append({JsonEdit::Kind::Remove, path, {}, {}});
    if (!appended.ok()) return appended.error().message;
    std::string out;
    return edits.apply(json, out) ? out : "(not JSON)";
}

}  // namespace

TEST_CASE("a JSON path leads to names, indexes and everything below") {
    struct Row { const char* path; const char* json; const char* left; };
    const Row rows[] = {
        {"$.a", R"({"a":1,"b":2})", R"({"b":2})"},
        {"a", R"({"a":1,"b":2})", R"({"b":2})"},
        {"a.b", R"({"a":{"b":1,"c":2},"b":3})", R"({"a":{"c":2},"b":3})"},
        {"a[0].b", R"({"a":[{"b":1},{"b":2}]})", R"({"a":[{},{"b":2}]})"},
        {"$['a'].b", R"({"a":{"b":1}})", R"({"a":{}})"},
        {"$[\"a\"]", R"({"a":1})", "{}"},
        {"$[ 'a' , 'c' ]", R"({"a":1,"b":2,"c":3})", R"({"b":2})"},
        {"$['a.b']", R"({"a.b":1,"a":{"b":2}})", R"({"a":{"b":2}})"},
        {"$['it\\'s']", R"({"it's":1})", "{}"},
        {"$['\\u00e4\\n']", R"({"\u00E4\n":1,"a":2})", R"({"a":2})"},
        {"$.\xC3\xA4", R"({"\u00e4":1,"\\u00e4":2})", R"({"\\u00e4":2})"},
        {"$['']", R"({"":1,"a":2})", R"({"a":2})"},
        {"$.x-y", R"({"x-y":1})", "{}"},
        {"$.@type", R"({"@type":1})", "{}"},
        {"$.1", R"({"1":1})", "{}"},
        {"$[0]", "[1,2,3]", "[2,3]"},
        {"$.[0]", "[1,2,3]", "[2,3]"},
        {"[0]", "[1,2,3]", "[2,3]"},
        {"$[-1]", "[1,2,3]", "[1,2]"},
        {"$[-4]", "[1,2,3]", "[1,2,3]"},
        {"$[3]", "[1,2,3]", "[1,2,3]"},
        {"$[0,-1,2]", "[1,2,3]", "[2]"},
        {"$[*]", "[1,2]", "[]"},
        {"$.*", R"({"a":1,"b":[2]})", "{}"},
        {"$.*.a", R"({"x":{"a":1},"y":{"a":2,"b":3},"z":4})", R"({"x":{},"y":{"b":3},"z":4})"},
        {"$[*]['a']", R"([{"a":1},{"b":2},[{"a":3}]])", R"([{},{"b":2},[{"a":3}]])"},
        {"$..a", R"({"a":1,"b":{"a":2,"c":[{"a":3,"d":4}]}})", R"({"b":{"c":[{"d":4}]}})"},
        {"$..['a','d']", R"({"a":1,"b":{"c":[{"a":3,"d":4}]}})", R"({"b":{"c":[{}]}})"},
        {"$..[0]", "[[1,2],[3]]", "[[]]"},
        {"$..*", R"({"a":{"b":1}})", "{}"},
        {"$..a..b", R"({"a":{"a":{"b":1,"c":2},"b":3},"b":4})", R"({"a":{"a":{"c":2}},"b":4})"},
        {"$..a.b", R"({"a":{"a":{"b":1},"b":3},"b":4})", R"({"a":{"a":{}},"b":4})"},
        // Nothing is there.
        {"$.b", R"({"a":1})", R"({"a":1})"},
        {"$.a.b", R"({"a":1})", R"({"a":1})"},
        {"$.a", "[1]", "[1]"},
        {"$[0]", R"({"0":1})", R"({"0":1})"},
        {"$.A", R"({"a":1})", R"({"a":1})"},
        {"$.a", "7", "7"},
        // Two of a name: a reader takes the last, and none may be left.
        {"$.a", R"({"a":1,"b":2,"a":3})", R"({"b":2})"},
        {"$.a", R"({"a":1,"\u0061":3})", "{}"},
    };
    for (const Row& row : rows) {
        INFO(row.path << " in " << row.json);
        CHECK(without(row.path, row.json) == row.left);
    }
}

TEST_CASE("what is no JSON path is refused with the position and what was expected") {
    struct Row { std::string path; const char* error; };
    const Row rows[] = {
        {"", "position 1: expected a path like $.name, found the end: "},
        {"@.a", "position 1: expected $ or a name, found \"@\": @.a"},
        {"$a", "position 2: expected \".\", \"[\" or the end, found \"a\": $a"},
        {"$.", "position 3: expected a name or *, found the end: $."},
        {"$.a.", "position 5: expected a name or *, found the end: $.a."},
        {"$...a", "position 4: expected a name or *, found \".\": $...a"},
        {"$.a b",
         "position 4: expected \".\", \"[\" or the end behind a name (another name is written ['...']), found \" \": $.a b"},
        {"$.length()",
         "position 9: expected \".\", \"[\" or the end behind a name (another name is written ['...']), found \"(\": "
         "$.length()"},
        {"$[", "position 3: expected a quoted name, an index or * (filters and slices are not supported), found the end: $["},
        {"$[]",
         "position 3: expected a quoted name, an index or * (filters and slices are not supported), found \"]\": $[]"},
        {"$[?(@.a)]",
         "position 3: expected a quoted name, an index or * (filters and slices are not supported), found \"?\": "
         "$[?(@.a)]"},
        {"$[a]",
         "position 3: expected a quoted name, an index or * (filters and slices are not supported), found \"a\": $[a]"},
        {"$[99999999999999999999]",
         "position 3: expected a quoted name, an index or * (filters and slices are not supported), found \"9\": "
         "$[99999999999999999999]"},
        {"$[1:2]", "position 4: expected \",\" or \"]\" (slices are not supported), found \":\": $[1:2]"},
        {"$[1", "position 4: expected \",\" or \"]\", found the end: $[1"},
        {"$['a]", "position 6: expected the closing ', found the end: $['a]"},
        {"$['\\q']", "position 4: expected an escape of JSON, found \"\\\\\": $['\\q']"},
        {"$['\\ud800']", "position 4: expected an escape of JSON, found \"\\\\\": $['\\ud800']"},
        {"$.a\xFF", "position 4: expected a name in UTF-8, found \"\xEF\xBF\xBD\": $.a\xFF"},
        {"$['\xFF']", "position 4: expected a name in UTF-8, found \"\xEF\xBF\xBD\": $['\xFF']"},
    };
    for (const Row& row : rows) CHECK(without(row.path, "{}") == row.error);
}
