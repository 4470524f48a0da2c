#include "weir/parameter_data.hpp"

#include <stdexcept>
#include <string>

#include "support/catch.hpp"
#include "unit/sdk/fake_host.hpp"
#include "weir/module.hpp"

using weir::test::FakeError;
using weir::test::FakeExchange;
using weir::test::str;
using weir::test::text;

namespace {

int alive = 0;

// The header that the paramName says.
struct HeaderOf : weir::ParameterData {
    explicit HeaderOf(const std::string& paramName) : name(paramName) {
        if (name.empty()) throw std::invalid_argument("paramName is empty");
        ++alive;
    }
    ~HeaderOf() override { --alive; }
    std::string_view read(weir::Exchange& exchange) noexcept override {
        return exchange.request().header(name).value_or(std::string_view());
    }
    std::string name;
};

struct Missing : weir::ParameterData {
    explicit Missing(const std::string&) {}
    std::string_view read(weir::Exchange&) override { throw std::runtime_error("no tenant"); }
};

}  // namespace

TEST_CASE("a parameter type is made for a paramName and reads requests") {
    const weir_parameter_data table = weir::parameterData<HeaderOf>("headerOf").table;
    CHECK(table.size == sizeof table);
    CHECK(text(table.key) == "headerOf");

    std::string paramName = "x-tenant, and more, so that it is no small string";
    void* state = nullptr;
    FakeError error;
    REQUIRE(table.create(&weir::test::fakeHost(), {paramName.data(), 8}, &state, error.raw()) == WEIR_OK);
    paramName.assign(paramName.size(), '-');  // a view that goes with the call
    CHECK(alive == 1);
    FakeExchange with("/", {{"X-Tenant", "acme"}});
    FakeExchange without;
    CHECK(text(table.read(state, &with)) == "acme");
    CHECK(table.read(state, &without).data == nullptr);
    table.destroy(state);
    CHECK(alive == 0);
}

TEST_CASE("a paramName that a parameter type throws at is refused with the reason") {
    const weir_parameter_data table = weir::parameterData<HeaderOf>("headerOf").table;
    void* state = nullptr;
    FakeError error;
    CHECK(table.create(&weir::test::fakeHost(), str(""), &state, error.raw()) == WEIR_INVALID);
    CHECK(state == nullptr);
    CHECK(error.whole() == "paramName is empty");
    CHECK(table.create(&weir::test::fakeHost(), {}, &state, error.raw()) == WEIR_INVALID);
}

TEST_CASE("a value that a parameter type throws at is missing, and logged") {
    const weir_parameter_data table = weir::parameterData<Missing>("missing").table;
    void* state = nullptr;
    FakeError error;
    REQUIRE(table.create(&weir::test::loggingHost(), str("a"), &state, error.raw()) == WEIR_OK);
    weir::test::loggedLines().clear();
    FakeExchange exchange;
    CHECK(table.read(state, &exchange).size == 0);
    CHECK(weir::test::loggedLines() == std::vector<std::string>{"3 read() threw: no tenant"});
    table.destroy(state);
}
