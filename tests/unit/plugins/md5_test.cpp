#include "load-balancer/md5.hpp"

#include <string>

#include "support/catch.hpp"

namespace {

std::string hex(std::string_view text) {
    std::string out;
    for (std::uint8_t byte : weir::balance::md5(text)) {
        out += "0123456789abcdef"[byte >> 4];
        out += "0123456789abcdef"[byte & 15];
    }
    return out;
}

}  // namespace

TEST_CASE("MD5 gives the digests of RFC 1321 A.5") {
    struct Row { const char* text; const char* digest; };
    const Row rows[] = {
        {"", "d41d8cd98f00b204e9800998ecf8427e"},
        {"a", "0cc175b9c0f1b6a831c399e269772661"},
        {"abc", "900150983cd24fb0d6963f7d28e17f72"},
        {"message digest", "f96b697d7cb7938d525a2f31aaf161d0"},
        {"abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b"},
        {"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", "d174ab98d277d9f5a5611c2c9f419d9f"},
        {"12345678901234567890123456789012345678901234567890123456789012345678901234567890",
         "57edf4a22be3c955ac49da2e2107b67a"},
    };
    for (const Row& row : rows) {
        INFO(row.text);
        CHECK(hex(row.text) == row.digest);
    }
}

TEST_CASE("MD5 pads right at every border of a block") {
    struct Row { std::size_t size; const char* digest; };
    const Row rows[] = {
        {55, "04364420e25c512fd958a70738aa8f72"},
        {56, "668a72d5ba17f08e62dabcafad6db14b"},
        {63, "7dc2ca208106a2f703567bdff99d8981"},
        {64, "c1bb4f81d892b2d57947682aeb252456"},
        {65, "1bc932052302d074bdec39795fe00cf6"},
        {119, "ab347a5f68c8a443cfcddc633f12c24f"},
        {120, "fb98667f98096de92620b64f46e1c5b5"},
        {128, "d69cb61a6ee87200676eb0d4b90edbcb"},
    };
    for (const Row& row : rows) {
        INFO(row.size);
        CHECK(hex(std::string(row.size, 'x')) == row.digest);
    }
}
