#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "support/catch.hpp"
#include "unit/plugins/loaded_module.hpp"

// What every parameter type, operator and match mode must do, run against each one of each module in WEIR_TEST_MODULES
// (names separated by blanks).

namespace {

using weir::test::FakeError;
using weir::test::FakeExchange;
using weir::test::fakeHost;
using weir::test::str;
using weir::test::text;

constexpr const char* kTexts[] = {"", "/", "1", "name", "127.0.0.1", "::1", "shop.example", "2026-01-01 00:00:00"};

// All tables of one interface.
template <class List>
auto tablesOf(const char* interface) {
    std::vector<std::decay_t<decltype(*List::items)>> tables;
    std::string names = WEIR_TEST_MODULES;
    for (std::size_t end; !names.empty(); names.erase(0, end + (end < names.size()))) {
        end = std::min(names.find(' '), names.size());
        const weir::test::LoadedModule module(names.substr(0, end));
        const auto* list = static_cast<const List*>(module.find(interface));
        if (list) tables.insert(tables.end(), list->items, list->items + list->count);
    }
    REQUIRE_FALSE(tables.empty());
    return tables;
}

// Runs `check` on several threads at once; whether it was true on each.
template <class Check>
bool everywhere(Check check) {
    std::atomic<bool> all = true;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
            for (int round = 0; round < 500; ++round)
                if (!check()) all = false;
        });
    }
    for (std::thread& thread : threads) thread.join();
    return all;
}

// Whether a state was made; what refuses says why and makes none.
bool made(weir_status status, const void* state, const FakeError& error) {
    if (status == WEIR_OK) return true;
    CHECK(state == nullptr);
    CHECK_FALSE(error.text.empty());
    return false;
}

std::int32_t isOdd(const weir_conditions* conditions, std::uint32_t index) {
    return index < conditions->count && index % 2 == 1;
}

}  // namespace

TEST_CASE("an operator answers one value alike, on several threads at once") {
    for (const weir_predicate_judge* table : tablesOf<weir_predicate_judge_list>(WEIR_INTERFACE_PREDICATE_JUDGE)) {
        int states = 0;
        for (const char* paramValue : kTexts) {
            void* state = nullptr;
            FakeError error;
            {
                const std::string copy = paramValue;  // it ends before the state does
                const weir_condition condition{sizeof condition, 0, str("header"), str("name"), str(copy)};
                if (!made(table->create(&fakeHost(), &condition, &state, error.raw()), state, error)) continue;
            }
            ++states;
            INFO(text(table->key) << " " << paramValue);
            for (const char* value : kTexts) {
                const std::int32_t answer = table->judge(state, str(value));
                CHECK((answer == 0 || answer == 1));
                CHECK(everywhere([&] { return table->judge(state, str(value)) == answer; }));
            }
            const std::int32_t blank = table->judge(state, str(""));
            CHECK(table->judge(state, {}) == blank);
            table->destroy(state);
        }
        CHECK(states > 0);
    }
}

TEST_CASE("a parameter type reads one request alike, and takes a bare one") {
    for (const weir_parameter_data* table : tablesOf<weir_parameter_data_list>(WEIR_INTERFACE_PARAMETER_DATA)) {
        int states = 0;
        for (const char* paramName : kTexts) {
            void* state = nullptr;
            FakeError error;
            {
                const std::string copy = paramName;
                if (!made(table->create(&fakeHost(), str(copy), &state, error.raw()), state, error)) continue;
            }
            ++states;
            INFO(text(table->key) << " " << paramName);
            FakeExchange bare;
            table->read(state, &bare);
            FakeExchange exchange("/a", {{"host", "NAME.shop.example"}, {"name", "value"}});
            const weir_str first = table->read(state, &exchange);
            const std::string value = text(first);
            CHECK(text(table->read(state, &exchange)) == value);
            CHECK(text(first) == value);  // it lives on
            CHECK(everywhere([&] {
                FakeExchange own("/a", {{"host", "NAME.shop.example"}, {"name", "value"}});
                return text(table->read(state, &own)) == value;
            }));
            table->destroy(state);
        }
        CHECK(states > 0);
    }
}

TEST_CASE("a match mode answers the same conditions alike, on several threads at once") {
    for (const weir_match_strategy* table : tablesOf<weir_match_strategy_list>(WEIR_INTERFACE_MATCH_STRATEGY)) {
        INFO(text(table->key));
        void* state = nullptr;
        FakeError error;
        REQUIRE(made(table->create(&fakeHost(), &state, error.raw()), state, error));
        for (std::uint32_t count = 0; count < 6; ++count) {
            const weir_conditions conditions{sizeof conditions, count, &isOdd};
            const std::int32_t answer = table->match(state, &conditions);
            CHECK((answer == 0 || answer == 1));
            CHECK(everywhere([&] { return table->match(state, &conditions) == answer; }));
        }
        table->destroy(state);
    }
}
