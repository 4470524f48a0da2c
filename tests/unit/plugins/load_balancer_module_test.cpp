#include <string>

#include "support/catch.hpp"
#include "unit/plugins/loaded_module.hpp"

TEST_CASE("load-balancer provides ShenYu's six balancers, and asks to be told of calls only for those that count") {
    struct Row { const char* key; bool done; };
    const Row rows[] = {{"random", false},     {"roundRobin", false}, {"hash", false},
                        {"leastActive", true}, {"p2c", true},         {"shortestResponse", true}};
    const weir::test::LoadedModule module("load-balancer");
    const auto* list = static_cast<const weir_load_balancer_list*>(module.find(WEIR_INTERFACE_LOAD_BALANCER));
    REQUIRE(list->count == std::size(rows));
    for (std::size_t i = 0; i < std::size(rows); ++i) {
        CHECK(weir::test::text(list->items[i]->key) == rows[i].key);
        CHECK((list->items[i]->done != nullptr) == rows[i].done);
    }
}
