#include "chain/host_table.hpp"

#include <cstdint>

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
