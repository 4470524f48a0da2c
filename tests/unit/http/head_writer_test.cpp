#include "http/head_writer.hpp"

#include <string>

#include "support/catch.hpp"

using namespace weir::http;

namespace {

struct Chunk {
    explicit Chunk(weir::base::ChunkPool& from) : pool(from) {}
    ~Chunk() { pool.give(bytes); }
    weir::base::ChunkPool& pool;
    void* bytes = pool.take();
};

struct Memory {
    weir::base::ChunkPool pool;
    Chunk chunk{pool};
    weir::base::Arena arena{pool, chunk.bytes, 0};
};

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

void addParsed(FieldTable& fields, std::string_view name, std::string_view value) {
    fields.append(fieldId(name), name, value);
}

}  // namespace

TEST_CASE("Via and Forwarded are added when they are wanted, each behind what was there") {
    Memory memory;
    RequestHead request(memory.arena);
    request.method = "GET";
    request.version = 10;
    request.host = "shop.test:8080";
    addParsed(request.fields, "Via", "1.1 first");
    const UpstreamTarget target{"/a", {}, "10.0.0.1:80"};
    struct Row {
        const char* client;
        Additions additions;
        const char* expected;
    };
    const Additions via{.via = "weir", .forwarded = false, .date = {}};
    const Additions forwarded{.via = {}, .forwarded = true, .date = {}};
    const Row rows[] = {
        {"192.0.2.7", via, "\r\nVia: 1.1 first\r\n"},
        {"192.0.2.7", via, "\r\nVia: 1.0 weir\r\n"},
        {"192.0.2.7", forwarded, "\r\nForwarded: for=192.0.2.7;host=\"shop.test:8080\";proto=http\r\n"},
        {"2001:db8::1", forwarded, "\r\nForwarded: for=\"[2001:db8::1]\";host="},
    };
    for (const Row& row : rows) {
        INFO(row.expected);
        CHECK(contains(writeRequestHead(memory.arena, request, target, {}, row.client, row.additions), row.expected));
    }
    const std::string_view plain = writeRequestHead(memory.arena, request, target, {}, "192.0.2.7");
    CHECK_FALSE(contains(plain, "weir"));
    CHECK_FALSE(contains(plain, "Forwarded: for="));
}

TEST_CASE("lines that go out as they came stand between those that are left out or written anew") {
    Memory memory;
    RequestHead request(memory.arena);
    char text[] =
        "GET / HTTP/1.1\r\nHost: g\r\nA: 1\r\nB: 2\r\nConnection: x-hop\r\nC: 3\r\nX-Hop: 4\r\nD:  5\r\nE:6\r\n"
        "F: 7 \r\nG: 8\r\nH:\r\nI: 9\r\n\r\n";
    REQUIRE(RequestParser::make(memory.arena, request, {})->feed(text, sizeof text - 1).head);
    request.fields.remove("G");
    request.fields.add("J", "10");
    const std::string_view head = writeRequestHead(memory.arena, request, {"/", {}, "u"}, {}, "192.0.2.7");
    CHECK(contains(head, "\r\nA: 1\r\nB: 2\r\nC: 3\r\nD: 5\r\nE: 6\r\nF: 7\r\nH: \r\nI: 9\r\nJ: 10\r\n"));
}

TEST_CASE("a response gets a Date only when it has none") {
    Memory memory;
    ResponseHead response(memory.arena);
    response.status = 200;
    const Additions additions{.via = "", .forwarded = false, .date = "Tue, 15 Nov 1994 08:12:31 GMT"};
    CHECK(contains(writeResponseHead(memory.arena, response, {}, additions), "Date: Tue, 15 Nov 1994 08:12:31 GMT"));
    addParsed(response.fields, "date", "yesterday");
    const std::string_view written = writeResponseHead(memory.arena, response, {}, additions);
    CHECK(contains(written, "date: yesterday"));
    CHECK_FALSE(contains(written, "1994"));
}

TEST_CASE("an interim response goes on as it came, without what plugins did to the final one") {
    Memory memory;
    ResponseHead response(memory.arena);
    response.fields.add("X-Ours", "1");
    response.fields.beginEdit();
    response.status = 103;
    response.reason = "Early Hints";
    addParsed(response.fields, "Link", "</style.css>; rel=preload");
    addParsed(response.fields, "Connection", "x-hop");
    addParsed(response.fields, "X-Hop", "1");
    CHECK(writeInterimHead(memory.arena, response) ==
          "HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n");
}

TEST_CASE("an upgrade is asked for and agreed to with Connection and every line of Upgrade") {
    Memory memory;
    RequestHead request(memory.arena);
    request.method = "GET";
    addParsed(request.fields, "Upgrade", "websocket");
    addParsed(request.fields, "Upgrade", "foo");
    const std::string_view asked =
        writeRequestHead(memory.arena, request, {"/a", {}, "u:1"}, {.upgrade = true}, "192.0.2.7");
    CHECK(contains(asked, "Connection: upgrade\r\nUpgrade: websocket\r\nUpgrade: foo\r\n"));
    CHECK_FALSE(contains(writeRequestHead(memory.arena, request, {"/a", {}, "u:1"}, {}, "192.0.2.7"), "websocket"));

    ResponseHead response(memory.arena);
    response.status = 101;
    addParsed(response.fields, "Upgrade", "websocket");
    const std::string_view agreed =
        writeResponseHead(memory.arena, response, {.kind = ResponseFraming::Kind::Upgrade});
    CHECK(agreed == "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n");
}

TEST_CASE("names that many servers read as trusted ones go no further") {
    Memory memory;
    RequestHead request(memory.arena);
    request.method = "GET";
    for (const char* name : {"X_Forwarded_For", "x-forwarded_proto", "Content_Length", "TRANSFER_ENCODING", "X_Kept"})
        addParsed(request.fields, name, "evil");
    const std::string_view written = writeRequestHead(memory.arena, request, {"/a", {}, "u:1"}, {}, "192.0.2.7");
    CHECK(contains(written, "X_Kept: evil"));
    CHECK(written.find("evil") == written.rfind("evil"));
}
