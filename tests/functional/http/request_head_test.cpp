// What a request's first line and fields may be (RFC 9112 2, 3 and 5), and what becomes of them on their way.
#include "functional/http/http_rig.hpp"
#include "support/catch.hpp"

using namespace weir::support;
using namespace weir::functional;
using namespace std::string_literals;

namespace {

struct Refused {
    const char* name;
    std::string bytes;
    std::vector<int> statuses = {400};
};

std::string withFields(const std::string& fields) { return getRequest("/s1/a", fields); }

std::string withHost(const std::string& lines) { return "GET /s1/a HTTP/1.1\r\n" + lines + "\r\n"; }

void check(const HttpRig& rig, const RecordingUpstream& upstream, const Refused& row) {
    INFO(row.name);
    checkRefused(rig, upstream, row.bytes, row.statuses);
}

std::string targetOf(const HttpMessage& request) {
    const auto& line = request.startLine;
    const auto first = line.find(' ');
    return first == std::string::npos ? "" : line.substr(first + 1, line.rfind(' ') - first - 1);
}

}  // namespace

TEST_CASE("folded header lines are refused, wherever they stand") {
    RecordingUpstream upstream;
    HttpRig rig(upstream);
    const Refused rows[] = {
        {"with a blank", withFields("X-A: 1\r\n X-B: 2\r\n")},
        {"with a tab", withFields("X-A: 1\r\n\tX-B: 2\r\n")},
        {"behind an empty value", withFields("X-A:\r\n 1\r\n")},
        {"an empty line of blanks", withFields("X-A: 1\r\n \r\n")},
        {"behind the request line", "GET /s1/a HTTP/1.1\r\n Host: g\r\n\r\n"},
        {"behind the request line, before Host", "GET /s1/a HTTP/1.1\r\n X-B: 2\r\nHost: g\r\n\r\n"},
        {"in a trailer", postChunked("1\r\nZ\r\n0\r\nX-A: 1\r\n X-B: 2\r\n\r\n")},
        {"first trailer", postChunked("1\r\nZ\r\n0\r\n X-B: 2\r\n\r\n")},
    };
    for (const auto& row : rows) check(rig, upstream, row);
}

