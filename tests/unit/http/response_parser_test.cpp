#include "parser_transcript.hpp"

using namespace weir::http;
using namespace std::string_view_literals;

namespace {
enum class Then { Nothing, Close };
enum class To { Get, Head };

Outcome play(std::string_view text, To to, Then then) {
    const bool close = then == Then::Close;
    return to == To::Head ? playAtEveryCut<ResponseSide<true>>(text, close)
                          : playAtEveryCut<ResponseSide<false>>(text, close);
}
}  // namespace

TEST_CASE("responses that are accepted, cut anywhere") {
    struct Row {
        std::string_view text;
        const char* head;
        const char* body = "";
        To to = To::Get;
        Then then = Then::Nothing;
        std::size_t left = 0;  // bytes at the end that are not the message's
    };
    const Row rows[] = {
        {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab", "200 'OK' 1.1 length 2 said 2 keep", "ab"},
        {"HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n", "200 '' 1.1 length 0 said 0 keep"},
        {"HTTP/1.1 200\r\nContent-Length: 1\r\n\r\nZ", "200 '' 1.1 length 1 said 1 keep", "Z"},
        {"HTTP/1.1 999 \xe4\tx\r\nContent-Length: 0\r\n\r\n", "999 '\xe4\tx' 1.1 length 0 said 0 keep"},
        {"HTTP/1.9 200 OK\r\nContent-Length: 0\r\n\r\n", "200 'OK' 1.1 length 0 said 0 keep"},
        {"HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nZ", "200 'OK' 1.0 length 1 said 1 close", "Z"},
        {"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n", "200 'OK' 1.0 length 0 said 0 keep"},
        {"HTTP/1.1 200 OK\r\nConnection: X-Int, close\r\nContent-Length: 0\r\n\r\n",
         "200 'OK' 1.1 length 0 said 0 close"},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n2\r\nbc\r\n0\r\nContent-Length: 9\r\n\r\n",
         "200 'OK' 1.1 chunked keep", "abc"},
        {"HTTP/1.1 200 OK\r\n\r\nall of it", "200 'OK' 1.1 until close close", "all of it", To::Get, Then::Close},
        {"HTTP/1.1 200 OK\r\n\r\n", "200 'OK' 1.1 until close close", "", To::Get, Then::Close},
        {"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n\r\nx",
         "200 'OK' 1.0 until close close", "x", To::Get, Then::Close},
        {"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nZ",
         "200 'OK' 1.1 length 1 said 1 keep", "Z", To::Get, Then::Close},
        {"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n", "200 'OK' 1.1 none said 3 keep", "", To::Head},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "200 'OK' 1.1 none keep", "", To::Head},
        {"HTTP/1.1 200 OK\r\n\r\nBODY", "200 'OK' 1.1 none keep", "", To::Head, Then::Nothing, 4},
        {"HTTP/1.1 204 No\r\nContent-Length: 4\r\n\r\nBODY",
         "204 'No' 1.1 none said 4 keep", "", To::Get, Then::Nothing, 4},
        {"HTTP/1.1 304 Not\r\nContent-Length: 4\r\n\r\n", "304 'Not' 1.1 none said 4 keep"},
        {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200", "100 'Continue' 1.1 none keep", "", To::Get, Then::Nothing, 12},
        {"HTTP/1.1 103 Hints\r\nLink: x\r\nContent-Length: 0\r\n\r\n", "103 'Hints' 1.1 none said 0 keep"},
    };
    for (const Row& row : rows) {
        INFO(row.text);
        const Outcome outcome = play(row.text, row.to, row.then);
        CHECK(outcome.reason == "");
        CHECK(outcome.head == row.head);
        CHECK(outcome.body == row.body);
        CHECK(outcome.done);
        CHECK(outcome.consumed == row.text.size() - row.left);
    }
}

TEST_CASE("responses that are refused with 502, cut anywhere") {
    const std::string_view rows[] = {
        "HTTP/1.1 099 X\r\n\r\n", "HTTP/1.1 20 X\r\n\r\n", "HTTP/1.1 2000 X\r\n\r\n", "HTTP/1.1 20x OK\r\n\r\n",
        "HTTP/1.1  200 OK\r\n\r\n", "HTTP/1.1\r\n\r\n", "HTTP/2.0 200 OK\r\n\r\n", "HTTP/1.x 200 OK\r\n\r\n",
        "http/1.1 200 OK\r\n\r\n", "ICY 200 OK\r\n\r\n", "SSH-2.0-x\r\n", "\r\nHTTP/1.1 200 OK\r\n\r\n", "<html>",
        "HTTP/1.1 200 O\x01K\r\n\r\n", "HTTP/1.1 200 OK\n\n", "HTTP/1.1 20\rX\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1, 1\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775808\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding:\r\n\r\n",
        "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 100 X\r\nContent-Length: 4\r\n\r\nBODY", "HTTP/1.1 101 X\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX: a\r\n b\r\n\r\n", "HTTP/1.1 200 OK\r\nX : a\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX: a\0\r\n\r\n"sv,
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nZX",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nfoo\r\n\r\n",
    };
    for (std::string_view text : rows) {
        INFO(text);
        CHECK(play(text, To::Get, Then::Nothing).status == 502);
    }
    CHECK(play("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", To::Head, Then::Nothing)
              .status == 502);
}

TEST_CASE("a close before the end of the message is an error") {
    const std::string_view rows[] = {
        "", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nAB",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nA\r\n0\r\n",
    };
    for (std::string_view text : rows) {
        INFO(text);
        CHECK(play(text, To::Get, Then::Close).status == 502);
    }
}

TEST_CASE("equal Content-Length lines of an upstream are listed once") {
    const Outcome outcome =
        play("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nA: b\r\ncontent-length: 01\r\n\r\nZ", To::Get, Then::Nothing);
    CHECK(outcome.head == "200 'OK' 1.1 length 1 said 1 keep");
    CHECK(outcome.fields == "Content-Length: 1\nA: b\n");
}

TEST_CASE("a response body runs on over many feeds and counts from where it stands") {
    weir::base::ChunkPool pool;
    alignas(WEIR_ARENA_ALIGN) char chunk[weir::base::ChunkPool::kChunkSize];
    weir::base::Arena arena(pool, chunk, 0);
    ResponseHead head(arena);
    auto* parser = ResponseParser::make(arena, head, {}, false);
    std::string text = "HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\n";
    CHECK(parser->feed(text.data(), text.size()).consumed == text.size());
    char other[1000] = {};  // body feeds may come from any buffer
    for (int i = 0; i < 3; ++i) {
        const Fed fed = parser->feed(other, sizeof other);
        CHECK(fed.body.data() == other);
        CHECK(fed.body.size() == sizeof other);
        CHECK(!fed.done);
    }
}
