// Input: a request target; bytes that no target has are left out. Every policy is tried.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/assert.hpp"
#include "http/path_normalizer.hpp"

namespace {

using namespace weir;
using Policy = http::PathPolicy;

// What becomes of a target; nothing when it is refused.
std::optional<std::string> normalized(std::string_view target, const Policy& policy) {
    base::ChunkPool pool;
    void* chunk = pool.take();
    std::optional<std::string> result;
    {
        base::Arena arena(pool, chunk, 0);
        http::RequestHead head(arena);
        const std::size_t mark = target.find('?');
        head.target = target;
        head.path = target.substr(0, mark);
        if (mark != target.npos) head.query = target.substr(mark + 1);
        if (const http::ParseError error = http::normalizePath(head, arena, policy)) {
            WEIR_ASSERT(error.status == 400 && !error.reason.empty());
        } else {
            result = head.path;
            if (head.query.data()) result->append("?").append(head.query);
            WEIR_ASSERT(*result == head.target);
            WEIR_ASSERT(head.query == (mark == target.npos ? std::string_view() : target.substr(mark + 1)));
        }
    }
    pool.give(chunk);
    return result;
}

std::string replaced(std::string text, std::string_view what, std::string_view by) {
    for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, at + by.size()))
        text.replace(at, what.size(), by);
    return text;
}

// Of the path alone, with each spelling of a dot as a dot.
bool hasDotSegment(std::string path) {
    path = replaced(replaced(std::move(path), "%2e", "."), "%2E", ".") + "/";
    return path.find("/../") != path.npos || path.find("/./") != path.npos;
}

void check(std::string_view target, const Policy& policy) {
    const std::optional<std::string> once = normalized(target, policy);
    if (!once) return;
    WEIR_ASSERT(once->starts_with('/') && once->size() <= target.size());
    WEIR_ASSERT(normalized(*once, policy) == once);
    const std::string path = once->substr(0, once->find('?'));
    if (policy.dots != Policy::Dots::Keep) WEIR_ASSERT(!hasDotSegment(path));
    if (policy.slashes != Policy::Slashes::Keep) WEIR_ASSERT(path.find("//") == path.npos);
    if (policy.encoded == Policy::Encoded::Keep) return;
    for (const char* spelling : {"%2f", "%2F", "%5c", "%5C"}) WEIR_ASSERT(path.find(spelling) == path.npos);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::string target = "/";
    for (std::size_t i = 0; i < size; ++i)
        if (data[i] > 0x20 && data[i] < 0x7f && data[i] != '#') target += static_cast<char>(data[i]);
    for (const auto dots : {Policy::Dots::Resolve, Policy::Dots::Reject, Policy::Dots::Keep})
        for (const auto slashes : {Policy::Slashes::Keep, Policy::Slashes::Merge, Policy::Slashes::Reject})
            for (const auto encoded : {Policy::Encoded::Keep, Policy::Encoded::Decode, Policy::Encoded::Reject})
                check(target, {dots, slashes, encoded});
    return 0;
}
