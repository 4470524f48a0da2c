#include "match/ant_pattern.hpp"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "support/catch.hpp"

namespace weir::match {
namespace {

bool matches(std::string_view pattern, std::string_view path) {
    auto compiled = AntPattern::compile(pattern);
    REQUIRE(compiled.ok());
    return compiled->matches(path);
}

// The definition, as slow as it likes to be.
bool referenceSegment(std::string_view pattern, std::string_view text) {
    if (pattern.empty()) return text.empty();
    if (pattern[0] == '*' || pattern[0] == '{') {
        const auto rest = pattern.substr(pattern[0] == '*' ? 1 : pattern.find('}') + 1);
        for (std::size_t n = 0; n <= text.size(); ++n) {
            if (referenceSegment(rest, text.substr(n))) return true;
        }
        return false;
    }
    return !text.empty() && (pattern[0] == '?' || pattern[0] == text[0]) &&
           referenceSegment(pattern.substr(1), text.substr(1));
}

using Tokens = std::vector<std::string_view>;

Tokens tokens(std::string_view path) {
    Tokens result;
    while (!path.empty()) {
        const auto token = path.substr(0, path.find('/'));
        if (!token.empty()) result.push_back(token);
        path.remove_prefix(std::min(path.size(), token.size() + 1));
    }
    return result;
}

bool referenceTokens(const Tokens& pattern, std::size_t p, const Tokens& path, std::size_t t) {
    if (p == pattern.size()) return t == path.size();
    if (pattern[p] == "**") {
        return referenceTokens(pattern, p + 1, path, t) ||
               (t < path.size() && referenceTokens(pattern, p, path, t + 1));
    }
    return t < path.size() && referenceSegment(pattern[p], path[t]) && referenceTokens(pattern, p + 1, path, t + 1);
}

bool reference(std::string_view pattern, std::string_view path) {
    if (pattern.starts_with('/') != path.starts_with('/')) return false;
    Tokens parts = tokens(pattern);
    const Tokens segments = tokens(path);
    const bool found = referenceTokens(parts, 0, segments, 0);
    if (std::find(parts.begin(), parts.end(), "**") != parts.end()) return found;
    if (found) return pattern.ends_with('/') == path.ends_with('/');
    if (parts.empty() || parts.back() != "*" || !path.ends_with('/')) return false;
    parts.pop_back();
    return referenceTokens(parts, 0, segments, 0);
}

}  // namespace

TEST_CASE("match on a uri follows the Ant rules") {
    struct Row {
        const char* pattern;
        const char* path;
        bool expected;
    };
    const Row rows[] = {
        // Fact sheet 3.5, every row of its tables.
        {"/a", "/a", true},           {"/a", "/a/", false},         {"/a", "//a", true},
        {"/a", "/A", false},          {"/a/", "/a", false},         {"/a/", "/a/", true},
        {"/a/*", "/a", false},        {"/a/*", "/a/", true},        {"/a/*", "/a/b", true},
        {"/a/*", "/a/b/", false},     {"/a/*", "/a/b/c", false},    {"/a/**", "/a", true},
        {"/a/**", "/a/", true},       {"/a/**", "/a/b/", true},     {"/a/**", "/a/b/c", true},
        {"/a/**", "/ab", false},      {"/a/**/c", "/a/c", true},    {"/a/**/c", "/a/b/d/c", true},
        {"/a/**/c", "/a/b/d/c/", true}, {"/a/**/", "/a/b", true},   {"/a/**/", "/a/b/", true},
        {"/a/b?", "/a/bc", true},     {"/a/b?", "/a/b", false},     {"/*", "/", true},
        {"/**", "/", true},           {"/**", "", false},           {"/**/x", "/x", true},
        {"/a**", "/abc", true},       {"/a**", "/a/b", false},      {"a", "/a", false},
        {"/a/b{x}", "/a/b", true},    {"/a/{x}", "/a/", false},     {"/a/{x}", "/a/b", true},
        {"/{a}-{b}", "/1-2", true},   {"/{a}-{b}", "/12", false},   {"/x*.js", "/xy.js", true},
        {"/x*.js", "/x.js", true},    {"/x*.js", "/xy.jsx", false}, {"/a b", "/a%20b", false},
        {"/a b", "/a b", true},       {"//a//b", "/a/b", true},     {"/a/b", "/a//b", true},
        {"/a/{x:[0-9]+}", "/a/12", true}, {"/a/{x:[0-9]+}", "/a/1b", false},
        {"/a/v{x:[0-9]{1,2}}.js", "/a/v12.js", true}, {"/a/v{x:[0-9]{1,2}}.js", "/a/v123.js", false},
        // Several `**`, and what a greedy search could get wrong.
        {"/**/b/**/c", "/a/b/x/y/c", true}, {"/**/b/**/c", "/a/x/c", false}, {"/**/a/b/**", "/a/a/b", true},
        {"/**/**", "/", true},        {"/a/**/b/c/**/b/d", "/a/b/c/b/d", true}, {"/a/**/b/**/b", "/a/b", false},
        {"/a/**/*", "/a/", false},    {"/?", "/\xC3\xA9", true},    {"/*?", "/\xC3\xA9", true},
        // Case B13.
        {"/api/**/x", "/api/a/b/x", true}, {"/http/test/**", "/http/shenyu/hi", false}, {"/a/b", "/a/b/", false},
        {"/{v}/u", "/1/u", true},
        // Case B17: an encoded slash is no part of what a variable stands for
        {"/sup/view/{id}", "/sup/view/50", true}, {"/sup/view/{id}", "/sup/view/", false},
        {"/sup/view/{id}", "/sup/view/50/x", false}, {"/sup/view/{id}", "/sup/view/%2F", false},
        {"/**/{x}/a", "/b/c%2fd/a", false}, {"/v/*", "/v/a%2Fb", true},
        // Braces that name nothing are text.
        {"/{}", "/{}", true},         {"/a{", "/a{", true},         {"/a}", "/a}", true},
    };
    for (const auto& row : rows) {
        CAPTURE(row.pattern, row.path);
        CHECK(matches(row.pattern, row.path) == row.expected);
    }
}

TEST_CASE("match agrees with the naive definition on all short patterns and paths") {
    const auto all = [](std::string_view alphabet) {
        std::vector<std::string> texts{"/"};
        for (std::size_t from = 0, length = 1; length < 6; ++length) {
            const std::size_t to = texts.size();
            for (; from < to; ++from) {
                for (const char c : alphabet) texts.push_back(texts[from] + c);
            }
        }
        return texts;
    };
    const auto paths = all("/ab");
    int wrong = 0;
    for (const auto& pattern : all("/a*?")) {
        auto compiled = AntPattern::compile(pattern);
        REQUIRE(compiled.ok());
        for (const auto& path : paths) {
            if (compiled->matches(path) == reference(pattern, path)) continue;
            UNSCOPED_INFO(pattern << " on " << path << " should be " << reference(pattern, path));
            ++wrong;
        }
    }
    CHECK(wrong == 0);
}

TEST_CASE("match agrees with the naive definition on long random patterns and paths") {
    std::mt19937 random(20240601);
    const auto build = [&random](const std::vector<std::string>& pieces) {
        std::string text = "/";
        for (auto left = random() % 14; left > 0; --left) text += pieces[random() % pieces.size()];
        return text;
    };
    int wrong = 0;
    int matched = 0;
    for (int round = 0; round < 50000; ++round) {
        const auto pattern = build({"/", "/", "a", "b", "*", "/**/", "/*/", "?", "{x}", "/a/"});
        const auto path = build({"/", "a", "b", "ab", "/a/", "/b"});
        matched += matches(pattern, path);
        if (matches(pattern, path) == reference(pattern, path)) continue;
        UNSCOPED_INFO(pattern << " on " << path << " should be " << reference(pattern, path));
        ++wrong;
    }
    CHECK(wrong == 0);
    CHECK(matched > 1000);  // the generator makes both outcomes
}

TEST_CASE("match takes a question mark between two stars for one character, of UTF-8 or not") {
    struct Row {
        const char* pattern;
        const char* path;
        bool matches;
    };
    const Row rows[] = {
        {"/*a?b*", "/a-b", true},         {"/*a?b*", "/ab", false},          {"/*a?b*", "/xa.b.aab", true},
        {"/*a?b*", "/a\xc3\xa4" "b", true}, {"/*a??b*", "/a\xc3\xa4" "b", false}, {"/*a?b*", "/a\xff" "b", true},
        {"/*a?b*", "/\xff" "a-b\xff", true}, {"/*.?*", "/.", false},           {"/*?{x}", "/a", true},
        {"/*a?b*c", "/a-bc", true},       {"/*a?b*c", "/a-b", false},        {"/?*a?*b", "/xaxb", true},
        {"/*?", "/\xc3\xa4", true},       {"/*??", "/\xc3\xa4", false},      {"/?*", "/\xc3\xa4", true},
    };
    for (const auto& row : rows) {
        CAPTURE(row.pattern, row.path);
        CHECK(matches(row.pattern, row.path) == row.matches);
    }
}

TEST_CASE("match does not take exponential time on hostile paths") {
    std::string pattern;
    std::string path;
    for (int i = 0; i < 40; ++i) pattern += "/**/*a*a*a*/*b";
    for (int i = 0; i < 500; ++i) path += "/aaaaaaaa/aaaaaaab";
    CHECK(matches(pattern + "/**", path));
    CHECK_FALSE(matches(pattern + "/**/c", path));
    CHECK_FALSE(matches(pattern + "/**/c/**", path));
    CHECK_FALSE(matches("/" + std::string(40, '*') + "a*a*a*a*b", "/" + std::string(4000, 'a')));
}

TEST_CASE("match refuses a bad expression in a variable, and what takes too long, with its position") {
    struct Row {
        const char* pattern;
        const char* message;
    };
    const Row rows[] = {
        {"/a/{x:(}", "position 7: not a regular expression"},
        {"/a/{x:a(?=b)}", "position 8: not a regular expression"},
        {"/**/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/**", "position 39: more than 16 segments between two '**'"},
    };
    for (const auto& row : rows) {
        CAPTURE(row.pattern);
        auto compiled = AntPattern::compile(row.pattern);
        REQUIRE_FALSE(compiled.ok());
        CHECK_THAT(compiled.error().message, Catch::Matchers::StartsWith(row.message));
    }
}

}  // namespace weir::match