TEST_CASE("an illegal field name refuses the request, so that no field is silently left out") {
    RecordingUpstream upstream;
    HttpRig rig(upstream);
    const Refused rows[] = {
        {"empty", withFields(": 1\r\nX-B: 2\r\n")},
        {"no colon", withFields("foo\r\nX-B: 2\r\n")},
        {"a bracket", withFields("X(B): 2\r\n")},
        {"a blank inside", withFields("X B: 2\r\n")},
        {"a blank behind", withFields("X-B : 2\r\n")},
        {"a tab behind", withFields("X-B\t: 2\r\n")},
        {"byte 0xff", withFields("X\xff: 2\r\n")},
        {"NUL", withFields("X\0B: 2\r\n"s)},
        {"NUL in a value", withFields("X-B: 2\0\r\n"s)},
        {"CR in a value", withFields("X-B: 2\rX-C: 3\r\n")},
        {"bare LF behind a value", withFields("X-B: 2\nX-C: 3\r\n")},
        {"20,000 bytes", withFields(std::string(20'000, 'X') + ": 2\r\n"), {431}},
        {"a value of 20,000 bytes", withFields("X-B: " + std::string(20'000, 'x') + "\r\n"), {431}},
    };
    for (const auto& row : rows) check(rig, upstream, row);
    std::string many;
    for (int i = 0; i < 1000; ++i) many += "X: 1\r\n";
    check(rig, upstream, {"a thousand fields", withFields(many), {431}});
}

TEST_CASE("an absolute target decides together with Host, never against it") {
    RecordingUpstream a;
    RecordingUpstream b;
    HttpRig rig({{"{paramType: domain, operator: =, paramValue: a.test}", a},
                 {"{paramType: domain, operator: =, paramValue: b.test}", b}});
    struct Row {
        const char* target;
        const char* host;
        const char* forwarded;  // to b; null: refused
    };
    const Row rows[] = {
        {"http://b.test/s1/p?q=1", "a.test", nullptr},
        {"http://b.test", "a.test", nullptr},
        {"http://u@b.test/p", "a.test", nullptr},
        {"http://u@b.test/p", "b.test", nullptr},
        {"http://b.test@a.test/p", "b.test", nullptr},
        {"http://b.test:81/p", "b.test", nullptr},
        {"ftp://b.test/p", "b.test", nullptr},
        {"ftp://b.test/p", "a.test", nullptr},
        {"http:///p", "b.test", nullptr},
        {"http:/p", "b.test", nullptr},
        {"http://b.test/p#f", "b.test", nullptr},
        {"http://b.test/s1/p?q=1", "b.test", "/s1/p?q=1"},
        {"http://b.test", "b.test", "/"},
        {"http://b.test?q=1", "b.test", "/?q=1"},
        {"http://b.test:80/p", "b.test", "/p"},
        {"http://b.test/p", "b.test:80", "/p"},
        {"HTTP://B.TEST/p", "b.test", "/p"},
        {"http://b.test/p", "B.Test", "/p"},
        {"/p", "b.test", "/p"},
        {"/p", "B.TEST", "/p"},
        {"/p", "b.test:8080", "/p"},
    };
    for (const auto& row : rows) {
        INFO(row.target << " with Host " << row.host);
        const auto before = b.requests().size();
        RawClient client(rig.port());
        auto answer =
            client.exchange("GET "s + row.target + " HTTP/1.1\r\nHost: " + row.host + "\r\n\r\n");
        CHECK(answer.status() == (row.forwarded ? 200 : 400));
        CHECK(a.received().empty());
        const auto requests = b.requests();
        CHECK(requests.size() == before + (row.forwarded ? 1 : 0));
        if (!row.forwarded || requests.size() == before) continue;
        const auto& seen = requests.back();
        CHECK(seen.startLine == "GET "s + row.forwarded + " HTTP/1.1");
        CHECK(seen.count("Host") == 1);
        CHECK(seen.raw.find("a.test") == std::string::npos);
    }
    CHECK(get(rig.port(), "/no/host/matches").status() == 404);
}

TEST_CASE("HTTP/1.1 has exactly one Host that names a host") {
    RecordingUpstream upstream;
    HttpRig rig(upstream);
    const Refused rows[] = {
        {"none", withHost("")},
        {"twice the same", withHost("Host: g\r\nHost: g\r\n")},
        {"two", withHost("Host: g\r\nHost: h\r\n")},
        {"two, one empty", withHost("Host: g\r\nHost:\r\n")},
        {"a path in it", withHost("Host: g/h?x@y\r\n")},
        {"userinfo", withHost("Host: u@g\r\n")},
        {"a list", withHost("Host: g, h\r\n")},
        {"a blank in it", withHost("Host: g h\r\n")},
        {"no port", withHost("Host: g:99999\r\n")},
        {"letters as port", withHost("Host: g:a\r\n")},
        {"a bracket", withHost("Host: [::1\r\n")},
        {"no address", withHost("Host: [x]\r\n")},
        {"byte 0xff", withHost("Host: g\xff\r\n")},
        {"empty", withHost("Host: \r\n")},
        {"twice in HTTP/1.0", "GET /s1/a HTTP/1.0\r\nHost: g\r\nHost: g\r\n\r\n"},
    };
    for (const auto& row : rows) check(rig, upstream, row);
    for (const char* host : {"g", "g:80", "127.0.0.1", "[::1]:8080", "a-b.c_d.example"}) {
        INFO(host);
        CHECK(checkServed(rig, upstream, withHost("Host: "s + host + "\r\n")).count("Host") == 1);
    }
    RawClient client(rig.port());
    CHECK(client.exchange("GET /s1/a HTTP/1.0\r\n\r\n").status() == 200);
    CHECK(client.closedByPeer());
}

TEST_CASE("only OPTIONS has * for its target, and it is the gateway itself that answers") {
    RecordingUpstream upstream;
    // Even a selector that takes everything does not take it for a path.
    HttpRig rig({{"{paramType: uri, operator: pathPattern, paramValue: /**}", upstream},
                 {"{paramType: uri, operator: =, paramValue: \"*\"}", upstream}});
    RawClient client(rig.port());
    auto answer = client.exchange("OPTIONS * HTTP/1.1\r\nHost: g\r\n\r\n");
    CHECK((answer.status() == 200 || answer.status() == 204));
    CHECK(answer.body.empty());
    CHECK(client.exchange(getRequest("/s1/a")).status() == 200);
    CHECK(upstream.requests().size() == 1);
    check(rig, upstream, {"GET", "GET * HTTP/1.1\r\nHost: g\r\n\r\n"});
    check(rig, upstream, {"POST", "POST * HTTP/1.1\r\nHost: g\r\nContent-Length: 0\r\n\r\n"});
}

TEST_CASE("CONNECT and TRACE are refused") {
    RecordingUpstream upstream;
    HttpRig rig({{"{paramType: uri, operator: pathPattern, paramValue: /**}", upstream}});
    for (const char* line : {"CONNECT b:443", "CONNECT b", "CONNECT /s1/a", "CONNECT http://b/"}) {
        INFO(line);
        checkRefused(rig, upstream, line + " HTTP/1.1\r\nHost: b:443\r\n\r\n"s, {405});
    }
    RawClient client(rig.port());
    CHECK(client.exchange("TRACE /s1/a HTTP/1.1\r\nHost: g\r\nCookie: secret\r\n\r\n").status() == 405);
    rig.settle();
    CHECK(upstream.received() == "");
}

TEST_CASE("a request line is a method, a target and HTTP/1 with one blank between them") {
    RecordingUpstream upstream;
    HttpRig rig(upstream);
    const std::string host = "Host: g\r\n\r\n";
    const Refused rows[] = {
        {"two blanks", "GET  /s1/a HTTP/1.1\r\n" + host},
        {"two blanks behind the target", "GET /s1/a  HTTP/1.1\r\n" + host},
        {"a tab", "GET\t/s1/a HTTP/1.1\r\n" + host},
        {"a blank in the target", "GET /s1/a b HTTP/1.1\r\n" + host},
        {"a blank before", " GET /s1/a HTTP/1.1\r\n" + host},
        {"a blank behind", "GET /s1/a HTTP/1.1 \r\n" + host},
        {"no version", "GET /s1/a\r\n" + host},
        {"a bracket in the method", "G(T /s1/a HTTP/1.1\r\n" + host},
        {"LF alone", "GET /s1/a HTTP/1.1\nHost: g\n\n"},
        {"CR alone", "GET /s1/a HTTP/1.1\rHost: g\r\r"s + "\r\n\r\n"},
        {"lower case version", "GET /s1/a http/1.1\r\n" + host},
        {"version 1.10", "GET /s1/a HTTP/1.10\r\n" + host},
        {"version 2.0", "GET /s1/a HTTP/2.0\r\n" + host, {505}},
        {"version 0.9", "GET /s1/a HTTP/0.9\r\n" + host, {505}},
        {"HTTP/2's preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", {505}},
        {"a TLS hello", "\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03"s},
    };
    for (const auto& row : rows) check(rig, upstream, row);
    CHECK(checkServed(rig, upstream, "\r\n" + getRequest("/s1/a")).startLine == "GET /s1/a HTTP/1.1");
    CHECK(checkServed(rig, upstream, "PROPFIND /s1/a HTTP/1.1\r\n" + host).startLine == "PROPFIND /s1/a HTTP/1.1");
    CHECK(checkServed(rig, upstream, "get /s1/a HTTP/1.1\r\n" + host).startLine == "get /s1/a HTTP/1.1");
}

TEST_CASE("odd bytes in a target are refused or forwarded as they are") {
    RecordingUpstream upstream;
    HttpRig rig(upstream);
    const Refused refused[] = {
        {"a fragment", getRequest("/s1/a#b")},
        {"an encoded path and a fragment", getRequest("/s1/a?x=%23#b")},
        {"byte 0xff", getRequest("/s1/\xff")},
        {"byte 0xff in the query", getRequest("/s1/a?\xff")},
        {"byte 0x01", getRequest("/s1/a\x01" "b")},
        {"NUL", getRequest("/s1/a\0b"s)},
        {"a tab", getRequest("/s1/a\tb")},
        {"DEL", getRequest("/s1/a\x7f")},
        {"CR", getRequest("/s1/a\rb")},
        {"LF", getRequest("/s1/a\nb")},
        {"no slash", getRequest("s1/a")},
        {"a query alone", getRequest("?x")},
        {"65,536 bytes", getRequest("/s1/" + std::string(65'532, 'a')), {414}},
        {"a line one byte too long", getRequest("/s1/" + std::string(8193 - 17, 'a')), {414}},
        {"a query that is too long", getRequest("/s1/?" + std::string(8193 - 18, 'a')), {414}},
    };
    for (const auto& row : refused) check(rig, upstream, row);
    for (const std::string& target :
         {"/s1/%00"s, "/s1/%"s, "/s1/%zz"s, "/s1/a|b\"<>"s, "/s1/a%23b"s, "/s1/%c3%A4"s, "/s1/a?b?c=/d"s, "/s1/a?"s,
          "/s1/{x}^`\\"s, "/s1/a;b=c,d"s, "/s1/a%2fb"s, "/s1//a"s, "/s1/" + std::string(8192 - 17, 'a')}) {
        INFO(target.substr(0, 100));
        CHECK(targetOf(checkServed(rig, upstream, getRequest(target))) == target);
    }
}

TEST_CASE("a path that a pattern takes is the path that is forwarded") {
    RecordingUpstream inside;
    RecordingUpstream outside;
    HttpRig rig({{"{paramType: uri, operator: pathPattern, paramValue: /s1/**}", inside},
                 {"{paramType: uri, operator: pathPattern, paramValue: /secret/**}", outside}});
    for (const char* target : {"/s1/../secret/a", "/s1/%2e%2e/secret/a", "/s1/.%2E/secret/a", "/s1/x/../../secret/a",
                               "/s1/./../secret/a"}) {
        INFO(target);
        const auto before = inside.requests().size();
        RawClient(rig.port()).exchange(getRequest(target));
        const auto requests = inside.requests();
        // Either it was never taken for one below /s1, or it is forwarded in a form that nobody resolves to the other.
        if (requests.size() > before) CHECK(targetOf(requests.back()).find("secret") == std::string::npos);
        for (const auto& request : outside.requests()) CHECK(targetOf(request) == "/secret/a");
    }
}

TEST_CASE("fields that differ from trusted ones in underscores only do not reach the upstream") {
    RecordingUpstream upstream(echoBody());
    HttpRig rig(upstream);
    const char* const twins[] = {"X_Forwarded_For: 9.9.9.9\r\n", "X_Forwarded-For: 9.9.9.9\r\n",
                                 "X_Forwarded_Proto: https\r\n", "X_Forwarded_Host: evil\r\n",
                                 "Content_Length: 5\r\n", "Transfer_Encoding: chunked\r\n"};
    const char* const dashed = "X-Forwarded-For: 1.2.3.4\r\nX-Forwarded-Proto: http\r\nContent-Length: 1\r\n";
    for (const char* twin : twins) {
        for (const char* beside : {"", dashed}) {
            INFO(twin << beside);
            const std::string body = *beside ? "Z" : "";
            const auto seen = checkServed(rig, upstream, post(std::string(twin) + beside, body));
            CHECK(seen.body == body);
            CHECK(seen.field("X-Forwarded-For") == (*beside ? "1.2.3.4, 127.0.0.1" : "127.0.0.1"));
            CHECK(seen.field("X-Forwarded-Proto") == "http");
            CHECK(seen.raw.find('_') == std::string::npos);
        }
    }
    // Others may have underscores.
    CHECK(checkServed(rig, upstream, withFields("X_Own_Field: 1\r\n")).field("X_Own_Field") == "1");
}

TEST_CASE("fields for one hop stay there, but Connection cannot take away what the gateway itself says") {
    RecordingUpstream upstream(echoBody());
    HttpRig rig(upstream);
    auto seen = checkServed(rig, upstream,
                            post("Connection: X-Int, keep-alive\r\nConnection: x-other\r\nX-Int: secret\r\n"
                                 "X-Other: secret\r\nKeep-Alive: timeout=5\r\nTE: trailers\r\nProxy-Connection: x\r\n"
                                 "Proxy-Authorization: x\r\nUpgrade: h2c\r\nContent-Length: 1\r\n",
                                 "Z"));
    for (const char* name : {"X-Int", "X-Other", "Keep-Alive", "TE", "Proxy-Connection", "Proxy-Authorization",
                             "Upgrade"}) {
        INFO(name);
        CHECK_FALSE(seen.has(name));
    }
    CHECK(seen.raw.find("secret") == std::string::npos);
    seen = checkServed(rig, upstream,
                       post("Connection: Host, Content-Length, X-Forwarded-For, X-Forwarded-Proto\r\n"
                            "X-Forwarded-For: 1.2.3.4\r\nContent-Length: 1\r\n",
                            "Z"));
    CHECK(seen.body == "Z");
    CHECK(seen.count("Host") == 1);
    CHECK(seen.field("Content-Length") == "1");
    CHECK(seen.field("X-Forwarded-Proto") == "http");
    CHECK_THAT(seen.field("X-Forwarded-For").value_or(""), Catch::EndsWith("127.0.0.1"));
}
