// Where an answer ends (RFC 9112 6.3), and what of it reaches the client: status, fields and body as they came, without
// what concerns the upstream's connection only.
#include "functional/http/http_rig.hpp"
#include "support/catch.hpp"

using namespace weir::support;
using namespace weir::functional;
using namespace std::string_literals;

namespace {

const std::string kGet = getRequest("/s1/a");
const std::string kHead = "HEAD /s1/a HTTP/1.1\r\nHost: g\r\n\r\n";

// Answers GET /s1/behind with "ok", all others with `bytes`.
RecordingUpstream::Reply replyWith(const std::string& bytes) {
    return [bytes](const HttpMessage& request) {
        return request.startLine == "GET /s1/behind HTTP/1.1" ? RecordingUpstream::ok("ok") : bytes;
    };
}

// Sends `request` and then, on the same connection, another one, which must be served. Returns the first answer.
HttpMessage firstOfTwo(const HttpRig& rig, const std::string& request, bool bodyless) {
    RawClient client(rig.port());
    const auto answer = client.exchange(request, bodyless);
    const auto behind = client.exchange(getRequest("/s1/behind"));
    CHECK(behind.status() == 200);
    CHECK(behind.body == "ok");
    return answer;
}

std::size_t framings(const HttpMessage& answer) {
    return answer.count("Content-Length") + answer.count("Transfer-Encoding");
}

}  // namespace

