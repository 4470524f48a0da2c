#include "match/path_pattern.hpp"

#include <string>

#include "support/catch.hpp"

namespace weir::match {

TEST_CASE("pathPattern on a uri follows the PathPattern rules") {
    struct Row {
        const char* pattern;
        const char* path;
        bool expected;
    };
    const Row rows[] = {
        {"/a", "/a", true},            {"/a", "/A", false},           {"/a", "/a/", false},
        {"/a/", "/a", false},          {"/a/", "/a/", true},          {"/a/b", "/a//b", false},
        {"/a//b", "/a//b", true},      {"/", "/", true},              {"/", "//", false},
        {"/a", "a", false},            {"/a", "", false},             {"/a", "*", false},
        // ? and *
        {"/a/b?", "/a/bc", true},      {"/a/b?", "/a/b", false},      {"/a/?", "/a/", false},
        {"/a/*", "/a/", true},         {"/a/*", "/a", false},         {"/a/*", "/a/b", true},
        {"/a/*", "/a/b/", false},      {"/a/*", "/a/b/c", false},     {"/a/*", "/a//", false},
        {"/a/*/c", "/a/b/c", true},    {"/a/*/c", "/a//c", false},    {"/a/*/c", "/a/c", false},
        {"/a/*/", "/a/b/", true},      {"/a/*/", "/a//", false},      {"/a/x*", "/a/x", true},
        {"/a/*.js", "/a/y.js", true},  {"/a/*.js", "/a/.js", true},   {"/a**", "/abc", true},
        {"/a**", "/a/b", false},
        // Open ends
        {"/a/**", "/a", true},         {"/a/**", "/a/", true},        {"/a/**", "/a/b/c", true},
        {"/a/**", "/ab", false},       {"/**", "/", true},            {"/**", "/a/b", true},
        {"/a/{*rest}", "/a", true},    {"/a/{*rest}", "/a/b/c", true}, {"/a/{*rest}", "/ab", false},
        {"/a/*/**", "/a/", false},     {"/a/*/**", "/a/b", true},
        // Variables
        {"/a/{x}", "/a/b", true},      {"/a/{x}", "/a/", false},      {"/a/{x}", "/a", false},
        {"/a/{x}", "/a/b/", false},    {"/{a}-{b}", "/1-2", true},    {"/{a}-{b}", "/12", false},
        {"/a/b{x}", "/a/b", true},     {"/a/{x}{y}", "/a/", false},   {"/a/{x:[0-9]+}", "/a/12", true},
        {"/a/{x:[0-9]+}", "/a/1b", false}, {"/a/{x:[0-9]{2}}/c", "/a/12/c", true}, {"/a/{x:.*}", "/a/", false},
        {"/a/{x-y}", "/a/b", true},
        // Decoding and parameters
        {"/a b", "/a%20b", true},      {"/a b", "/a+b", false},       {"/a%20b", "/a%20b", false},
        {"/a/b", "/a;v=1/b;w", true},  {"/a/*", "/a/;v", true},       {"/a/{x}", "/a/;v", false},
        {"/a/*", "/a/b%2Fc", true},    {"/a/?", "/a/%C3%A9", true},   {"/a/b", "/a%2Fb", false},
        {"/a/{x:[0-9]+}", "/a/%31%32", true},
        // Case B17: an encoded slash is no part of what a variable stands for
        {"/sup/view/{id}", "/sup/view/50", true}, {"/sup/view/{id}", "/sup/view/", false},
        {"/sup/view/{id}", "/sup/view/50/x", false}, {"/sup/view/{id}", "/sup/view/%2F", false},
        {"/v/a{x:.*}", "/v/ab%2fc", false}, {"/v/{x}", "/v/a;p=%2F", true}, {"/v/{x}", "/v/a%2", true},
        // Case B13
        {"/http/test/**", "/http/shenyu/hi", false}, {"/a/b", "/a/b/", false}, {"/{v}/u", "/1/u", true},
    };
    for (const auto& row : rows) {
        CAPTURE(row.pattern, row.path);
        auto compiled = PathPattern::compile(row.pattern);
        REQUIRE(compiled.ok());
        CHECK(compiled->matches(row.path) == row.expected);
    }
}

TEST_CASE("A pathPattern that Spring would refuse is refused with its position") {
    struct Row {
        const char* pattern;
        const char* message;
    };
    const Row rows[] = {
        {"/api/**/x", "position 6: '**' is only allowed as the last segment"},
        {"/**/x", "position 2: '**' is only allowed as the last segment"},
        {"/a/**/", "position 4: '**' is only allowed as the last segment"},
        {"a/b", "position 1: a pathPattern must begin with '/'"},
        {"", "position 1: a pathPattern must begin with '/'"},
        {"/a/{x", "position 4: '{' is not closed within its segment"},
        {"/a/{x/y}", "position 4: '{' is not closed within its segment"},
        {"/a/x}", "position 5: '}' without '{'"},
        {"/a/{}", "position 5: expected a variable name"},
        {"/a/{1x}", "position 5: expected a variable name"},
        {"/{x}/{y}{x}", "position 10: variable 'x' is already in the pattern"},
        {"/a/{x:}", "position 7: expected an expression"},
        {"/a/{*x}/b", "position 4: '{*name}' must be the whole last segment"},
        {"/a/b{*x}", "position 5: '{*name}' must be the whole last segment"},
        {"/a/{x:(b)}", "position 4: the expression of a variable may not have capture groups"},
        {"/a/{x:(?!b)}", "position 7: not a regular expression of the RE2 syntax"},
    };
    for (const auto& row : rows) {
        CAPTURE(row.pattern);
        auto compiled = PathPattern::compile(row.pattern);
        REQUIRE_FALSE(compiled.ok());
        CHECK(compiled.error().code == base::ErrorCode::InvalidConfig);
        CHECK_THAT(compiled.error().message, Catch::Matchers::StartsWith(row.message));
    }
}

TEST_CASE("A pathPattern compares encoded segments longer than the inline buffer") {
    std::string encoded = "/";
    std::string plain = "/";
    for (int i = 0; i < 1000; ++i) {
        encoded += "%61";
        plain += 'a';
    }
    CHECK(PathPattern::compile(plain)->matches(encoded));
    CHECK_FALSE(PathPattern::compile(plain)->matches(encoded + "b"));
}

}  // namespace weir::match
