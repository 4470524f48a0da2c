#include "weir/predicate_judge.hpp"

#include <string>

#include "support/catch.hpp"
#include "unit/sdk/fake_host.hpp"
#include "weir/module.hpp"

using weir::test::FakeError;
using weir::test::str;
using weir::test::text;

namespace {

// Holds for values longer than the paramValue; for nothing of a cookie.
struct Longer : weir::PredicateJudge {
    explicit Longer(const weir::Condition& condition) : size(condition.paramValue.size()) {
        if (condition.paramType == "cookie") throw weir::Error(400, -1, condition.paramName + " is a cookie");
        if (condition.paramValue == "?") throw 7;
    }
    bool judge(std::string_view value) const noexcept override { return value.size() > size; }
    std::size_t size;
};

struct Strict : weir::PredicateJudge {
    explicit Strict(const weir::Condition&) {}
    bool judge(std::string_view value) const override { return std::string(value).at(3) == 'x'; }
};

weir_status create(const weir_predicate_judge& table, const char* type, const char* name, const char* value,
                   void*& state, FakeError& error) {
    const weir_condition condition{sizeof(weir_condition), 0, str(type), str(name), str(value)};
    return table.create(&weir::test::fakeHost(), &condition, &state, error.raw());
}

}  // namespace

TEST_CASE("an operator is made for a condition and judges values") {
    const weir_predicate_judge table = weir::predicateJudge<Longer>("longer").table;
    CHECK(table.size == sizeof table);
    CHECK(text(table.key) == "longer");
    void* state = nullptr;
    FakeError error;
    REQUIRE(create(table, "header", "x-user", "four", state, error) == WEIR_OK);
    CHECK(table.judge(state, str("fifth")) == 1);
    CHECK(table.judge(state, str("four")) == 0);
    CHECK(table.judge(state, {}) == 0);
    table.destroy(state);
}

TEST_CASE("an operator sees blank values only when it says so") {
    CHECK(weir::predicateJudge<Longer>("longer").table.blanks == 0);
    CHECK(weir::predicateJudge<Longer>("longer", {.blanks = true}).table.blanks == 1);
}

TEST_CASE("a condition that an operator throws at is refused with the reason") {
    const weir_predicate_judge table = weir::predicateJudge<Longer>("longer").table;
    struct Row {
        const char* type;
        const char* value;
        const char* error;
    };
    for (const Row& row : {Row{"cookie", "a", "sid is a cookie"},
                           Row{"header", "?", "an exception of an unknown type"}}) {
        void* state = nullptr;
        FakeError error;
        CHECK(create(table, row.type, "sid", row.value, state, error) == WEIR_INVALID);
        CHECK(state == nullptr);
        CHECK(error.whole() == row.error);
    }
}

TEST_CASE("an operator that throws at a value does not hold for it, and is logged") {
    const weir_predicate_judge table = weir::predicateJudge<Strict>("strict").table;
    const weir_condition condition{sizeof(weir_condition), 0, str("header"), str("a"), str("b")};
    void* state = nullptr;
    FakeError error;
    REQUIRE(table.create(&weir::test::loggingHost(), &condition, &state, error.raw()) == WEIR_OK);
    weir::test::loggedLines().clear();
    CHECK(table.judge(state, str("abcx")) == 1);
    CHECK(weir::test::loggedLines().empty());
    CHECK(table.judge(state, str("abc")) == 0);
    REQUIRE(weir::test::loggedLines().size() == 1);
    CHECK_THAT(weir::test::loggedLines()[0], Catch::StartsWith("3 judge() threw: "));
    table.destroy(state);
}
