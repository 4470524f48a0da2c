#include <string>

#include "base/hex.hpp"
#include "support/catch.hpp"

using namespace weir::base;

TEST_CASE("every byte has its two digits, in either case") {
    CHECK(hexOf(0) == "00");
    CHECK(hexOf(0xaf) == "af");
    CHECK(upperHexOf(0xaf) == "AF");
    for (unsigned byte = 0; byte < 256; ++byte) {
        CHECK(std::stoul(std::string(hexOf(static_cast<unsigned char>(byte))), nullptr, 16) == byte);
        CHECK(std::stoul(std::string(upperHexOf(static_cast<unsigned char>(byte))), nullptr, 16) == byte);
    }
}
