// The samples that conditions use, as they are built.
#include <cstring>
#include <string>
#include <utility>

#include "support/catch.hpp"
#include "unit/plugins/loaded_module.hpp"

using weir::test::FakeError;
using weir::test::FakeExchange;
using weir::test::fakeHost;
using weir::test::LoadedModule;
using weir::test::str;
using weir::test::text;

namespace {

template <class List>
const auto& firstTable(const LoadedModule& module, const char* interface) {
    const auto* list = static_cast<const List*>(module.find(interface));
    REQUIRE(list);
    REQUIRE(list->count == 1);
    return *list->items[0];
}

const weir_predicate_judge& ipRange() {
    static const LoadedModule module("ip-range-operator", WEIR_TEST_SAMPLES);
    return firstTable<weir_predicate_judge_list>(module, WEIR_INTERFACE_PREDICATE_JUDGE);
}

weir_status createIpRange(const char* list, void*& state, FakeError& error) {
    const weir_condition condition{sizeof(weir_condition), 0, str("ip"), str(""), str(list)};
    return ipRange().create(&fakeHost(), &condition, &state, error.raw());
}

const weir_parameter_data& tenant() {
    static const LoadedModule module("tenant-parameter", WEIR_TEST_SAMPLES);
    return firstTable<weir_parameter_data_list>(module, WEIR_INTERFACE_PARAMETER_DATA);
}

// The answers of conditions, and how often they were asked.
struct FakeConditions : weir_conditions {
    explicit FakeConditions(const char* text)
        : weir_conditions{sizeof(weir_conditions), static_cast<std::uint32_t>(std::strlen(text)), &holdsOf},
          answers(text) {}
    static std::int32_t holdsOf(const weir_conditions* raw, std::uint32_t index) {
        const auto& self = static_cast<const FakeConditions&>(*raw);
        ++self.asked;
        return self.answers.at(index) == '+';
    }
    std::string answers;
    mutable int asked = 0;
};

}  // namespace

TEST_CASE("the ipRange sample takes addresses within its blocks and no others") {
    struct Row {
        const char* list;
        const char* value;
        bool holds;
    };
    const Row rows[] = {
        {"10.0.0.0/8", "10.255.0.1", true},
        {"10.0.0.0/8", "11.0.0.0", false},
        {"10.1.2.3/8", "10.9.9.9", true},
        {"192.168.1.7", "192.168.1.7", true},
        {"192.168.1.7", "192.168.1.8", false},
        {"172.16.0.0/12", "172.31.255.255", true},
        {"172.16.0.0/12", "172.32.0.0", false},
        {"10.0.0.0/8 ,\t2001:db8::/33", "2001:db8:7fff::1", true},
        {"10.0.0.0/8, 2001:db8::/33", "2001:db8:8000::1", false},
        {"::1", "0:0:0:0:0:0:0:1", true},
        {"0.0.0.0/0", "255.1.2.3", true},
        {"0.0.0.0/0", "::1", false},
        {"::/0", "fe80::1", true},
        {"::/0", "1.2.3.4", false},
        {"10.0.0.0/8", "::ffff:10.1.2.3", true},
        {"::ffff:10.0.0.0/104", "10.1.2.3", true},
        {"::ffff:10.0.0.0/104", "11.1.2.3", false},
        {"10.0.0.0/8", "", false},
        {"10.0.0.0/8", "localhost", false},
        {"10.0.0.0/8", "10.1.2.3:80", false},
        {"10.0.0.0/8", " 10.1.2.3", false},
        {"10.0.0.0/8", "a text that is far longer than any address can be written, 10.0.0.1", false},
    };
    for (const Row& row : rows) {
        INFO(row.list << " " << row.value);
        void* state = nullptr;
        FakeError error;
        REQUIRE(createIpRange(row.list, state, error) == WEIR_OK);
        CHECK(ipRange().judge(state, str(row.value)) == row.holds);
        ipRange().destroy(state);
    }
    CHECK(ipRange().blanks == 0);
}

