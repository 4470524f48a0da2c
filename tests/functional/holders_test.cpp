// A module that was replaced or removed while requests are suspended in it: who still holds on to it.
#include "base/value.hpp"
#include "functional/ext_folder.hpp"
#include "functional/proxy_config.hpp"
#include "support/catch.hpp"
#include "support/gateway_process.hpp"
#include "support/recording_upstream.hpp"

using namespace weir::support;
using namespace weir::functional;

namespace {

using weir::base::Value;

constexpr const char* kRequest = "GET /http/a HTTP/1.1\r\nHost: weir.test\r\n\r\n";

// The page of the module hello; null while there is none.
Value modulePage(const GatewayProcess& gateway) {
    const HttpMessage answer = get(gateway.managementPort(), "/plugins/hello");
    if (answer.status() != 200) return {};
    auto page = weir::base::parseJson(answer.body);
    if (!page.ok()) throw std::runtime_error(answer.body);
    return std::move(page).value();
}

std::string member(const Value& map, const char* key) {
    const Value* found = map.find(key);
    return found ? found->text() : "missing";
}

struct Held {
    std::string generation;
    std::size_t holders = 0;     // entries, one for each loop and snapshot
    std::int64_t requests = 0;   // of all of them
    std::int64_t seconds = -1;   // the oldest one's
    bool complete = true;        // each entry has all its numbers
};

Held heldBy(const Value& draining) {
    Held held{member(draining, "generation")};
    const Value* list = draining.find("holders");
    if (!list) throw std::runtime_error("no holders: " + weir::base::toJson(draining));
    for (const Value& holder : list->items()) {
        ++held.holders;
        for (const char* key : {"loop", "snapshot", "requests", "seconds"})
            held.complete = held.complete && holder.find(key) && holder.find(key)->toInt();
        held.requests += holder.find("requests")->toInt().value_or(0);
        held.seconds = std::max(held.seconds, holder.find("seconds")->toInt().value_or(-1));
    }
    return held;
}

// The generations of hello that drain, the one that serves not among them; a removed module's page is its draining one.
std::vector<Held> draining(const GatewayProcess& gateway) {
    const Value page = modulePage(gateway);
    std::vector<Held> all;
    if (!page.isObject()) return all;
    if (member(page, "state") == "draining") all.push_back(heldBy(page));
    for (const Value& each : page.find("draining")->items()) all.push_back(heldBy(each));
    return all;
}

// The only one that drains; an empty one when there is none.
Held drained(const GatewayProcess& gateway) {
    const std::vector<Held> all = draining(gateway);
    return all.size() == 1 ? all.front() : Held{};
}

// Holds all answers back until the gate opens.
RecordingUpstream::Serve gated(const Gate& gate) {
    return [&gate](RecordingUpstream::Connection& connection) {
        while (connection.next()) {
            if (!gate.wait()) return;
            connection.send(RecordingUpstream::ok("late"));
        }
    };
}

}  // namespace

TEST_CASE("a replaced module shows the requests suspended in it and their growing age until they have their answers") {
    Gate gate;
    const RecordingUpstream upstream(gated(gate));
    const ExtFolder folder;
    folder.copy(built("hello-1", "hello"), "hello.so");
    const GatewayProcess gateway(proxyTo(upstream.address()), folder.arguments());
    CHECK(draining(gateway).empty());

    std::vector<RawClient> early;
    for (int i = 0; i < 3; ++i) early.emplace_back(gateway.port()).send(kRequest);
    REQUIRE(upstream.waitForRequests(3));
    folder.rename(built("hello-2", "hello"), "hello.so");
    REQUIRE(eventually([&] { return draining(gateway).size() == 1; }));
    const Held held = drained(gateway);
    CHECK(held.generation == "1");
    CHECK(held.holders == 1);  // of the one event loop
    CHECK(held.requests == 3);
    CHECK(held.complete);
    CHECK(eventually([&] { return drained(gateway).seconds > held.seconds; }));

    early.back().resetOnClose();  // one client goes: its call is cancelled
    early.pop_back();
    CHECK(eventually([&] { return drained(gateway).requests == 2; }));

    RawClient late(gateway.port());  // what comes now runs on the new generation alone
    late.send(kRequest);
    REQUIRE(upstream.waitForRequests(4));
    CHECK(drained(gateway).requests == 2);

    gate.open();
    for (RawClient& client : early) CHECK(client.response().field("X-Hello") == "1");
    CHECK(late.response().field("X-Hello") == "2");
    CHECK(eventually([&] { return draining(gateway).empty(); }));
    CHECK(eventually([&] { return gateway.mappedFiles("/hello-").size() == 1; }));
}

TEST_CASE("a removed module shows its holders until they end, then its page is gone") {
    Gate gate;
    const RecordingUpstream upstream(gated(gate));
    const ExtFolder folder;
    folder.copy(built("hello-1", "hello"), "hello.so");
    const GatewayProcess gateway(proxyTo(upstream.address()), folder.arguments());
    RawClient client(gateway.port());
    client.send(kRequest);
    REQUIRE(upstream.waitForRequests(1));
    folder.remove("hello.so");
    REQUIRE(eventually([&] { return member(modulePage(gateway), "state") == "draining"; }));
    const Held held = drained(gateway);
    CHECK(held.requests == 1);
    CHECK(held.complete);
    CHECK(eventually([&] { return drained(gateway).seconds > held.seconds; }));

    gate.open();
    CHECK(client.response().field("X-Hello") == "1");
    CHECK(eventually([&] { return get(gateway.managementPort(), "/plugins/hello").status() == 404; }));
    CHECK(eventually([&] { return gateway.mappedFiles("/hello-").empty(); }));
}

TEST_CASE("each replaced generation shows the requests that began on it, and its own only") {
    Gate gate;
    const RecordingUpstream upstream(gated(gate));
    const ExtFolder folder;
    folder.copy(built("hello-1", "hello"), "hello.so");
    const GatewayProcess gateway(proxyTo(upstream.address()), folder.arguments());
    std::vector<RawClient> clients;
    clients.emplace_back(gateway.port()).send(kRequest);
    REQUIRE(upstream.waitForRequests(1));
    folder.rename(built("hello-2", "hello"), "hello.so");
    REQUIRE(eventually([&] { return draining(gateway).size() == 1; }));
    for (int i = 0; i < 2; ++i) clients.emplace_back(gateway.port()).send(kRequest);
    REQUIRE(upstream.waitForRequests(3));
    folder.rename(built("hello-1", "hello"), "hello.so");
    REQUIRE(eventually([&] { return draining(gateway).size() == 2; }));
    for (const Held& held : draining(gateway)) {
        INFO("generation " << held.generation);
        CHECK(held.requests == (held.generation == "1" ? 1 : 2));
    }
    gate.open();
    CHECK(clients[0].response().field("X-Hello") == "1");
    CHECK(clients[1].response().field("X-Hello") == "2");
    CHECK(clients[2].response().field("X-Hello") == "2");
    CHECK(eventually([&] { return draining(gateway).empty(); }));
}
