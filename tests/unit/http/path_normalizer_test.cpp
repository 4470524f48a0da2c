#include "http/path_normalizer.hpp"

#include <string>

#include "support/catch.hpp"

using namespace weir::http;
using namespace std::string_literals;

namespace {

// "path?query" after the policy, or "400".
std::string normalized(std::string_view target, const PathPolicy& policy = {}) {
    weir::base::ChunkPool pool;
    void* chunk = pool.take();
    std::string result;
    {
        weir::base::Arena arena(pool, chunk, 0);
        RequestHead head(arena);
        head.target = target;
        const std::size_t mark = target.find('?');
        head.path = target.substr(0, mark);
        if (mark != std::string_view::npos) head.query = target.substr(mark + 1);
        if (const ParseError error = normalizePath(head, arena, policy)) {
            result = std::to_string(error.status);
        } else {
            result = head.target;
            std::string parts(head.path);
            if (head.query.data()) parts += "?" + std::string(head.query);
            CHECK(parts == result);
        }
    }
    pool.give(chunk);
    return result;
}

}  // namespace

TEST_CASE("dot segments are resolved as RFC 3986 5.2.4 says, however they are spelt") {
    struct Row {
        const char* target;
        const char* result;
    };
    const Row rows[] = {
        {"/a/b/../c", "/a/c"},       {"/a/./b", "/a/b"},          {"/a/b/..", "/a/"},
        {"/a/b/.", "/a/b/"},         {"/./a", "/a"},              {"/a/%2e%2E/b", "/b"},
        {"/a/.%2e/b?x=/../y", "/b?x=/../y"},                      {"/a/%2e/b?", "/a/b?"},
        {"/a/...", "/a/..."},        {"/a/.b", "/a/.b"},          {"/a/b..", "/a/b.."},
        {"/a/..b/c", "/a/..b/c"},    {"/..", "400"},              {"/a/../..", "400"},
        {"/%2e%2e/a", "400"},        {"/a/..;x/b", "/a/..;x/b"},  {"/", "/"},
        {"/a", "/a"},                {"*", "*"},                  {"/a%2fb", "/a%2fb"},
        {"/a//../b", "/a/b"},        {"/.", "/"},                 {"/a/%2e%2e%2e", "/a/%2e%2e%2e"},
        {"/a%", "/a%"},              {"/a%2", "/a%2"},            {"/a/%2", "/a/%2"},
    };
    for (const Row& row : rows) {
        INFO(row.target);
        CHECK(normalized(row.target) == row.result);
    }
}

TEST_CASE("what a path is refused for is found at any place of a path of any length") {
    const PathPolicy strict{PathPolicy::Dots::Reject, PathPolicy::Slashes::Reject};
    for (std::size_t size = 2; size < 50; ++size) {
        for (std::size_t at = 1; at < size; ++at) {
            const auto with = [&](const char* what) {
                return "/" + std::string(at, 'a') + what + std::string(size - at, 'b');
            };
            INFO(with("/../"));
            CHECK(normalized(with("/../"), strict) == "400");
            CHECK(normalized(with("/%2e%2E/"), strict) == "400");
            CHECK(normalized(with("//"), strict) == "400");
            CHECK(normalized(with("/."), strict) == with("/."));
        }
    }
}

TEST_CASE("each kind of spelling has a policy of its own") {
    using P = PathPolicy;
    struct Row {
        PathPolicy policy;
        const char* target;
        const char* result;
    };
    const Row rows[] = {
        {{P::Dots::Keep}, "/a/../b", "/a/../b"},
        {{P::Dots::Reject}, "/a/../b", "400"},
        {{P::Dots::Reject}, "/a/%2e", "400"},
        {{P::Dots::Reject}, "/a/...", "/a/..."},
        {{P::Dots::Resolve, P::Slashes::Keep}, "//a//b/", "//a//b/"},
        {{P::Dots::Resolve, P::Slashes::Merge}, "//a///b//?c=//", "/a/b/?c=//"},
        {{P::Dots::Resolve, P::Slashes::Merge}, "//", "/"},
        {{P::Dots::Resolve, P::Slashes::Reject}, "/a//b", "400"},
        {{P::Dots::Resolve, P::Slashes::Reject}, "/a/b/", "/a/b/"},
        {{P::Dots::Resolve, P::Slashes::Keep, P::Encoded::Decode}, "/a%2Fb%5cc", "/a/b\\c"},
        {{P::Dots::Resolve, P::Slashes::Keep, P::Encoded::Decode}, "/a/x%2f..%2fb", "/a/b"},
        {{P::Dots::Resolve, P::Slashes::Merge, P::Encoded::Decode}, "/a%2F/b", "/a/b"},
        {{P::Dots::Resolve, P::Slashes::Keep, P::Encoded::Reject}, "/a%2Fb", "400"},
        {{P::Dots::Resolve, P::Slashes::Keep, P::Encoded::Reject}, "/a%5Cb", "400"},
        {{P::Dots::Resolve, P::Slashes::Keep, P::Encoded::Reject}, "/a%20b", "/a%20b"},
    };
    for (const Row& row : rows) {
        INFO(row.target);
        CHECK(normalized(row.target, row.policy) == row.result);
    }
}
