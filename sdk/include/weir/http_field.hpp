#pragma once

#include <array>
#include <string>
#include <string_view>

#include "weir/fields.hpp"

// What HTTP allows as a field, for handles that name fields: what a request could not carry is refused when the data is
// saved. Any thread.

namespace weir {

// RFC 9110 5.1: a token, as methods are too.
inline bool isFieldName(std::string_view name) {
    static constexpr std::string_view kOthers = "!#$%&'*+-.^_`|~";
    for (char c : name) {
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!letter && kOthers.find(c) == kOthers.npos) return false;
    }
    return !name.empty();
}

// RFC 9110 5.5: no CR, LF, NUL nor another control byte but HTAB.
inline bool isFieldValue(std::string_view value) {
    for (unsigned char c : value)
        if ((c < 0x20 && c != '\t') || c == 0x7f) return false;
    return true;
}

// Names of fields compare so.
inline bool equalsIgnoreCase(std::string_view a, std::string_view b) {
    if (a.size() != b.size()) return false;
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; };
    for (std::size_t i = 0; i < a.size(); ++i)
        if (lower(a[i]) != lower(b[i])) return false;
    return true;
}

// The fields with which the gateway frames messages: it lets no plugin edit them.
inline bool isFramingField(std::string_view name) {
    for (std::string_view own : {"Connection", "Content-Length", "Transfer-Encoding"})
        if (equalsIgnoreCase(name, own)) return true;
    return false;
}

// What says something about the bytes of a body that is not true of another one (RFC 9530 and before).
inline constexpr std::array<std::string_view, 4> kBodyDigests = {"Content-MD5", "Digest", "Content-Digest",
                                                                 "Repr-Digest"};

// For prepare functions: whether a plugin may edit a field of that name. false: refused, with `path` (below the handle)
// and the reason in `error`.
inline bool checkFieldName(std::string_view name, const std::string& path, weir_error* error) {
    if (!isFieldName(name))
        return refuse(error, path, "expected the name of a header, found '" + std::string(name) + "'");
    if (isFramingField(name)) return refuse(error, path, "the gateway writes " + std::string(name) + " itself");
    return true;
}
inline bool checkFieldValue(std::string_view value, const std::string& path, weir_error* error) {
    return isFieldValue(value) || refuse(error, path, "has bytes that the value of a header can not have");
}

}  // namespace weir
