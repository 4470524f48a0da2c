#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

// An IPv4 or IPv6 address. ::ffff:1.2.3.4 is taken for 1.2.3.4 (RFC 4291, 2.5.5.2).
struct IpAddress {
    bool v4;
    std::array<unsigned char, 16> bytes;  // of IPv4 the first four

    static std::optional<IpAddress> parse(std::string_view text) noexcept;
};

// A list of CIDR blocks (RFC 4632, 4.1; RFC 4291, 2.3) and single addresses.
class IpRanges {
public:
    // "10.0.0.0/8, 192.168.1.7, 2001:db8::/32"; bits behind the prefix do not matter. Throws std::invalid_argument that
    // names the item which is none.
    explicit IpRanges(std::string_view list);

    bool contain(const IpAddress& address) const noexcept;

private:
    struct Range {
        IpAddress address;
        unsigned prefix;  // bits

        bool contains(const IpAddress& other) const noexcept;
    };
    static std::optional<Range> parseRange(std::string_view text);

    std::vector<Range> ranges_;
};