TEST_CASE("the ipRange sample refuses a list with anything else in it") {
    struct Row {
        const char* list;
        const char* item;
    };
    const Row rows[] = {
        {"", "''"},
        {"10.0.0.0/8,", "''"},
        {"10.0.0.0/33", "'10.0.0.0/33'"},
        {"::/129", "'::/129'"},
        {"10.0.0.0/", "'10.0.0.0/'"},
        {"10.0.0.0/-1", "'10.0.0.0/-1'"},
        {"10.0.0.0/8x", "'10.0.0.0/8x'"},
        {"::1, 10.0.0.0/255.0.0.0", "'10.0.0.0/255.0.0.0'"},
        {"10.0.0", "'10.0.0'"},
        {"::1 ::2", "'::1 ::2'"},
        {"localhost", "'localhost'"},
    };
    for (const Row& row : rows) {
        void* state = nullptr;
        FakeError error;
        INFO(row.list);
        CHECK(createIpRange(row.list, state, error) == WEIR_INVALID);
        CHECK(error.whole() == std::string("expected addresses and CIDR blocks between commas, found ") + row.item);
    }
}

TEST_CASE("the tenant sample reads the label in front of its domain") {
    void* state = nullptr;
    FakeError error;
    REQUIRE(tenant().create(&fakeHost(), str("Shop.example"), &state, error.raw()) == WEIR_OK);
    struct Row {
        const char* host;
        const char* tenant;
    };
    const Row rows[] = {
        {"acme.shop.example", "acme"},
        {"Acme.SHOP.example:8443", "acme"},
        {"acme.shop.example.", "acme"},
        {"a-7.shop.example", "a-7"},
        {"shop.example", ""},
        {".shop.example", ""},
        {"www.acme.shop.example", ""},
        {"workshop.example", ""},
        {"acme.shop.example.org", ""},
        {"[::1]:80", ""},
        {"", ""},
    };
    for (const Row& row : rows) {
        FakeExchange exchange("/", {{"Host", row.host}});
        INFO(row.host);
        CHECK(text(tenant().read(state, &exchange)) == row.tenant);
    }
    const std::string longest(63, 'A');
    for (const auto& [label, wanted] : {std::pair{longest, std::string(63, 'a')}, {longest + "A", std::string()}}) {
        FakeExchange exchange("/", {{"Host", label + ".shop.example"}});
        CHECK(text(tenant().read(state, &exchange)) == wanted);
    }
    FakeExchange without;
    CHECK(text(tenant().read(state, &without)).empty());
    tenant().destroy(state);
}

TEST_CASE("the tenant sample refuses to be without a domain") {
    void* state = nullptr;
    FakeError error;
    CHECK(tenant().create(&fakeHost(), str(""), &state, error.raw()) == WEIR_INVALID);
    CHECK(error.whole() == "paramName is empty, expected the domain that tenants are in");
    CHECK(tenant().create(&fakeHost(), str(".example"), &state, error.raw()) == WEIR_INVALID);
    CHECK(error.whole() == "paramName begins with '.', expected a domain's name");
}

TEST_CASE("the majority sample matches when more than half of the conditions hold") {
    const LoadedModule module("majority-strategy", WEIR_TEST_SAMPLES);
    const auto& table = firstTable<weir_match_strategy_list>(module, WEIR_INTERFACE_MATCH_STRATEGY);
    void* state = nullptr;
    FakeError error;
    REQUIRE(table.create(&fakeHost(), &state, error.raw()) == WEIR_OK);
    struct Row {
        const char* answers;
        bool matches;
        int asked;
    };
    const Row rows[] = {
        {"", false, 0},     {"+", true, 1},     {"-", false, 1},    {"+-", false, 2},  {"-+", false, 1},
        {"++-", true, 2},   {"+-+", true, 3},   {"--+", false, 2},  {"++--", false, 4}, {"-+++", true, 4},
        {"--++-", false, 5}, {"---++", false, 3},
    };
    for (const Row& row : rows) {
        const FakeConditions conditions(row.answers);
        INFO(row.answers);
        CHECK(table.match(state, &conditions) == row.matches);
        CHECK(conditions.asked == row.asked);
    }
    table.destroy(state);
}
