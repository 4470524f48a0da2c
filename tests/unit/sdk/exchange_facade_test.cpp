#include "weir/exchange.hpp"

#include <new>
#include <string>

#include "support/catch.hpp"
#include "unit/sdk/fake_host.hpp"
#include "weir/arena_allocator.hpp"

using weir::Exchange;
using weir::test::FakeExchange;

namespace {

Exchange& facadeOf(FakeExchange& exchange) {
    weir::detail::hostTable = &weir::test::fakeHost();
    return Exchange::from(&exchange);
}

}  // namespace

TEST_CASE("metadata is there after it was found, with every member") {
    FakeExchange fake;
    fake.metadataPath = "/order/save";
    Exchange& exchange = facadeOf(fake);
    CHECK_FALSE(exchange.metadata());
    CHECK(exchange.findMetadata("/order/save"));
    const auto metadata = exchange.metadata();
    REQUIRE(metadata);
    CHECK(metadata->id == "/order/save");
    CHECK(metadata->appName == "app");
    CHECK(metadata->contextPath == "/context");
    CHECK(metadata->path == "/order/save");
    CHECK(metadata->rpcType == "grpc");
    CHECK(metadata->serviceName == "service");
    CHECK(metadata->methodName == "method");
    CHECK(metadata->parameterTypes == "types");
    CHECK(metadata->rpcExt == "{\"a\":1}");
}

TEST_CASE("metadata that is not found takes away what was found before") {
    FakeExchange fake;
    fake.metadataPath = "/a";
    Exchange& exchange = facadeOf(fake);
    REQUIRE(exchange.findMetadata("/a"));
    CHECK_FALSE(exchange.findMetadata("/b"));
    CHECK_FALSE(exchange.metadata());
}

TEST_CASE("a host's metadata that ends before this module's leaves the rest empty") {
    weir_host older = weir::test::fakeHost();
    older.metadata_get = [](weir_exchange*, weir_metadata* out) -> std::int32_t {
        out->path = weir::test::str("/a");
        return 1;
    };
    FakeExchange fake;
    Exchange& exchange = facadeOf(fake);
    weir::detail::hostTable = &older;
    const auto metadata = exchange.metadata();
    weir::detail::hostTable = &weir::test::fakeHost();
    REQUIRE(metadata);
    CHECK(metadata->path == "/a");
    CHECK(metadata->rpcExt.empty());
}

TEST_CASE("a text that is kept is a copy, whatever its size") {
    FakeExchange fake;
    Exchange& exchange = facadeOf(fake);
    for (const std::size_t size : {0, 1, 64, 1024, 5000}) {
        std::string text(size, 'x');
        const std::string_view kept = exchange.keep(text);
        CHECK(kept.data() != nullptr);
        CHECK(kept.data() != text.data());
        text.assign(size, 'y');
        CHECK(kept == std::string(size, 'x'));
    }
}

TEST_CASE("a text that no memory is left for is kept as nothing") {
    FakeExchange fake;
    fake.memory = false;
    CHECK(facadeOf(fake).keep("text").data() == nullptr);
}

TEST_CASE("containers in an exchange's memory grow in it and give their blocks back to it") {
    FakeExchange fake;
    Exchange& exchange = facadeOf(fake);
    std::size_t used = 0;
    for (int round = 0; round < 3; ++round) {
        weir::ArenaString text{weir::ArenaAllocator<char>(exchange)};
        weir::ArenaVector<int> numbers{weir::ArenaAllocator<int>(exchange)};
        for (int i = 0; i < 200; ++i) {
            text += std::to_string(i % 10);
            numbers.push_back(i);
        }
        CHECK(text.size() == 200);
        CHECK(text.starts_with("012345678901"));
        CHECK(numbers.back() == 199);
        CHECK(text.get_allocator() == numbers.get_allocator());
        if (round == 0) used = fake.blocks.size();
        CHECK(fake.blocks.size() == used);
    }
}

TEST_CASE("an allocator of an exchange's memory has a block for nothing too, and takes it back") {
    FakeExchange fake;
    weir::ArenaAllocator<char> memory(facadeOf(fake));
    char* block = memory.allocate(0);
    memory.deallocate(block, 0);
    CHECK(memory.allocate(1) == block);  // it is recycled as a small one
}

TEST_CASE("a container that no memory is left for throws std::bad_alloc") {
    FakeExchange fake;
    fake.memory = false;
    const weir::ArenaAllocator<char> memory(facadeOf(fake));
    CHECK_THROWS_AS(weir::ArenaString(100, 'x', memory), std::bad_alloc);
}

TEST_CASE("a module built with a newer SDK refuses a host that is too small for it") {
    weir_host small = weir::test::fakeHost();
    small.size = offsetof(weir_host, metadata_find);
    weir::test::FakeError error;
    CHECK(weir::detail::adoptHost(&small, error.raw()) == WEIR_INVALID);
    CHECK(error.text == "this module needs a newer gateway: it was built with a newer SDK");
    CHECK(weir::detail::hostTable != &small);
}
