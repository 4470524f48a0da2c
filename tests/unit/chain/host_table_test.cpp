#include "chain/host_table.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include "chain_harness.hpp"
#include "support/catch.hpp"
#include "upstream/control_error.hpp"

using namespace weir;

TEST_CASE("a null pointer reads as a null value") {
    chain::ControlServices services;
    const chain::HostTable host(services);
    std::int64_t number = 7;
    CHECK(host.value_kind(nullptr) == WEIR_NULL);
    CHECK(host.value_size(nullptr) == 0);
    CHECK(host.value_at(nullptr, 0) == nullptr);
    CHECK(host.value_key_at(nullptr, 0).data == nullptr);
    CHECK(host.value_get(nullptr, {"a", 1}) == nullptr);
    CHECK(host.value_text(nullptr).size == 0);
    CHECK(host.value_int(nullptr, &number) == 0);
    CHECK(number == 7);
}

TEST_CASE("a text too large for memory is answered, not thrown into the module") {
    chain::ControlServices services;
    const chain::HostTable host(services);
    const weir_str text{"x", SIZE_MAX};
    weir_error error;
    std::uint32_t id = 0;
    host.error_set(&error, {"", 0}, text);
    host.unknown_key(&error, text);
    CHECK(error.text.empty());
    CHECK(host.attribute_id(&host, text) == UINT32_MAX);
    CHECK(host.balancer_find(&host, text, &id, &error) == WEIR_NO_MEMORY);

    weir_upstream upstream{};
    upstream.size = sizeof upstream;
    upstream.weight = 1;
    upstream.url = text;
    weir_upstream_set* set = nullptr;
    CHECK(host.upstream_set_create(&host, &upstream, 1, &set, &error) == WEIR_NO_MEMORY);
    CHECK(set == nullptr);
}

TEST_CASE("a name has one attribute id") {
    chain::ControlServices services;
    const chain::HostTable host(services);
    const std::uint32_t first = host.attribute_id(&host, {"a", 1});
    CHECK(host.attribute_id(&host, {"b", 1}) != first);
    CHECK(host.attribute_id(&host, {"a", 1}) == first);
}

TEST_CASE("JSON edits are compiled for a handle and applied within an exchange") {
    using weir::JsonEdit;
    chain::test::Harness h;
    weir_error error;
    weir::JsonEdits edits;
    const std::vector<JsonEdit> list{{JsonEdit::Change::Add, "add", "$.a", "k", "v"},
                                     {JsonEdit::Change::AddList, "add", "$", "l", "v"},
                                     {JsonEdit::Change::Rename, "replace", "$", "b", "c"},
                                     {JsonEdit::Change::Remove, "remove", "$.d", "", ""}};
    REQUIRE(edits.compile(list, &error));
    h.plain("edit", [&](weir::Exchange& exchange) {
        CHECK_FALSE(edits.apply(exchange, "not JSON"));
        const std::string text = R"({"a":{},"b":1.0,"d":"a text longer than a small one"})";
        return exchange.reply(200, edits.apply(exchange, text).value_or(""));
    });
    h.start();
    CHECK(h.exchange->response.body == R"({"a":{"k":"v"},"l":["v"],"c":1.0})");
    h.finish();
}

TEST_CASE("JSON edits are refused with the place in the handle and in the path") {
    chain::ControlServices services;
    const chain::HostTable host(services);
    weir_json_edit list[2]{};
    list[0] = {sizeof(weir_json_edit), WEIR_JSON_REMOVE, {"remove[0]", 9}, {"$.a", 3}, {}, {}};
    list[1] = {sizeof(weir_json_edit), WEIR_JSON_REMOVE, {"remove[1]", 9}, {"$", 1}, {}, {}};
    weir_json_edits* edits = nullptr;
    weir_error error;
    CHECK(host.json_edits_compile(&host, list, 2, &edits, &error) == WEIR_INVALID);
    CHECK(error.message() == "remove[1]: expected a path within the body, found $, which is all of it");
    list[0].change = 99;
    CHECK(host.json_edits_compile(&host, list, 2, &edits, &error) == WEIR_INVALID);
    CHECK(error.message() == "remove[0]: a change that this gateway does not know");
    CHECK(edits == nullptr);
}
