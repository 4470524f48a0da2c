#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "weir/exchange.hpp"
#include "weir/http_field.hpp"

namespace weir::cache {

std::string_view trimmed(std::string_view text);

// Calls visit(member) for each member of a comma separated list, quoted strings respected, blanks around it dropped,
// until it answers false.
template <class Visit>
void forEachMember(std::string_view list, Visit visit) {
    for (std::size_t begin = 0; begin <= list.size();) {
        std::size_t end = begin;
        for (bool quoted = false; end < list.size() && (quoted || list[end] != ','); ++end) {
            if (list[end] == '"') quoted = !quoted;
            else if (quoted && list[end] == '\\' && end + 1 < list.size()) ++end;
        }
        const std::string_view member = trimmed(list.substr(begin, end - begin));
        if (!member.empty() && !visit(member)) return;
        begin = end + 1;
    }
}

// What Cache-Control says (RFC 9111 5.2), of a request or a response; directives that do not matter here are left out.
// One that names fields (no-cache="x") counts as if it named none, which is the stricter reading.
struct CacheControl {
    bool noStore = false;
    bool noCache = false;
    bool isPrivate = false;
    bool isPublic = false;
    std::optional<std::uint64_t> maxAge;        // seconds
    std::optional<std::uint64_t> sharedMaxAge;  // s-maxage, seconds

    static CacheControl of(const Headers& headers);
};

// Seconds since 1970 of an HTTP date in the form that senders generate (RFC 9110 5.6.7, IMF-fixdate).
std::optional<std::int64_t> httpDate(std::string_view text);

}  // namespace weir::cache
