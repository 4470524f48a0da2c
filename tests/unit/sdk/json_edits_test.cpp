#include "weir/json_edits.hpp"

#include <new>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "unit/sdk/fake_host.hpp"

using weir::JsonEdit;
using weir::JsonEdits;
using weir::test::FakeError;
using weir::test::FakeExchange;

TEST_CASE("JSON edits are compiled by the host and applied in their order") {
    weir::detail::hostTable = &weir::test::fakeHost();
    FakeError error;
    FakeExchange fake;
    weir::Exchange& exchange = weir::Exchange::from(&fake);
    const std::vector<JsonEdit> list{{JsonEdit::Change::Add, "add[0].path", "$", "a", "1"},
                                     {JsonEdit::Change::AddList, "add[1].path", "$", "l", "2"},
                                     {JsonEdit::Change::Rename, "replace[0].path", "$", "a", "b"},
                                     {JsonEdit::Change::Remove, "remove[0]", "$.x", "", ""}};
    JsonEdits edits;
    CHECK_FALSE(edits);
    CHECK(edits.apply(exchange, "not read").value_or("") == "not read");
    REQUIRE(edits.compile(list, error.raw()));
    CHECK(edits);
    CHECK(edits.apply(exchange, R"({"x":1})").value_or("") == R"({"l":["2"],"b":"1"})");
    CHECK_FALSE(edits.apply(exchange, "{"));

    SECTION("a refused list leaves the old one and says where and why") {
        const std::vector<JsonEdit> bad{list[0], {JsonEdit::Change::Remove, "remove[0]", "$[?(@.a)]", "", ""}};
        CHECK_FALSE(edits.compile(bad, error.raw()));
        CHECK(error.whole() ==
              "remove[0]: position 3: expected a quoted name, an index or * (filters and slices are not supported), "
              "found \"?\": $[?(@.a)]");
        CHECK(edits.apply(exchange, "{}").value_or("") == R"({"l":["2"],"b":"1"})");
    }
    SECTION("moving hands them over") {
        JsonEdits other(std::move(edits));
        JsonEdits third;
        third = std::move(other);
        CHECK(third.apply(exchange, "{}").value_or("") == R"({"l":["2"],"b":"1"})");
    }
    SECTION("want of memory is thrown") {
        fake.memory = false;
        CHECK_THROWS_AS(edits.apply(exchange, "{}"), std::bad_alloc);
    }
}
