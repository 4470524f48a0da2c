#include "upstream/set_catalog.hpp"

#include "support/catch.hpp"

using namespace weir::upstream;

TEST_CASE("the catalog shows of each owner the list that was made last, while it is kept") {
    SetCatalog catalog;
    std::shared_ptr<const SetCatalog::Set> first, second, other;
    {
        const OwnedSets owned(&catalog, "divide", "1");
        first = catalog.add({{"http://", 1, true, false, nullptr}});
        second = catalog.add({{"http://", 2, true, false, nullptr}});
    }
    {
        const OwnedSets owned(&catalog, "divide", "0");
        other = catalog.add({});
    }
    const auto shown = catalog.sets();
    REQUIRE(shown.size() == 2);
    CHECK(shown[0] == other);
    CHECK(shown[1] == second);
    CHECK(shown[1]->owner.plugin == "divide");
    CHECK(shown[1]->owner.selector == "1");
}

TEST_CASE("a refused list leaves the one before in sight") {
    SetCatalog catalog;
    const OwnedSets owned(&catalog, "divide", "1");
    const auto kept = catalog.add({});
    catalog.add({}).reset();
    REQUIRE(catalog.sets().size() == 1);
    CHECK(catalog.sets().front() == kept);
}

TEST_CASE("lists that come and go leave nothing behind") {
    SetCatalog catalog;
    const auto kept = catalog.add({});
    for (int i = 0; i < 1000; ++i) catalog.add({}).reset();
    CHECK(catalog.remembered() <= 64);
    CHECK(catalog.sets().size() == 1);
}
