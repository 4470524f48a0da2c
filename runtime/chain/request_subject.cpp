#include "chain/request_subject.hpp"

#include <algorithm>
#include <ctime>

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

std::string_view RequestSubject::contextField(match::ContextField field) const noexcept {
    using match::ContextField;
    switch (field) {
        case ContextField::Path: return exchange_.request.path;
        case ContextField::RealUrl: return exchange_.slot(WEIR_SLOT_REAL_URL);
        case ContextField::Module: return exchange_.slot(WEIR_SLOT_MODULE);
        case ContextField::Method: return exchange_.slot(WEIR_SLOT_METHOD);
        case ContextField::RpcType: return exchange_.slot(WEIR_SLOT_RPC_TYPE);
        case ContextField::HttpMethod: return exchange_.request.method;
        case ContextField::ContextPath:
            if (const std::string_view set = exchange_.slot(WEIR_SLOT_CONTEXT_PATH); !set.empty()) return set;
            return exchange_.metadata ? std::string_view(exchange_.metadata->data->contextPath) : std::string_view();
        case ContextField::StartDateTime: return startDateTime();
        case ContextField::Sign: return header("sign");
        case ContextField::Timestamp: return header("timestamp");
        case ContextField::AppKey: return header("appKey");
    }
    return {};
}

// As conditions on times compare it: local time, to the second.
std::string_view RequestSubject::startDateTime() const noexcept {
    constexpr std::size_t kSize = sizeof "2026-11-29 23:38:29";
    const std::time_t now = std::time(nullptr);  // matching begins when the request does
    std::tm parts{};
    ::localtime_r(&now, &parts);
    char* text = exchange_.allocateArray<char>(kSize);
    return {text, std::strftime(text, kSize, "%Y-%m-%d %H:%M:%S", &parts)};
}

}  // namespace weir::chain
