#include "support/catch.hpp"
#include "unit/sdk/fake_host.hpp"
#include "weir/host.hpp"

using weir::test::FakeError;
using weir::test::FakeSet;

TEST_CASE("an upstream set owns what the host made of its list") {
    weir::detail::hostTable = &weir::test::fakeHost();
    FakeError error;
    REQUIRE(FakeSet::alive == 0);
    {
        weir::UpstreamSet set;
        CHECK(set.raw() == nullptr);
        REQUIRE(set.assign({{"http://", "a:1", 20, true, true, 5, 6}, {.url = "b:2"}}, error.raw()));
        REQUIRE(FakeSet::alive == 1);
        const auto& list = FakeSet::of(set.raw()).upstreams;
        REQUIRE(list.size() == 2);
        CHECK(list[0].url == "a:1");
        CHECK(list[0].weight == 20);
        CHECK(list[0].gray);
        CHECK(list[0].timestampMs == 5);
        CHECK(list[0].warmupMs == 6);
        CHECK(list[1].protocol == "http://");
        CHECK(list[1].weight == 50);
        CHECK(list[1].status);
        CHECK(list[1].checked);

        SECTION("an upstream that no check has a say in is on") {
            REQUIRE(set.assign({{.url = "c:3", .status = false, .check = false}, {.url = "d:4", .status = false}},
                               error.raw()));
            const auto& other = FakeSet::of(set.raw()).upstreams;
            CHECK(other[0].status);
            CHECK_FALSE(other[0].checked);
            CHECK_FALSE(other[1].status);
            CHECK(other[1].checked);
        }
        SECTION("a new list replaces the old set") {
            REQUIRE(set.assign({{.url = "c:3"}}, error.raw()));
            CHECK(FakeSet::alive == 1);
            CHECK(FakeSet::of(set.raw()).upstreams[0].url == "c:3");
        }
        SECTION("a refused list leaves the old set and says why") {
            weir_upstream_set* before = set.raw();
            CHECK_FALSE(set.assign({{.url = "bad:1"}}, error.raw()));
            CHECK(error.whole() == "url: is bad");
            CHECK(set.raw() == before);
            CHECK(FakeSet::alive == 1);
        }
        SECTION("moving hands the set over") {
            weir::UpstreamSet other(std::move(set));
            weir::UpstreamSet third;
            third = std::move(other);
            CHECK(FakeSet::of(third.raw()).upstreams.size() == 2);
            CHECK(FakeSet::alive == 1);
        }
    }
    CHECK(FakeSet::alive == 0);
}
