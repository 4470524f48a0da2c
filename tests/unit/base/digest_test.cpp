#include "base/digest.hpp"

#include "support/catch.hpp"

using namespace weir;

TEST_CASE("digests are those of FIPS 180 in lower-case hex") {
    CHECK(base::sha256Hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    CHECK(base::sha512Hex("abc") ==
          "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
          "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f");
}
