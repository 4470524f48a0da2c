// `weir explain` and POST /explain: what would become of a request, and why.
#include "functional/proxy_config.hpp"
#include "support/catch.hpp"
#include "support/gateway_process.hpp"
#include "support/recording_upstream.hpp"

using namespace weir::support;
using namespace weir::functional;
using Catch::Contains;

namespace {

constexpr const char* kYaml = R"(
plugins:
  - name: contextPath
    selectors:
      - name: shop
        conditions: [{paramType: uri, operator: startsWith, paramValue: /shop/}]
        rules: [{name: strip, handle: {contextPath: /shop}}]
  - name: divide
    selectors:
      - {name: off, enabled: false, conditions: [{paramType: uri, operator: startsWith, paramValue: /}]}
      - name: beta
        conditions:
          - {paramType: uri, operator: pathPattern, paramValue: /shop/**}
          - {paramType: header, paramName: X-Beta, operator: "=", paramValue: "yes"}
        handle: [{upstreamUrl: "127.0.0.1:2"}]
        rules: [{name: all}]
      - name: shop
        conditions: [{paramType: uri, operator: pathPattern, paramValue: /shop/**}]
        handle: [{upstreamUrl: "127.0.0.1:1"}]
        rules:
          - {name: reads, conditions: [{paramType: req_method, operator: "=", paramValue: GET}]}
          - {name: later, conditions: [{paramType: uri, operator: sounsLike, paramValue: /x}]}
)";

Finished explain(const std::vector<std::string>& arguments) {
    std::vector<std::string> words = {"explain"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    return runToEnd(WEIR_BINARY, words);
}

HttpMessage post(int port, const std::string& path, const std::string& body) {
    return RawClient(port).exchange("POST " + path + " HTTP/1.1\r\nHost: a\r\nContent-Length: " +
                                    std::to_string(body.size()) + "\r\n\r\n" + body);
}

}  // namespace

TEST_CASE("explain says of each plugin which selector and rule match, why others do not, and where it would go") {
    const TempDirectory directory;
    const std::string file = directory.write("weir.yaml", kYaml).string();
    const Finished plain = explain({"-c", file, "GET /shop/cart?id=3"});
    INFO(plain.output);
    REQUIRE(plain.exitCode == 0);
    CHECK_THAT(plain.output, Contains("GET /shop/cart?id=3, host localhost, from 127.0.0.1, RPC type http\n"));
    CHECK_THAT(plain.output, Contains("contextPath: entered, selector 'shop', rule 'strip', goes on\n"));
    CHECK_THAT(plain.output, Contains("divide: entered, selector 'shop', rule 'reads', goes on\n"));
    CHECK_THAT(plain.output, Contains("selector 'off': disabled\n"));
    CHECK_THAT(plain.output, Contains("selector 'beta': condition 2: header 'X-Beta' = 'yes', but it is ''\n"));
    CHECK_THAT(plain.output, Contains("rule 'later': waiting: ") && Contains("sounsLike"));
    CHECK_THAT(plain.output, Contains("httpClient: entered, calls the upstream\n"));
    CHECK_THAT(plain.output, Contains("=> 127.0.0.1:1 would be asked for /cart?id=3\n"));
    CHECK_THAT(plain.output, Contains("sounsLike"));  // the same warning as at a start

    const Finished beta = explain({"-c", file, "GET /shop/cart", "-H", "x-beta: yes"});
    CHECK_THAT(beta.output, Contains("selector 'beta': matched\n") && Contains("selector 'shop': outranked\n"));
    CHECK_THAT(beta.output, Contains("=> 127.0.0.1:2 would be asked for /cart\n"));

    const Finished post = explain({"-c", file, "POST /shop/cart", "-d", "{}"});
    CHECK_THAT(post.output, Contains("divide: no rule, selector 'shop'\n"));
    CHECK_THAT(post.output, Contains("rule 'reads': condition 1: req_method = 'GET', but it is 'POST'\n"));
    CHECK_THAT(post.output, Contains("=> response 404: {\"code\":-102,"));

    const Finished none = explain({"-c", file, "/other"});
    CHECK_THAT(none.output, Contains("divide: no selector\n") && Contains("=> response 404: {\"code\":-107,"));

    const Finished shenyu = explain({"-c", file, "/other", "--compat.errorStatus=shenyu"});
    CHECK_THAT(shenyu.output, Contains("=> response 200: {\"code\":-107,"));

    const Finished dubbo = explain({"-c", file, "/shop/cart", "-H", "rpc_type: dubbo"});
    CHECK_THAT(dubbo.output, Contains("divide: passed over, not for this RPC type\n"));
}

TEST_CASE("explain refuses what is no request, and a file that is not good") {
    const TempDirectory directory;
    const std::string file = directory.write("weir.yaml", kYaml).string();
    struct Row {
        std::vector<std::string> arguments;
        int exitCode;
        const char* error;
    };
    const std::string bad = directory.write("bad.yaml", "weir: {server: {prot: 1}}").string();
    const Row rows[] = {
        {{"-c", file, "GET"}, 78, "the gateway would not take it"},
        {{"-c", file, "GET /a b"}, 78, "the gateway would not take it"},
        {{"-c", file, "GET /../x"}, 78, "the gateway would not take it"},
        {{"-c", file, "TRACE /x"}, 78, "its method is not served"},
        {{"-c", file, "POST /x", "--server.methods=GET"}, 78, "its method is not served"},
        {{"-c", file, "OPTIONS *"}, 78, "answered by the gateway itself"},
        {{"-c", file, "/x", "-H", "a b: c"}, 78, "the gateway would not take it"},
        {{"-c", file, "/x", "-H", "Content-Length: 7\r\n\r\nGET /y"}, 78, "the gateway would not take it"},
        {{"-c", bad, "/x"}, 78, "prot"},
        {{"--url", "http://127.0.0.1:1", "/x"}, 69, "refused"},
    };
    for (const Row& row : rows) {
        const Finished finished = explain(row.arguments);
        INFO(row.arguments.back());
        CHECK(finished.exitCode == row.exitCode);
        CHECK_THAT(finished.output, Catch::Contains(row.error, Catch::CaseSensitive::No));
    }
}

TEST_CASE("a running gateway explains a request by call, sends nothing anywhere, and goes on as before") {
    const RecordingUpstream upstream;
    GatewayProcess gateway(proxyTo(upstream.address()));
    const auto before = gateway.descriptors();
    const std::string targets = gateway.descriptorTargets();
    const HttpMessage told = post(gateway.managementPort(), "/explain",
                                  R"({"request":"GET /http/x?y=1","headers":{"X-A":["1","2"]},"client":"10.1.2.3"})");
    CHECK(told.status() == 200);
    CHECK_THAT(told.body, Contains(R"("client":"10.1.2.3")"));
    CHECK_THAT(told.body, Contains(R"("upstream":{"url":")" + upstream.address() + R"(","path":"/x?y=1")"));
    CHECK(upstream.requests().empty());

    const std::string url = "http://127.0.0.1:" + std::to_string(gateway.managementPort());
    const Finished asked = explain({"--url", url, "GET /http/x"});
    CHECK(asked.exitCode == 0);
    CHECK_THAT(asked.output, Contains("=> " + upstream.address() + " would be asked for /x\n"));
    CHECK(explain({"--url", url, "GET"}).exitCode == 78);

    struct Row {
        const char* body;
        int status;
        const char* message;
    };
    const Row rows[] = {
        {"{", 400, "request body:"},
        {"[]", 400, "expected a map"},
        {"{}", 400, "request: expected a text"},
        {R"({"request":"GET /x","header":{}})", 400, R"(did you mean \"headers\")"},
        {R"({"request":"GET /x","headers":{"a":{}}})", 400, "headers.a: expected a text"},
        {R"({"request":"GET /x","limit":-1})", 400, "limit: expected a whole number"},
        {R"({"request":"GET x"})", 400, "the gateway would not take it"},
    };
    for (const Row& row : rows) {
        INFO(row.body);
        const HttpMessage refused = post(gateway.managementPort(), "/explain", row.body);
        CHECK(refused.status() == row.status);
        CHECK_THAT(refused.body, Contains(row.message));
    }
    CHECK(get(gateway.managementPort(), "/explain").status() == 405);
    for (int i = 0; i < 50; ++i) post(gateway.managementPort(), "/explain", R"({"request":"GET /http/x"})");
    const bool givenBack = eventually([&] { return gateway.descriptors() <= before + kThreadsOwn; });
    INFO("before:\n" << targets << "after:\n" << gateway.descriptorTargets());
    CHECK(givenBack);
    CHECK(get(gateway.port(), "/http/x").status() == 200);
}

TEST_CASE("metadata says what RPC type a path has, and explain which entry did") {
    const TempDirectory directory;
    const std::string file = directory.write("weir.yaml", std::string(kYaml) + R"(
metadata:
  - {path: /shop/**, rpcType: http, appName: shop}
  - {path: "/shop/{id}/price", rpcType: dubbo, appName: prices, serviceName: org.Prices}
  - {path: /shop/9/price, rpcType: grpc, enabled: false}
)").string();
    const auto told = [&](const std::string& path) { return explain({"-c", file, path}).output; };
    CHECK_THAT(told("/shop/cart"), Contains("RPC type http, metadata '/shop/**'"));
    CHECK_THAT(told("/shop/7/price"), Contains("RPC type dubbo, metadata '/shop/{id}/price'"));
    CHECK_THAT(told("/shop/7/price"), Contains("divide: passed over"));
    CHECK_THAT(told("/shop/9/price"), Contains("RPC type dubbo"));  // the disabled one does not count
    CHECK_THAT(told("/other"), Contains("RPC type http\n"));
}
