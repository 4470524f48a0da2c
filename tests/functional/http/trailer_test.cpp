// Trailers (RFC 9110 6.5, 9112 7.1.2) are checked like header lines, limited, and end at the gateway.
#include "functional/http/http_rig.hpp"
#include "support/catch.hpp"

using namespace weir::support;
using namespace weir::functional;
using namespace std::string_literals;

namespace {

constexpr char kHead[] = "POST /s1/e HTTP/1.1\r\nHost: g\r\nTransfer-Encoding: chunked\r\nTrailer: X-T\r\n\r\n";
constexpr char kBody[] = "1\r\nZ\r\n0\r\n";

std::string replyWith(const std::string& trailers) {
    return "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-T\r\n\r\n1\r\nZ\r\n0\r\n" + trailers + "\r\n";
}

}  // namespace

TEST_CASE("no trailer of a request becomes a field of it") {
    RecordingUpstream upstream(echoBody());
    HttpRig rig(upstream);
    const auto seen = checkServed(rig, upstream,
                                  kHead + std::string(kBody) +
                                      "X-T: 1\r\nContent-Length: 9\r\nHost: evil\r\nX-Forwarded-For: 9.9.9.9\r\n"
                                      "Authorization: x\r\nTransfer-Encoding: gzip\r\nX-Empty:\r\n\r\n");
    CHECK(seen.body == "Z");
    CHECK(seen.field("X-Forwarded-For") == "127.0.0.1");
    CHECK(seen.field("X-Forwarded-Host") == "g");
    CHECK(seen.count("Host") == 1);
    for (const char* name : {"X-T", "Authorization", "Trailer", "X-Empty"}) {
        INFO(name);
        CHECK_FALSE(seen.has(name));
    }
    CHECK(seen.count("Content-Length") + seen.count("Transfer-Encoding") == 1);
    for (const char* text : {"evil", "9.9.9.9", "gzip", "X-T"}) {
        INFO(text);
        CHECK(seen.raw.find(text) == std::string::npos);
    }
}

TEST_CASE("malformed trailers refuse the request") {
    RecordingUpstream upstream(echoBody());
    HttpRig rig(upstream);
    struct Row {
        const char* name;
        std::string trailers;
        std::vector<int> statuses = {400};
    };
    std::string many;
    for (int i = 0; i < 1000; ++i) many += "X: 1\r\n";
    const Row rows[] = {
        {"no colon", "foo\r\n"},
        {"an empty name", ": 1\r\n"},
        {"a blank in the name", "X T: 1\r\n"},
        {"a blank behind the name", "X-T : 1\r\n"},
        {"folded", "X-T: 1\r\n 2\r\n"},
        {"LF alone", "X-T: 1\n"},
        {"CR alone", "X-T: 1\rX-U: 2\r\n"},
        {"NUL", "X-T: \0\r\n"s},
        {"byte 0xff in the name", "X\xff: 1\r\n"},
        {"a request in their place", "GET /s1/hidden HTTP/1.1\r\nHost: g\r\n"},
        {"too many", many, {431}},
        {"a megabyte of one line", "X-T: " + std::string(1 << 20, 'x') + "\r\n", {431}},
    };
    for (const auto& row : rows) {
        INFO(row.name);
        const std::string rest = kBody + row.trailers + "\r\n";
        if (rest.size() < 4096) checkRefused(rig, upstream, kHead + rest, row.statuses);
        checkBrokenOff(rig, upstream, kHead, rest, row.statuses);
    }
}

TEST_CASE("a megabyte of trailer lines is cut off") {
    RecordingUpstream upstream(echoBody());
    HttpRig rig(upstream);
    std::string lines;
    while (lines.size() < 1 << 20) lines += "X-T: " + std::string(500, 'x') + "\r\n";
    checkBrokenOff(rig, upstream, kHead, kBody + lines + "\r\n", {431});
}

TEST_CASE("no trailer of an answer reaches the client, and none changes how the answer is framed") {
    const char* const rows[] = {
        "X-T: 1\r\n",
        "X-T: 1\r\nContent-Length: 9\r\nTransfer-Encoding: gzip\r\nConnection: close\r\nSet-Cookie: a=b\r\n",
    };
    for (const char* trailers : rows) {
        INFO(trailers);
        RecordingUpstream upstream([&](const HttpMessage&) { return replyWith(trailers); });
        HttpRig rig(upstream);
        RawClient client(rig.port());
        for (int i = 0; i < 2; ++i) {
            const auto answer = client.exchange(getRequest("/s1/a"));
            CHECK(answer.body == "Z");
            CHECK(answer.count("Content-Length") + answer.count("Transfer-Encoding") == 1);
            for (const char* text : {"X-T", "gzip", "Set-Cookie"}) {
                INFO(text);
                CHECK(answer.raw.find(text) == std::string::npos);
            }
        }
        RawClient old(rig.port());
        const auto answer = old.exchange(getRequest("/s1/a", "", "1.0"));
        CHECK(answer.body == "Z");
        CHECK(answer.raw.find("X-T") == std::string::npos);
    }
}

TEST_CASE("malformed trailers of an answer cut it off, so that it does not look whole") {
    const std::string rows[] = {"foo\r\n", "X-T: 1\n", "X T: 1\r\n", "X-T: \0\r\n"s,
                                "X-T: " + std::string(100'000, 'x') + "\r\n"};
    for (const auto& trailers : rows) {
        INFO(trailers.substr(0, 100));
        Gate seen;
        RecordingUpstream upstream([&](RecordingUpstream::Connection& connection) {
            connection.next();
            connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nZ\r\n");
            seen.wait();
            connection.send("0\r\n" + trailers + "\r\n");
            connection.receiveUntilClose();
        });
        HttpRig rig(upstream);
        RawClient client(rig.port());
        client.send(getRequest("/s1/a"));
        auto all = client.receiveThrough("Z\r\n");
        seen.open();
        all += client.receiveUntilClose();
        CHECK_THAT(all, !Catch::EndsWith("0\r\n\r\n"));
        CHECK(all.find("X-T") == std::string::npos);
        CHECK(upstream.waitForEnded(1));
    }
}
