#include "manage/management_server.hpp"

#include "support/catch.hpp"
#include "support/wire_connection.hpp"
#include "unit/manage/fake_control.hpp"
#include "unit/manage/fake_status.hpp"

using namespace weir;
using namespace weir::manage;
using support::RawClient;

namespace {

config::Settings::Management onFreePort() {
    config::Settings::Management settings;
    settings.port = 0;
    return settings;
}

std::string problem(ManagementServer& server) {
    auto started = server.start();
    return started ? "" : started.error().text();
}

}  // namespace

TEST_CASE("the management port answers over HTTP and closes after each answer") {
    FakeStatus status;
    ManagementServer server(onFreePort(), status);
    CHECK(server.port() == 0);
    REQUIRE(problem(server) == "");
    CHECK(server.address() == "127.0.0.1:" + std::to_string(server.port()));
    auto health = support::get(server.port(), "/actuator/health");
    CHECK(health.status() == 200);
    CHECK(health.field("Content-Type") == "application/json");
    CHECK_THAT(health.body, Catch::Contains("\"management\":{\"port\":" + std::to_string(server.port()) + "}"));
    CHECK(support::get(server.port(), "/nope").status() == 404);

    RawClient posting(server.port());
    auto refused = posting.exchange("POST /spi HTTP/1.1\r\nHost: a\r\nContent-Length: 30\r\n\r\n"
                                    "GET /spi HTTP/1.1\r\nHost: a\r\n\r\n");
    CHECK(refused.status() == 405);
    CHECK(refused.field("Allow") == "GET");
    CHECK(posting.closedByPeer());
    RawClient asking(server.port());
    CHECK(asking.exchange("HEAD /spi HTTP/1.1\r\nHost: a\r\n\r\n", true).status() == 200);
}

TEST_CASE("a port in use is an error that names it") {
    FakeStatus status;
    ManagementServer first(onFreePort(), status);
    REQUIRE(problem(first) == "");
    config::Settings::Management same;
    same.port = first.port();
    ManagementServer second(same, status);
    CHECK(problem(second) == "127.0.0.1:" + std::to_string(first.port()) +
                                 ": cannot listen (management): Address already in use");
    CHECK(second.port() == 0);
}

TEST_CASE("an address that is none is an error") {
    FakeStatus status;
    auto settings = onFreePort();
    settings.address = "1::2::3";
    ManagementServer server(settings, status);
    CHECK_THAT(problem(server), Catch::Contains("1::2::3"));
}

TEST_CASE("an address off loopback asks for the token") {
    FakeStatus status;
    auto settings = onFreePort();
    settings.address = "0.0.0.0";
    settings.token = config::Secret("t");
    ManagementServer server(settings, status);
    REQUIRE(problem(server) == "");
    auto refused = support::get(server.port(), "/spi");
    CHECK(refused.status() == 401);
    CHECK(refused.has("WWW-Authenticate"));
    RawClient client(server.port());
    CHECK(client.exchange("GET /spi HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer t\r\n\r\n").status() == 200);
}

TEST_CASE("stopping cuts clients that say nothing or little") {
    FakeStatus status;
    ManagementServer server(onFreePort(), status);
    REQUIRE(problem(server) == "");
    RawClient silent(server.port());
    RawClient slow(server.port());
    slow.send("GET /actua");
    // Answered after those two were accepted.
    CHECK(support::get(server.port(), "/spi").status() == 200);
    const int port = server.port();
    server.stop();
    CHECK(silent.closedByPeer());
    CHECK(slow.closedByPeer());
    CHECK_FALSE(support::accepts(port));
    CHECK(server.port() == 0);
}

TEST_CASE("local calls come in over HTTP, with a length, in chunks or without a body") {
    FakeStatus status;
    FakeControl control;
    ManagementServer server(onFreePort(), status, {&control, nullptr, false}, config::Secret(kSampleHash));
    REQUIRE(problem(server) == "");
    const std::string head = "POST /shenyu/plugin/saveOrUpdate HTTP/1.1\r\nHost: a\r\nlocalkey: 123456\r\n";
    CHECK(RawClient(server.port()).exchange(head + "Content-Length: 12\r\n\r\n{\"name\":\"a\"}").body == "success");
    CHECK(RawClient(server.port())
              .exchange(head + "Transfer-Encoding: chunked\r\n\r\n5\r\n{\"nam\r\n7\r\ne\":\"b\"}\r\n0\r\n\r\n")
              .body == "success");
    CHECK(RawClient(server.port()).exchange(head + "\r\n").status() == 400);
    const std::string large(5 * 1024 * 1024, ' ');
    CHECK(RawClient(server.port())
              .exchange(head + "Content-Length: " + std::to_string(large.size()) + "\r\n\r\n" + large)
              .status() == 413);
    CHECK(control.store.data().plugins.size() == 2);
}
