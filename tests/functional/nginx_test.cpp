// A real server behind the gateway instead of a script.
#include "functional/proxy_config.hpp"
#include "support/catch.hpp"
#include "support/gateway_process.hpp"
#include "support/nginx_server.hpp"
#include "support/wire_connection.hpp"

using namespace weir::support;
using namespace weir::functional;

TEST_CASE("nginx behind the gateway answers as it does without it") {
    NginxServer nginx("location /text { return 200 hello; } location /moved { return 302 /text; }");
    nginx.root().write("large.bin", std::string(1 << 20, 'n'));
    GatewayProcess gateway(proxyTo(nginx.address()));
    for (auto target : {"/text", "/large.bin", "/moved", "/nothing"}) {
        INFO(target);
        auto direct = get(nginx.port(), target);
        auto proxied = get(gateway.port(), std::string("/http") + target);
        CHECK(proxied.status() == direct.status());
        CHECK(proxied.body == direct.body);
        CHECK(proxied.field("Content-Type") == direct.field("Content-Type"));
        CHECK(proxied.field("Content-Length") == direct.field("Content-Length"));
        CHECK(proxied.field("ETag") == direct.field("ETag"));
    }
}

TEST_CASE("nginx takes a large body in chunks through the gateway") {
    // It proxies to itself, which makes it read the whole body and count it.
    NginxServer nginx("location /count { proxy_pass http://unix:/nonexistent; error_page 502 =200 /length; }\n"
                      "location /length { return 200 \"$request_length\"; }");
    GatewayProcess gateway(proxyTo(nginx.address()));
    RawClient client(gateway.port());
    std::string body;
    const std::string chunk = "10000\r\n" + std::string(0x10000, 'c') + "\r\n";
    for (int i = 0; i < 32; ++i) body += chunk;
    auto answer = client.exchange("POST /http/count HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + body +
                                  "0\r\n\r\n");
    CHECK(answer.status() == 200);
    CHECK(std::stoul(answer.body) > 32 * 0x10000);
}

TEST_CASE("many requests over few connections through to nginx all succeed") {
    NginxServer nginx("keepalive_requests 7; location / { return 200 $request_uri; }");  // it closes now and then
    GatewayProcess gateway(proxyTo(nginx.address()));
    RawClient client(gateway.port());
    int right = 0;
    for (int i = 0; i < 500; ++i) {
        auto target = "/n/" + std::to_string(i);
        auto answer = client.exchange("GET /http" + target + " HTTP/1.1\r\nHost: a\r\n\r\n");
        right += answer.status() == 200 && answer.body == target;
    }
    CHECK(right == 500);
}