TEST_CASE("an answer that has no body brings none, whatever the upstream sends behind its head") {
    struct Row {
        const char* name;
        std::string request;
        std::string reply;
        bool surplus;  // bytes behind the reply's end: its connection is not used again
    };
    const Row rows[] = {
        {"204 with a body", kGet, "HTTP/1.1 204 No Content\r\nContent-Length: 4\r\n\r\nBODY", true},
        {"204 with chunks", kGet, "HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nBODY\r\n0\r\n\r\n",
         true},
        {"204 with a length of 0", kGet, "HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n", false},
        {"304 with a body", kGet, "HTTP/1.1 304 Not Modified\r\nContent-Length: 4\r\n\r\nBODY", true},
        {"304 with a length", kGet, "HTTP/1.1 304 Not Modified\r\nContent-Length: 4\r\nETag: \"a\"\r\n\r\n", false},
        {"304 with chunks", kGet, "HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n", false},
        {"HEAD with a body", kHead, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nBODY", true},
        {"HEAD with a length", kHead, "HTTP/1.1 200 OK\r\nContent-Length: 1234\r\n\r\n", false},
        {"HEAD with chunks", kHead, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", false},
        {"HEAD with neither", kHead, "HTTP/1.1 200 OK\r\n\r\n", false},
        {"HEAD that is refused", kHead, "HTTP/1.1 404 Not Found\r\nContent-Length: 9\r\n\r\n", false},
        {"HEAD with a body of its own", "HEAD /s1/a HTTP/1.1\r\nHost: g\r\nContent-Length: 3\r\n\r\nabc",
         "HTTP/1.1 200 OK\r\nContent-Length: 1234\r\n\r\n", false},
        {"bytes behind a whole answer", kGet, RecordingUpstream::ok("ok") + "surplus", true},
        {"an answer behind a whole answer", kGet, RecordingUpstream::ok("ok") + RecordingUpstream::ok("evil"), true},
    };
    for (const bool guard : {false, true}) {
        for (const auto& row : rows) {
            INFO(row.name << (guard ? ", edited by a plugin" : ""));
            RecordingUpstream upstream(replyWith(row.reply));
            RigOptions options;
            options.guard = guard;
            HttpRig rig(upstream, options);
            const bool head = row.request.rfind("HEAD", 0) == 0;
            const auto answer = firstOfTwo(rig, row.request, head);
            CHECK(answer.status() == std::stoi(row.reply.substr(9)));
            CHECK(answer.body == (head || answer.status() != 200 ? "" : "ok"));
            CHECK(framings(answer) <= 1);
            if (answer.status() == 204) CHECK(framings(answer) == 0);
            if (row.reply.find("1234") != std::string::npos) CHECK(answer.field("Content-Length") == "1234");
            CHECK(answer.field("X-Guard") == (guard ? std::optional<std::string>("passed") : std::nullopt));
            CHECK(upstream.requests().size() == 2);
            if (row.request.find("abc") != std::string::npos) CHECK(upstream.requests().at(0).body == "abc");
            CHECK(upstream.connections() == (row.surplus ? 2 : 1));
        }
    }
}

TEST_CASE("status, fields and body of an answer reach the client as they are, and no redirect is followed") {
    struct Row {
        const char* status;
        const char* fields;
        const char* body;
    };
    const Row rows[] = {
        {"302 Found", "Location: http://elsewhere/\r\nSet-Cookie: a=1; Path=/\r\nSet-Cookie: b=2\r\n", "moved"},
        {"201 Created", "Location: /s1/new\r\n", "{}"},
        {"203 Non-Authoritative Information", "", "x"},
        {"204 No Content", "ETag: W/\"x\"\r\n", nullptr},
        {"206 Partial Content", "Content-Range: bytes 0-1/9\r\nAccept-Ranges: bytes\r\n", "ab"},
        {"304 Not Modified", "ETag: \"x\"\r\nVary: Accept\r\n", nullptr},
        {"307 Temporary Redirect", "Location: /s1/there?x=1\r\n", ""},
        {"401 Unauthorized", "WWW-Authenticate: Basic realm=\"x\"\r\n", "no"},
        {"418 I'm a teapot", "X-Empty: \r\n", "short and stout"},
        {"451 Unavailable For Legal Reasons", "", ""},
        {"500 Internal Server Error", "", "error"},
        {"502 Bad Gateway", "", "theirs"},
        {"503 Service Unavailable", "Retry-After: 120\r\n", "later"},
        {"599 Whatever", "X-A: 1\r\nX-B: 2\r\nX-A: 3\r\n", "x"},
    };
    for (const auto& row : rows) {
        INFO(row.status);
        std::string reply = "HTTP/1.1 "s + row.status +
                            "\r\nDate: Sun, 29 Nov 2026 10:00:00 GMT\r\nServer: theirs\r\n" + row.fields;
        if (row.body) reply += "Content-Length: " + std::to_string(std::string(row.body).size()) + "\r\n";
        reply += "\r\n" + std::string(row.body ? row.body : "");
        RecordingUpstream upstream(replyWith(reply));
        RigOptions options;
        options.retry = 3;
        HttpRig rig(upstream, options);
        const auto answer = firstOfTwo(rig, kGet, false);
        CHECK(answer.startLine == "HTTP/1.1 "s + row.status);
        CHECK(answer.body == (row.body ? row.body : ""));
        CHECK(answer.field("Date") == "Sun, 29 Nov 2026 10:00:00 GMT");
        CHECK(answer.count("Date") == 1);
        CHECK(answer.field("Server") == "theirs");
        // The upstream's fields, in their order; the gateway may add its own.
        std::string fields;
        for (const auto& [name, value] : answer.fields) {
            if ((row.fields + "\r\n"s).find(name + ": " + value + "\r\n") != std::string::npos)
                fields += name + ": " + value + "\r\n";
        }
        CHECK(fields == row.fields);
        CHECK(upstream.requests().size() == 2);
    }
}

TEST_CASE("an answer reaches the client in exactly one framing") {
    struct Row {
        const char* name;
        std::string reply;
        std::string body;
        bool closes = false;  // the upstream ends it with its connection
    };
    const std::string chunks = "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
    const std::string chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n";
    const Row rows[] = {
        {"chunked", chunked + "\r\n" + chunks, "abcde"},
        {"chunked, in capitals", "HTTP/1.1 200 OK\r\ntransfer-encoding: CHUNKED\r\n\r\n" + chunks, "abcde"},
        {"chunked and gzip", chunked + "Content-Encoding: gzip\r\n\r\n" + chunks, "abcde"},
        {"chunked and Connection: close", chunked + "Connection: close\r\n\r\n" + chunks, "abcde", true},
        {"chunked and keep-alive", chunked + "Connection: keep-alive\r\nKeep-Alive: timeout=5\r\n\r\n" + chunks,
         "abcde"},
        {"chunked and empty", chunked + "\r\n0\r\n\r\n", ""},
        {"HTTP/1.0, until close", "HTTP/1.0 200 OK\r\n\r\nabcde", "abcde", true},
        {"HTTP/1.1, until close", "HTTP/1.1 200 OK\r\n\r\nabcde", "abcde", true},
        {"HTTP/1.0 with a length", "HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nabcde", "abcde", true},
        {"HTTP/1.0, kept", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 5\r\n\r\nabcde", "abcde"},
        {"an equal length twice", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nabcde", "abcde"},
        {"a length of 0", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", ""},
        {"no reason phrase", "HTTP/1.1 200\r\nContent-Length: 5\r\n\r\nabcde", "abcde"},
    };
    for (const auto& row : rows) {
        INFO(row.name);
        RecordingUpstream upstream([&](RecordingUpstream::Connection& connection) {
            while (auto request = connection.next()) {
                connection.send(replyWith(row.reply)(*request));
                if (row.closes) return;
            }
        });
        HttpRig rig(upstream);
        const auto answer = firstOfTwo(rig, kGet, false);
        CHECK(answer.status() == 200);
        CHECK(framings(answer) == 1);
        CHECK(answer.body == row.body);
        CHECK_FALSE(answer.has("Keep-Alive"));
        CHECK_FALSE(answer.has("Connection"));  // the client's goes on
        CHECK(upstream.connections() == (row.closes ? 2 : 1));
    }
}

TEST_CASE("an answer with a doubtful framing is a 502, or cut off when its head is out") {
    const char* const rows[] = {
        "HTTP/1.1 200 OK\r\nContent-Length: +5\r\n\r\nabcde",
        "HTTP/1.1 200 OK\r\nContent-Length: 5, 6\r\n\r\nabcde",
        "HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551621\r\n\r\nabcde",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX-A: 1\r\n X-B: 2\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX A: 1\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\nContent-Length: 0\n\n",
        "HTTP/1.1 099 Low\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 1000 High\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n",
        "HTTP/2.0 200 OK\r\nContent-Length: 0\r\n\r\n",
        "ICY 200 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nZXX\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0x1\r\nZ\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;\nx\r\nZ\r\n0\r\n\r\n",
    };
    for (const char* reply : rows) {
        INFO(reply);
        RecordingUpstream upstream(replyWith(reply));
        HttpRig rig(upstream);
        RawClient client(rig.port());
        client.send(kGet);
        try {
            const auto answer = client.response();
            CHECK(answer.status() == 502);
            CHECK(framings(answer) == 1);
        } catch (const std::exception& cut) {
            CHECK_THAT(cut.what(), Catch::Contains("closed") || Catch::Contains("reset"));
        }
        CHECK(upstream.waitForEnded(1));
    }
}

TEST_CASE("fields of an answer that are for one hop do not reach the client") {
    RecordingUpstream upstream(replyWith(
        "HTTP/1.1 200 OK\r\nConnection: X-Int, close\r\nX-Int: secret\r\nKeep-Alive: timeout=5\r\n"
        "Proxy-Authenticate: Basic\r\nUpgrade: h2c\r\nTrailer: X-T\r\nProxy-Connection: close\r\nX-Out: 1\r\n"
        "Content-Length: 2\r\n\r\nok"));
    HttpRig rig(upstream);
    const auto answer = firstOfTwo(rig, kGet, false);
    CHECK(answer.body == "ok");
    CHECK(answer.field("X-Out") == "1");
    for (const char* name : {"X-Int", "Keep-Alive", "Proxy-Authenticate", "Upgrade", "Trailer", "Proxy-Connection",
                             "Connection"}) {
        INFO(name);
        CHECK_FALSE(answer.has(name));
    }
    CHECK(answer.raw.find("secret") == std::string::npos);
    CHECK(upstream.connections() == 2);  // the upstream wanted the first closed
}

TEST_CASE("Connection of an answer cannot take away its framing") {
    for (const char* fields : {"Connection: Content-Length\r\nContent-Length: 2\r\n",
                               "Connection: Date, Content-Length\r\nContent-Length: 2\r\n"}) {
        INFO(fields);
        RecordingUpstream upstream(replyWith("HTTP/1.1 200 OK\r\n"s + fields + "\r\nok"));
        HttpRig rig(upstream);
        const auto answer = firstOfTwo(rig, kGet, false);
        CHECK(answer.field("Content-Length") == "2");
        CHECK(answer.body == "ok");
    }
}
