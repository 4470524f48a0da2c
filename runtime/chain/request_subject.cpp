#include "chain/request_subject.hpp"

namespace weir::chain {

std::string_view RequestSubject::domain() const noexcept {
    const std::string_view host = exchange_.request.host;
    if (!host.empty() && host.front() == '[') return host.substr(0, host.find(']') + 1);
    return host.substr(0, host.find(':'));
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
