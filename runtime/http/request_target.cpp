#include "http/request_target.hpp"

#include <arpa/inet.h>

#include <array>
#include <cstring>

#include "base/byte_words.hpp"

namespace weir::http {

namespace {

bool isDigit(char c) { return c >= '0' && c <= '9'; }

constexpr auto kRegNameBytes = [] {
    std::array<bool, 256> table{};
    for (int c = 0; c < 256; ++c)
        table[c] = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    for (char c : std::string_view("-._~!$&'()*+;=")) table[static_cast<unsigned char>(c)] = true;
    return table;
}();

bool isHexDigit(char c) { return isDigit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f'); }

// How many bytes from the text's first on are a reg-name.
std::size_t regNameRun(std::string_view text) {
    for (std::size_t i = 0;; i += 3) {
        while (i < text.size() && kRegNameBytes[static_cast<unsigned char>(text[i])]) ++i;
        if (text.size() - i < 3 || text[i] != '%' || !isHexDigit(text[i + 1]) || !isHexDigit(text[i + 2])) return i;
    }
}

[[gnu::cold]] bool isIpv6(std::string_view text) {
    char terminated[INET6_ADDRSTRLEN];
    if (text.size() >= sizeof terminated) return false;
    std::memcpy(terminated, text.data(), text.size());
    terminated[text.size()] = '\0';
    in6_addr address;
    return text.find('\0') == std::string_view::npos && inet_pton(AF_INET6, terminated, &address) == 1;
}

bool isPort(std::string_view text) {
    unsigned port = 0;
    for (char c : text) {
        if (!isDigit(c)) return false;
        port = port * 10 + static_cast<unsigned>(c - '0');
        if (port > 65535) return false;
    }
    return true;
}

// Without the port when it is http's own.
std::string_view withoutDefaultPort(std::string_view authority) {
    for (std::string_view port : {":80", ":"})
        if (authority.ends_with(port)) return authority.substr(0, authority.size() - port.size());
    return authority;
}

// "http://authority[/path][?query]"
ParseError settleAbsolute(RequestHead& head, base::Arena& arena) {
    constexpr std::string_view kScheme = "http://";
    if (!equalsIgnoreCase(head.target.substr(0, kScheme.size()), kScheme)) return {400, "request target malformed"};
    const std::string_view rest = head.target.substr(kScheme.size());
    const std::string_view authority = rest.substr(0, rest.find_first_of("/?"));
    if (!isAuthority(authority)) return {400, "authority of the request target malformed"};
    if (head.host.data() && !equalsIgnoreCase(withoutDefaultPort(head.host), withoutDefaultPort(authority)))
        return {400, "Host and request target disagree"};
    head.host = authority;

    head.target = rest.substr(authority.size());
    if (head.target.empty()) {
        head.target = head.method == "OPTIONS" ? "*" : "/";
    } else if (head.target.front() == '?') {
        auto* target = static_cast<char*>(arena.allocate(head.target.size() + 1));
        target[0] = '/';
        std::memcpy(target + 1, head.target.data(), head.target.size());
        head.target = {target, head.target.size() + 1};
    }
    return {};
}

}  // namespace

bool isAuthority(std::string_view text) {
    if (text.starts_with('[')) [[unlikely]] {
        const std::size_t close = text.find(']');
        if (close == std::string_view::npos || !isIpv6(text.substr(1, close - 1))) return false;
        const std::string_view port = text.substr(close + 1);
        return port.empty() || (port.front() == ':' && isPort(port.substr(1)));
    }
    const std::size_t name = regNameRun(text);
    if (name == 0) return false;
    return name == text.size() || (text[name] == ':' && isPort(text.substr(name + 1)));
}

std::size_t targetRun(std::string_view text) {
    constexpr auto isOther = [](auto c) { return (c <= ' ') | (c >= 0x7f) | (c == '#'); };
    const char* const end = text.data() + text.size();
    return static_cast<std::size_t>(base::findByte(text.data(), end, isOther) - text.data());
}

ParseError settleTarget(RequestHead& head, base::Arena& arena) {
    if (head.target == "*") [[unlikely]] {
        if (head.method != "OPTIONS") return {400, "request target * without OPTIONS"};
    } else if (head.target.front() != '/') [[unlikely]] {
        if (const ParseError error = settleAbsolute(head, arena)) return error;
    }
    if (!head.host.data()) head.host = "";
    const std::size_t mark = head.target.find('?');
    head.path = head.target.substr(0, mark);
    if (mark != std::string_view::npos) head.query = head.target.substr(mark + 1);
    return {};
}

}  // namespace weir::http
