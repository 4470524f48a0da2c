#include "weir/match_strategy.hpp"

#include <stdexcept>
#include <vector>

#include "support/catch.hpp"
#include "unit/sdk/fake_host.hpp"
#include "weir/module.hpp"

using weir::test::FakeError;
using weir::test::text;

namespace {

// Holds when the last condition holds.
struct Last : weir::MatchStrategy {
    bool match(const weir::Conditions& conditions) const noexcept override {
        return conditions.holds(conditions.size() - 1);
    }
};
struct Unborn : weir::MatchStrategy {
    Unborn() { throw std::runtime_error("no licence"); }
    bool match(const weir::Conditions&) const noexcept override { return true; }
};

struct Lost : weir::MatchStrategy {
    bool match(const weir::Conditions& conditions) const override {
        if (conditions.size() == 0) throw std::out_of_range("no conditions");
        throw 7;
    }
};

// Conditions as the host hands them over.
struct FakeConditions : weir_conditions {
    explicit FakeConditions(std::vector<bool> answers)
        : weir_conditions{sizeof(weir_conditions), static_cast<std::uint32_t>(answers.size()), &answer},
          values(std::move(answers)) {}
    static std::int32_t answer(const weir_conditions* raw, std::uint32_t index) {
        const auto& answers = static_cast<const FakeConditions*>(raw)->values;
        return index < answers.size() && answers[index];
    }
    std::vector<bool> values;
};

}  // namespace

TEST_CASE("a match mode asks the conditions") {
    const weir_match_strategy table = weir::matchStrategy<Last>("last").table;
    CHECK(table.size == sizeof table);
    CHECK(text(table.key) == "last");
    void* state = nullptr;
    FakeError error;
    REQUIRE(table.create(&weir::test::fakeHost(), &state, error.raw()) == WEIR_OK);
    const FakeConditions holds({false, true});
    const FakeConditions fails({true, false});
    const FakeConditions none({});
    CHECK(table.match(state, &holds) == 1);
    CHECK(table.match(state, &fails) == 0);
    CHECK(table.match(state, &none) == 0);
    table.destroy(state);
}

TEST_CASE("a match mode that cannot be constructed is refused with the reason") {
    const weir_match_strategy table = weir::matchStrategy<Unborn>("never").table;
    void* state = nullptr;
    FakeError error;
    CHECK(table.create(&weir::test::fakeHost(), &state, error.raw()) == WEIR_INVALID);
    CHECK(state == nullptr);
    CHECK(error.text == "no licence");
}

TEST_CASE("a match mode that throws matches nothing, and is logged") {
    const weir_match_strategy table = weir::matchStrategy<Lost>("lost").table;
    void* state = nullptr;
    FakeError error;
    REQUIRE(table.create(&weir::test::loggingHost(), &state, error.raw()) == WEIR_OK);
    weir::test::loggedLines().clear();
    const FakeConditions none({});
    const FakeConditions one({true});
    CHECK(table.match(state, &none) == 0);
    CHECK(table.match(state, &one) == 0);
    CHECK(weir::test::loggedLines() ==
          std::vector<std::string>{"3 match() threw: no conditions",
                                   "3 match() threw: an exception of an unknown type"});
    table.destroy(state);
}
