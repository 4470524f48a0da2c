#include "chain/request_subject.hpp"

#include <algorithm>

#include "base/ascii.hpp"

namespace weir::chain {

// Host names compare without case (RFC 9110 4.2.3): conditions see them in lower case.
std::string_view RequestSubject::domain() const noexcept {
    std::string_view host = exchange_.request.host;
    if (!host.empty() && host.front() == '[') host = host.substr(0, host.find(']') + 1);
    else host = host.substr(0, host.find(':'));
    if (std::all_of(host.begin(), host.end(), [](char c) { return base::toLower(c) == c; })) return host;
    auto* lower = exchange_.allocateArray<char>(host.size());
    std::transform(host.begin(), host.end(), lower, [](char c) { return base::toLower(c); });
    return {lower, host.size()};
}

// Fact sheet 3.2: the first entry of X-Forwarded-For, but only of a single line with two entries or more.
std::string_view RequestSubject::clientIp() const noexcept {
    std::string_view only;
    int lines = 0;
    for (const http::FieldTable::Field& field : exchange_.request.fields) {
        if (!field.alive() || field.id != http::FieldId::XForwardedFor) continue;
        only = field.value;
        ++lines;
    }
    const std::size_t comma = only.find(", ");
    if (lines == 1 && comma != std::string_view::npos) return only.substr(0, comma);
    return exchange_.clientAddress;
}

}  // namespace weir::chain
