// The examples of the modules' pages, as they are, do what the pages say.
#include <fstream>
#include <iterator>

#include "support/catch.hpp"
#include "support/gateway_process.hpp"
#include "support/recording_upstream.hpp"

using namespace weir::support;

namespace {

// samples/modules/<name>.yaml, with another upstream than the order service.
std::string sample(const std::string& name, const std::string& upstream) {
    std::ifstream file(std::string(WEIR_SAMPLES) + "/modules/" + name + ".yaml");
    std::string text{std::istreambuf_iterator<char>(file), {}};
    const std::string service = "127.0.0.1:8189";
    for (std::size_t at = text.find(service); at != text.npos; at = text.find(service, at + upstream.size()))
        text.replace(at, service.size(), upstream);
    return text;
}

std::string get(const std::string& target, const std::string& field = "") {
    return "GET " + target + " HTTP/1.1\r\nHost: a\r\n" + (field.empty() ? "" : field + "\r\n") + "\r\n";
}

bool has(const HttpMessage& answer, const std::string& part) {
    const std::size_t colon = part.find(": ");
    return answer.body.find(part) != part.npos ||
           (colon != part.npos && answer.field(part.substr(0, colon)) == part.substr(colon + 2));
}

}  // namespace

TEST_CASE("each module's example does what its page says") {
    struct Row {
        const char* module;
        std::string request;
        int status;
        const char* part;       // of the answer's body, or "Name: value" of its fields
        const char* startLine;  // of what the upstream gets; "": nothing
    };
    const std::string json = R"({"id":7,"name":"n","internal":1})";
    const std::string mapped = R"({"orderId":"7","debug":true})";
    const Row rows[] = {
        {"contextPath", get("/http/findById?id=7"), 200, "", "GET /order/findById?id=7 HTTP/1.1"},
        {"rewrite", get("/http/orders/7"), 200, "", "GET /order/path/7 HTTP/1.1"},
        {"rewrite", get("/http/order/x"), 200, "", "GET /order/x HTTP/1.1"},
        {"cache", get("/http/order/a"), 200, "name", "GET /order/a HTTP/1.1"},
        {"modifyResponse", get("/http/order/a"), 200, R"({"id":7,"source":"orders","title":"n"})",
         "GET /order/a HTTP/1.1"},
        {"paramMapping",
         "POST /http/order/save HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: " +
             std::to_string(mapped.size()) + "\r\n\r\n" + mapped,
         200, "", "POST /order/save HTTP/1.1"},
        {"global", get("/http/order/a"), 200, "", "GET /order/a HTTP/1.1"},
        {"global", get("/http/grpc/find"), 502, "-103", ""},
        {"response", get("/http/order/a"), 502, "-103", ""},
        {"cross", get("/http/order/a", "Origin: https://shop.example.com"), 200,
         "Access-Control-Allow-Origin: https://shop.example.com", "GET /order/a HTTP/1.1"},
        {"request", get("/http/order/a?id=7"), 200, "", "GET /order/a?id=7&source=gateway HTTP/1.1"},
        {"generalContext", get("/dubbo/find", "rpc_type: dubbo"), 502, "-103", ""},
        {"mock", get("/http/order/list", "X-User: u7"), 200, R"({"for": "u7",)", ""},
        {"mock", get("/http/order/a"), 200, "name", "GET /order/a HTTP/1.1"},
        {"redirect", get("/old/docs/"), 301, "Location: https://docs.example.org/", ""},
        {"redirect", get("/old/orders/?id=7"), 200, "", "GET /order/findById?id=7 HTTP/1.1"},
        {"divide", get("/http/order/a"), 200, "", "GET /order/a HTTP/1.1"},
        {"httpClient", get("/http/order/a"), 200, "", "GET /http/order/a HTTP/1.1"},
        {"load-balancer", get("/http/order/a"), 200, "", "GET /order/a HTTP/1.1"},
    };
    for (const Row& row : rows) {
        INFO(row.module << ": " << row.request);
        RecordingUpstream upstream([&](const HttpMessage&) { return RecordingUpstream::ok(json); });
        const GatewayProcess gateway(sample(row.module, upstream.address()), {"--extPlugin.enabled=false"});
        const HttpMessage answer = RawClient(gateway.port()).exchange(row.request);
        CHECK(answer.status() == row.status);
        INFO(answer.body);
        CHECK(has(answer, row.part));
        const auto seen = upstream.requests();
        CHECK(seen.size() == (row.startLine[0] ? 1 : 0));
        if (!seen.empty()) CHECK(seen[0].startLine == row.startLine);
        if (std::string(row.module) == "cache") {
            CHECK(RawClient(gateway.port()).exchange(row.request).count("Age") == 1);
            CHECK(upstream.requests().size() == 1);
        }
        if (std::string(row.module) == "paramMapping") CHECK(seen.at(0).body == R"({"source":"gateway","id":"7"})");
    }
}
