#include "upstream/address_list.hpp"

#include "support/catch.hpp"
#include "unit/upstream/endpoints.hpp"

using namespace weir::upstream;

TEST_CASE("connections begin at each address of the first family in turn and try all others behind it") {
    struct Row {
        std::vector<std::string> addresses;
        std::uint32_t turn;
        std::vector<std::string> tried;
    };
    const Row rows[] = {
        {{"10.0.0.1"}, 7, {"10.0.0.1:80"}},
        {{"10.0.0.1", "10.0.0.2", "10.0.0.3"}, 0, {"10.0.0.1:80", "10.0.0.2:80", "10.0.0.3:80"}},
        {{"10.0.0.1", "10.0.0.2", "10.0.0.3"}, 2, {"10.0.0.3:80", "10.0.0.1:80", "10.0.0.2:80"}},
        {{"10.0.0.1", "10.0.0.2", "fd00::1", "fd00::2"}, 1,
         {"10.0.0.2:80", "10.0.0.1:80", "[fd00::1]:80", "[fd00::2]:80"}},
        {{"127.0.0.1", "::1"}, 1, {"127.0.0.1:80", "[::1]:80"}},
        {{"fd00::1", "fd00::2"}, 3, {"[fd00::2]:80", "[fd00::1]:80"}},
    };
    for (const Row& row : rows) {
        const AddressList list(endpoints(row.addresses));
        std::vector<std::string> tried;
        for (std::size_t i = 0; i < list.size(); ++i) tried.push_back(list.choose(row.turn, i).addressText());
        CHECK(tried == row.tried);
    }
}

TEST_CASE("a list knows its addresses, port and all") {
    const AddressList list(endpoints({"10.0.0.1", "::1"}));
    CHECK(list.has(endpoints({"::1"}).front()));
    CHECK_FALSE(list.has(endpoints({"10.0.0.2"}).front()));
    CHECK_FALSE(list.has(endpoints({"10.0.0.1"}, 81).front()));
    CHECK(list == AddressList(endpoints({"10.0.0.1", "::1"})));
    CHECK_FALSE(list == AddressList(endpoints({"10.0.0.1"})));
}
