#include "manage/pages.hpp"

#include "support/catch.hpp"
#include "unit/manage/fake_control.hpp"
#include "unit/manage/fake_status.hpp"

using namespace weir;
using namespace weir::manage;

namespace {

PageReply get(const FakeStatus& status, std::string_view target) {
    return Pages(status, {}, true).answer({"GET", target, ""}, 9196);
}

}  // namespace

TEST_CASE("health is 200 while the gateway serves and 503 before and after") {
    struct Row { ServingState state; int status; const char* body; };
    const Row rows[] = {
        {ServingState::Starting, 503,
         R"({"status":"STARTING","server":{"address":"127.0.0.1","port":0},"management":{"port":9196}})"},
        {ServingState::Up, 200,
         R"({"status":"UP","server":{"address":"127.0.0.1","port":9195},"management":{"port":9196}})"},
        {ServingState::Draining, 503,
         R"({"status":"DRAINING","server":{"address":"127.0.0.1","port":9195},"management":{"port":9196}})"},
    };
    FakeStatus status;
    for (const Row& row : rows) {
        status.now = row.state;
        PageReply reply = get(status, "/actuator/health?full=true");
        CHECK(reply.status == row.status);
        CHECK(reply.body == row.body);
    }
}

TEST_CASE("/plugins lists the plugins, /spi everything that modules provide") {
    const std::string global = R"({"interface":"Plugin","key":"global","order":-1,"module":"global","version":"0.1.0",)"
                               R"("state":"active","file":"/m/global.so","generation":1,)"
                               R"("since":"2026-11-30T00:00:00Z"})";
    FakeStatus status;
    CHECK(get(status, "/plugins").body == "[" + global + "]");
    CHECK(get(status, "/spi").body == R"([{"interface":"LoadBalancer","key":"hash","module":"load-balancer",)"
                                      R"("version":"0.1.0","state":"active","file":"/m/load-balancer.so","generation":1,)"
                                      R"("since":"2026-11-30T00:00:00Z"},)" + global + "]");
}

TEST_CASE("other paths are 404, other methods 405 with Allow") {
    FakeStatus status;
    for (const char* target : {"/", "", "/actuator", "/actuator/health/", "/plugins/x", "/plugins/", "/plugins/global/x", "http://a/plugins", "?"}) {
        INFO(target);
        CHECK(get(status, target).status == 404);
    }
    CHECK(Pages(status, {}, true).answer({"POST", "/plugins/global", ""}, 9196).status == 405);
    for (const char* method : {"POST", "PUT", "DELETE", "get"}) {
        INFO(method);
        PageReply reply = Pages(status, {}, true).answer({method, "/plugins", ""}, 9196);
        CHECK(reply.status == 405);
        CHECK(reply.allow == "GET");
    }
}

TEST_CASE("off loopback nothing is read without the token") {
    struct Row { const char* authorization; int status; };
    const Row rows[] = {
        {"Bearer secret", 200}, {"bearer secret", 200}, {"", 401},          {"Bearer", 401},       {"Bearer ", 401},
        {"Bearer secre", 401},  {"Bearer secrets", 401}, {"secret", 401},   {"Basic secret", 401},
        {"Bearer Secret", 401},
        {"Bearer secretsecret", 401},
    };
    FakeStatus status;
    const Pages pages(status, config::Secret("secret"), false);
    for (const Row& row : rows) {
        INFO(row.authorization);
        for (const char* target : {"/actuator/health", "/plugins", "/plugins/global", "/spi"}) {
            PageReply reply = pages.answer({"GET", target, row.authorization}, 9196);
            CHECK(reply.status == row.status);
            CHECK(reply.challenge.empty() == (row.status == 200));
            CHECK(reply.body.find("secret") == std::string::npos);
        }
    }
    CHECK(pages.answer({"GET", "/no/such/page", ""}, 9196).status == 401);
}

TEST_CASE("/upstreams is there where somebody tells of them, and needs the token off loopback as the others do") {
    FakeStatus status;
    FakeControl control;
    struct NoUpstreams final : UpstreamSource {
        std::vector<std::shared_ptr<const upstream::SetCatalog::Set>> upstreamSets() const override { return {}; }
        std::shared_ptr<const upstream::AddressList> addressesOf(const upstream::Server&) const override {
            return nullptr;
        }
    } none;
    Controls controls{.data = &control, .upstreams = &none};
    CHECK(Pages(status, {}, true, controls).answer({"GET", "/upstreams", ""}, 9196).body == "[]");
    CHECK(Pages(status, {}, true, controls).answer({"POST", "/upstreams", ""}, 9196).status == 405);
    CHECK(Pages(status, config::Secret("s"), false, controls).answer({"GET", "/upstreams", ""}, 9196).status == 401);
    CHECK(get(status, "/upstreams").status == 404);
}

TEST_CASE("off loopback without a token set, the answer names the setting") {
    FakeStatus status;
    PageReply reply = Pages(status, {}, false).answer({"GET", "/plugins", "Bearer "}, 9196);
    CHECK(reply.status == 403);
    CHECK(reply.body.find("weir.management.token") != std::string::npos);
}
