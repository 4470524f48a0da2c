#include "ip_ranges.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <stdexcept>
#include <string>

namespace {

constexpr unsigned kMappedBits = 96;  // in front of an IPv4 address in IPv6
constexpr std::array<unsigned char, kMappedBits / 8> kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

std::string_view trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

bool isMapped(const std::array<unsigned char, 16>& bytes) {
    return std::equal(kMapped.begin(), kMapped.end(), bytes.begin());
}

// As written: a mapped address is IPv6 still.
std::optional<IpAddress> parseAsWritten(std::string_view text) noexcept {
    char terminated[INET6_ADDRSTRLEN];
    if (text.size() >= sizeof terminated) return std::nullopt;
    text.copy(terminated, text.size());
    terminated[text.size()] = '\0';
    IpAddress address{text.find(':') == std::string_view::npos, {}};
    if (::inet_pton(address.v4 ? AF_INET : AF_INET6, terminated, address.bytes.data()) != 1) return std::nullopt;
    return address;
}

IpAddress unmapped(const IpAddress& address) {
    IpAddress inner{true, {}};
    std::copy(address.bytes.begin() + kMapped.size(), address.bytes.end(), inner.bytes.begin());
    return inner;
}

}  // namespace

std::optional<IpAddress> IpAddress::parse(std::string_view text) noexcept {
    const auto address = parseAsWritten(text);
    return address && !address->v4 && isMapped(address->bytes) ? unmapped(*address) : address;
}

IpRanges::IpRanges(std::string_view list) {
    for (;;) {
        const std::size_t comma = list.find(',');
        const std::string_view item = trimmed(list.substr(0, comma));
        const auto range = parseRange(item);
        if (!range) {
            throw std::invalid_argument("expected addresses and CIDR blocks between commas, found '" +
                                        std::string(item) + "'");
        }
        ranges_.push_back(*range);
        if (comma == std::string_view::npos) break;
        list.remove_prefix(comma + 1);
    }
}

std::optional<IpRanges::Range> IpRanges::parseRange(std::string_view text) {
    const std::size_t slash = text.find('/');
    const auto address = parseAsWritten(text.substr(0, slash));
    if (!address) return std::nullopt;
    const unsigned bits = address->v4 ? 32 : 128;
    Range range{*address, bits};
    if (slash != std::string_view::npos) {
        const std::string_view digits = text.substr(slash + 1);
        const char* end = digits.data() + digits.size();
        if (std::from_chars(digits.data(), end, range.prefix) != std::from_chars_result{end, std::errc()} ||
            range.prefix > bits)
            return std::nullopt;
    }
    if (!address->v4 && isMapped(address->bytes) && range.prefix >= kMappedBits)
        return Range{unmapped(*address), range.prefix - kMappedBits};
    return range;
}

bool IpRanges::Range::contains(const IpAddress& other) const noexcept {
    if (other.v4 != address.v4) return false;
    const unsigned whole = prefix / 8;
    if (std::memcmp(address.bytes.data(), other.bytes.data(), whole) != 0) return false;
    const unsigned rest = prefix % 8;
    return rest == 0 || ((address.bytes[whole] ^ other.bytes[whole]) >> (8 - rest)) == 0;
}

bool IpRanges::contain(const IpAddress& address) const noexcept {
    return std::any_of(ranges_.begin(), ranges_.end(), [&](const Range& range) { return range.contains(address); });
}
