#include "manage/management_client.hpp"

#include "manage/management_server.hpp"
#include "support/catch.hpp"
#include "support/recording_upstream.hpp"
#include "support/wire_connection.hpp"
#include "unit/manage/fake_status.hpp"

using namespace weir;
using namespace weir::manage;
using support::RecordingUpstream;

namespace {

ManagementAddress at(const std::string& address) {
    auto parsed = parseManagementUrl("http://" + address);
    REQUIRE(parsed);
    return *parsed;
}

// What a client says about whoever answers with these bytes and closes.
std::string problemWith(const std::string& bytes, const config::Secret& token = {}) {
    RecordingUpstream other([&](RecordingUpstream::Connection& connection) {
        if (connection.message()) connection.send(bytes);
    });
    const ManagementAddress address = at(other.address());
    const auto rows = fetchModuleRows(address, token);
    if (rows) return "";
    CHECK(rows.error().origin == "http://" + other.address());
    return rows.error().message;
}

std::string reply(const std::string& status, const std::string& body) {
    return "HTTP/1.1 " + status + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

}  // namespace

TEST_CASE("a management URL is http, a host and a port") {
    struct Row { const char* url; const char* host; int port; };
    const Row good[] = {
        {"http://127.0.0.1:9196", "127.0.0.1", 9196},
        {"http://gateway.example:1/", "gateway.example", 1},
        {"http://[::1]:9196", "::1", 9196},
        {"http://localhost", "localhost", 80},
    };
    for (const Row& row : good) {
        INFO(row.url);
        const auto parsed = parseManagementUrl(row.url);
        REQUIRE(parsed);
        CHECK(parsed->host == row.host);
        CHECK(parsed->port == row.port);
    }
    for (const char* url : {"", "x", "127.0.0.1:9196", "https://a:1", "http://", "http://:1", "http://a:0", "http://a:99999",
                            "http://a:b", "http://a/plugins", "http://u@a:1", "http://a?x", "http://a#x", "ftp://a"}) {
        INFO(url);
        const auto parsed = parseManagementUrl(url);
        REQUIRE_FALSE(parsed);
        CHECK(parsed.error().text() == (*url ? std::string(url) + ": " : "") +
                                           "expected a URL like http://127.0.0.1:9196");
    }
}

TEST_CASE("the client reads the rows of a management server") {
    const FakeStatus status;
    config::Settings::Management settings;
    settings.port = 0;
    ManagementServer server(settings, status);
    REQUIRE(server.start());
    const auto rows = fetchModuleRows(at(server.address()), {});
    REQUIRE(rows);
    REQUIRE(rows->items().size() == 2);
    CHECK(rows->items()[1].find("module")->text() == "global");
}

TEST_CASE("the client shows its token to a server that asks for it") {
    const FakeStatus status;
    config::Settings::Management settings;
    settings.address = "0.0.0.0";
    settings.port = 0;
    settings.token = config::Secret("right");
    ManagementServer server(settings, status);
    REQUIRE(server.start());
    const ManagementAddress address = at("127.0.0.1:" + std::to_string(server.port()));
    CHECK(fetchModuleRows(address, config::Secret("right")));
    struct Row { const char* token; const char* says; };
    for (const Row& row : {Row{"wrong", "not correct"}, Row{"", "WEIR_MANAGEMENT_TOKEN"}}) {
        const auto refused = fetchModuleRows(address, config::Secret(row.token));
        REQUIRE_FALSE(refused);
        CHECK(refused.error().code == base::ErrorCode::InvalidConfig);
        CHECK_THAT(refused.error().text(), Catch::Contains(row.says) && !Catch::Contains("wrong"));
    }
    settings.token = {};
    ManagementServer closed(settings, status);
    REQUIRE(closed.start());
    const auto refused = fetchModuleRows(at("127.0.0.1:" + std::to_string(closed.port())), config::Secret("any"));
    REQUIRE_FALSE(refused);
    CHECK_THAT(refused.error().text(), Catch::Contains("weir.management.token"));
}

TEST_CASE("who is no management port is told as such") {
    const std::string stranger = "what answers there is not a Weir management port";
    const std::string good = R"({"interface":"","key":"","module":"m","version":"","state":"refused"})";
    CHECK(problemWith(reply("200 OK", "[" + good + "]")) == "");
    CHECK(problemWith(reply("200 OK", "[]")) == "");
    struct Row { std::string bytes; std::string says; };
    const Row rows[] = {
        {reply("200 OK", "<html>"), stranger},
        {reply("200 OK", "{}"), stranger},
        {reply("200 OK", "[1]"), stranger},
        {reply("200 OK", "[" + good + ",{}]"), stranger},
        {reply("200 OK", R"([{"interface":"","key":[],"module":"m","version":"","state":""}])"), stranger},
        {reply("404 Not Found", "[]"), stranger},
        {reply("302 Found", ""), stranger},
        {"SSH-2.0-OpenSSH\r\n", "what answers there does not speak HTTP"},
        {"", "it closed the connection without an answer"},
    };
    for (const Row& row : rows) {
        INFO(row.bytes);
        CHECK(problemWith(row.bytes) == row.says);
    }
}

TEST_CASE("a port on which nobody listens is told as such") {
    const auto rows = fetchModuleRows(at("127.0.0.1:" + std::to_string(support::unusedPort())), {});
    REQUIRE_FALSE(rows);
    CHECK_THAT(rows.error().text(), Catch::Contains("refused"));
}
