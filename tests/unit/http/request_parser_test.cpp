#include <cstdlib>
#include <new>

#include "parser_transcript.hpp"

using namespace weir::http;
using namespace std::string_view_literals;

namespace {
std::size_t allocations = 0;

Outcome play(std::string_view text, ParseLimits limits = {}) {
    return playAtEveryCut<RequestSide>(text, false, limits);
}
std::string repeated(std::string_view text, std::size_t times) {
    std::string all;
    while (times--) all += text;
    return all;
}
}  // namespace

// Counts what the C++ heap hands out (malloc itself belongs to the sanitizers).
void* operator new(std::size_t size) {
    ++allocations;
    if (void* block = std::malloc(size)) return block;
    throw std::bad_alloc();
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    ++allocations;
    return std::malloc(size);
}
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t) noexcept { std::free(block); }

TEST_CASE("requests that are accepted, cut anywhere") {
    struct Row {
        const char* what;
        std::string_view text;
        const char* head;
        const char* body = "";
    };
    const Row rows[] = {
        {"plain", "GET /a?b=c HTTP/1.1\r\nHost: g\r\n\r\n", "GET /a?b=c host=g 1.1 none keep"},
        {"no field but Host, no blanks", "GET / HTTP/1.1\r\nHost:g\r\n\r\n", "GET / host=g 1.1 none keep"},
        {"leading empty lines", "\r\n\r\n\r\n\r\nGET / HTTP/1.1\r\nHost: g\r\n\r\n", "GET / host=g 1.1 none keep"},
        {"unknown method", "x-M.1 / HTTP/1.1\r\nHost: g\r\n\r\n", "x-M.1 / host=g 1.1 none keep"},
        {"later minor version", "GET / HTTP/1.7\r\nHost: g\r\n\r\n", "GET / host=g 1.1 none keep"},
        {"1.0 without Host", "GET /c HTTP/1.0\r\n\r\n", "GET /c host= 1.0 none close"},
        {"1.0 keep-alive", "GET /c HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", "GET /c host= 1.0 none keep"},
        {"close in a list", "GET / HTTP/1.1\r\nHost: g\r\nConnection: te, CLOSE ,x\r\n\r\n",
         "GET / host=g 1.1 none close"},
        {"close on the second line", "GET / HTTP/1.1\r\nHost: g\r\nConnection: a\r\nConnection: close\r\n\r\n",
         "GET / host=g 1.1 none close"},
        {"close beats keep-alive", "GET / HTTP/1.0\r\nConnection: keep-alive, close\r\n\r\n",
         "GET / host= 1.0 none close"},
        {"closed is not close", "GET / HTTP/1.1\r\nHost: g\r\nConnection: closed\r\n\r\n",
         "GET / host=g 1.1 none keep"},
        {"odd but legal target", "GET /s1/a|b\"<>%00% HTTP/1.1\r\nHost: g\r\n\r\n",
         "GET /s1/a|b\"<>%00% host=g 1.1 none keep"},
        {"OPTIONS *", "OPTIONS * HTTP/1.1\r\nHost: g\r\n\r\n", "OPTIONS * host=g 1.1 none keep"},
        {"absolute-form", "GET http://b.test/s1/p?q=1 HTTP/1.1\r\nHost: b.test\r\n\r\n",
         "GET /s1/p?q=1 host=b.test 1.1 none keep"},
        {"absolute-form, any case", "GET HTTP://B.TEST/p HTTP/1.1\r\nHost: b.test\r\n\r\n",
         "GET /p host=B.TEST 1.1 none keep"},
        {"absolute-form, default port", "GET http://b.test:80/p HTTP/1.1\r\nHost: b.test\r\n\r\n",
         "GET /p host=b.test:80 1.1 none keep"},
        {"absolute-form, port on Host only", "GET http://[::1]/ HTTP/1.1\r\nHost: [::1]:80\r\n\r\n",
         "GET / host=[::1] 1.1 none keep"},
        {"absolute-form, no path", "GET http://b.test HTTP/1.1\r\nHost: b.test\r\n\r\n",
         "GET / host=b.test 1.1 none keep"},
        {"absolute-form, query only", "GET http://b.test?x HTTP/1.1\r\nHost: b.test\r\n\r\n",
         "GET /?x host=b.test 1.1 none keep"},
        {"absolute-form, OPTIONS", "OPTIONS http://b.test HTTP/1.1\r\nHost: b.test\r\n\r\n",
         "OPTIONS * host=b.test 1.1 none keep"},
        {"absolute-form in 1.0", "GET http://b.test/ HTTP/1.0\r\n\r\n", "GET / host=b.test 1.0 none close"},
        {"length", "POST /e HTTP/1.1\r\nHost: g\r\nContent-Length: 3\r\n\r\nabc",
         "POST /e host=g 1.1 length 3 keep", "abc"},
        {"length 0", "POST /e HTTP/1.1\r\nHost: g\r\nContent-Length: 0\r\n\r\n", "POST /e host=g 1.1 length 0 keep"},
        {"length with zeros and blanks", "POST /e HTTP/1.1\r\nHost: g\r\nContent-Length:\t01 \r\n\r\nZ",
         "POST /e host=g 1.1 length 1 keep", "Z"},
        {"body of line ends and NUL", "POST /e HTTP/1.1\r\nHost: g\r\nContent-Length: 6\r\n\r\n\r\n\r\n\0\n"sv,
         "POST /e host=g 1.1 length 6 keep"},
        {"expect", "POST /e HTTP/1.1\r\nHost: g\r\nExpect: 100-Continue\r\nContent-Length: 1\r\n\r\nZ",
         "POST /e host=g 1.1 length 1 keep expect", "Z"},
        {"expect without body", "GET /e HTTP/1.1\r\nHost: g\r\nExpect: 100-continue\r\n\r\n",
         "GET /e host=g 1.1 none keep"},
        {"expect something else", "POST /e HTTP/1.1\r\nHost: g\r\nExpect: 200-maybe\r\nContent-Length: 1\r\n\r\nZ",
         "POST /e host=g 1.1 length 1 keep", "Z"},
        {"expect in 1.0", "POST /e HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\nZ",
         "POST /e host= 1.0 length 1 close", "Z"},
        {"8-bit field value", "GET / HTTP/1.1\r\nHost: g\r\nX: \xe4\t\xff\r\nEmpty:\r\n\r\n",
         "GET / host=g 1.1 none keep"},
    };
    for (const Row& row : rows) {
        INFO(row.what);
        const Outcome outcome = play(row.text);
        CHECK(outcome.reason == "");
        CHECK(outcome.head == row.head);
        if (row.body[0]) CHECK(outcome.body == row.body);
        CHECK(outcome.done);
        CHECK(outcome.consumed == row.text.size());
    }
}

TEST_CASE("hosts that are well formed") {
    const char* const hosts[] = {"g", "a.b-c_d~", "10.0.0.1:8080", "g:", "g:0", "g:65535", "[::1]", "[fe80::1]:80",
                                 "a%41b", "x!$&'()*+;="};
    for (const char* host : hosts) {
        INFO(host);
        const std::string text = std::string("GET / HTTP/1.1\r\nHost: ") + host + "\r\n\r\n";
        CHECK(play(text).head == std::string("GET / host=") + host + " 1.1 none keep");
    }
}

TEST_CASE("requests that are refused, cut anywhere") {
    struct Row {
        std::string_view text;
        int status = 400;
    };
    const Row rows[] = {
        // request line
        {"GET / HTTP/2.0\r\nHost: g\r\n\r\n", 505},
        {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
        {"GET / HTTP/0.9\r\nHost: g\r\n\r\n", 505},
        {"GET / HTTP/1.10\r\nHost: g\r\n\r\n"},
        {"GET / HTTP/1.\r\nHost: g\r\n\r\n"},
        {"GET / http/1.1\r\nHost: g\r\n\r\n"},
        {"GET / HTTP/1.1 \r\nHost: g\r\n\r\n"},
        {"GET /\r\n"},
        {"GET  / HTTP/1.1\r\nHost: g\r\n\r\n"},
        {"GET /a b HTTP/1.1\r\nHost: g\r\n\r\n"},
        {"GET\t/ HTTP/1.1\r\nHost: g\r\n\r\n"},
        {" GET / HTTP/1.1\r\nHost: g\r\n\r\n"},
        {"G(T / HTTP/1.1\r\nHost: g\r\n\r\n"},
        {"HTTP/1.1\r\n"},
        {" HTTP/1.1\r\nHost: g\r\n\r\n"},
        {"\x16\x03\x01\x02"},
        {"\r\n\r\n\r\n\r\n\r\nGET / HTTP/1.1\r\nHost: g\r\n\r\n"},
        {"\nGET / HTTP/1.1\r\nHost: g\r\n\r\n"},
        // line ends: refused at once, not when something follows
        {"GET / HTTP/1.1\nHost: g\n\n"},
        {"GET / HTTP/1.1\r\nHost: g\n\r\n"},
        {"GET / HTTP/1.1\r\nHost: g\r\n\n"},
        {"GET / HTTP/1.1\r\nHost: g\r\n\r\r\n"},
        {"GET / HTTP/1.1\r\nHost: g\r\nX: a\rb\r\n\r\n"},
        {"GET / HTTP/1.1\r\nHost: g\r\nX: a\r\r\n\r\n"},
        {"GET /\r HTTP/1.1\r\nHost: g\r\n\r\n"},
        // target
        {"GET /s1/a#b HTTP/1.1\r\nHost: g\r\n\r\n"},
        {"GET /s1/\xff HTTP/1.1\r\nHost: g\r\n\r\n"},
        {"GET /s1/a\x01" "b HTTP/1.1\r\nHost: g\r\n\r\n"},
        {"GET /s1/a\x7f HTTP/1.1\r\nHost: g\r\n\r\n"},
        {"GET /s1/\0 HTTP/1.1\r\nHost: g\r\n\r\n"sv},
        {"GET s1/a HTTP/1.1\r\nHost: g\r\n\r\n"},
        {"GET ?x HTTP/1.1\r\nHost: g\r\n\r\n"},
        {"GET * HTTP/1.1\r\nHost: g\r\n\r\n"},
        {"OPTIONS *x HTTP/1.1\r\nHost: g\r\n\r\n"},
        {"CONNECT b:443 HTTP/1.1\r\nHost: b:443\r\n\r\n", 405},
        {"GET b:443 HTTP/1.1\r\nHost: b:443\r\n\r\n"},
        {"GET http://b.test/p HTTP/1.1\r\nHost: a.test\r\n\r\n"},
        {"GET http://b.test:81/p HTTP/1.1\r\nHost: b.test\r\n\r\n"},
        {"GET http://u@b.test/p HTTP/1.1\r\nHost: b.test\r\n\r\n"},
        {"GET http:///p HTTP/1.1\r\nHost: b.test\r\n\r\n"},
        {"GET http:/p HTTP/1.1\r\nHost: b.test\r\n\r\n"},
        {"GET http://b.test HTTP/1.1\r\n\r\n"},
        {"GET http://b.test#f HTTP/1.1\r\nHost: b.test\r\n\r\n"},
        {"GET ftp://b.test/p HTTP/1.1\r\nHost: b.test\r\n\r\n"},
        {"GET https://b.test/p HTTP/1.1\r\nHost: b.test\r\n\r\n"},
        // Host
        {"GET / HTTP/1.1\r\n\r\n"},
        {"GET / HTTP/1.1\r\nHost: g\r\nHost: g\r\n\r\n"},
        {"GET / HTTP/1.1\r\nHost: g\r\nhost: h\r\n\r\n"},
        {"GET / HTTP/1.0\r\nHost: g\r\nHost: g\r\n\r\n"},
        {"GET / HTTP/1.1\r\nHost:\r\n\r\n"},
        {"GET / HTTP/1.0\r\nHost:\r\n\r\n"},
        {"GET / HTTP/1.1\r\nHost: g/h?x@y\r\n\r\n"},
        {"GET / HTTP/1.1\r\nHost: u@g\r\n\r\n"},
        {"GET / HTTP/1.1\r\nHost: g, h\r\n\r\n"},
        {"GET / HTTP/1.1\r\nHost: g,h\r\n\r\n"},
        {"GET / HTTP/1.1\r\nHost: g h\r\n\r\n"},
        {"GET / HTTP/1.1\r\nHost: g:99999\r\n\r\n"},
        {"GET / HTTP/1.1\r\nHost: g:65536\r\n\r\n"},
        {"GET / HTTP/1.1\r\nHost: g:+80\r\n\r\n"},
        {"GET / HTTP/1.1\r\nHost: g:8:8\r\n\r\n"},
        {"GET / HTTP/1.1\r\nHost: :80\r\n\r\n"},
        {"GET / HTTP/1.1\r\nHost: [::1\r\n\r\n"},
        {"GET / HTTP/1.1\r\nHost: [::1]x\r\n\r\n"},
        {"GET / HTTP/1.1\r\nHost: [g]\r\n\r\n"},
        {"GET / HTTP/1.1\r\nHost: []\r\n\r\n"},
        {"GET / HTTP/1.1\r\nHost: a%4\r\n\r\n"},
        {"GET / HTTP/1.1\r\nHost: \xe4\r\n\r\n"},
        // fields
        {"GET / HTTP/1.1\r\nHost: g\r\nX-A: 1\r\n X-B: 2\r\n\r\n"},
        {"GET / HTTP/1.1\r\n Host: g\r\n\r\n"},
        {"GET / HTTP/1.1\r\nHost: g\r\nX-A:\r\n\tb\r\n\r\n"},
        {"GET / HTTP/1.1\r\nHost: g\r\nX-A: b\r\n \r\n\r\n"},
        {"GET / HTTP/1.1\r\nHost: g\r\n: 1\r\nX-B: 2\r\n\r\n"},
        {"GET / HTTP/1.1\r\nHost: g\r\nfoo\r\n\r\n"},
        {"GET / HTTP/1.1\r\nHost: g\r\nX(B): 2\r\n\r\n"},
        {"GET / HTTP/1.1\r\nHost: g\r\nX B: 2\r\n\r\n"},
        {"GET / HTTP/1.1\r\nHost: g\r\nX-B : 2\r\n\r\n"},
        {"GET / HTTP/1.1\r\nHost: g\r\nX\xff: 2\r\n\r\n"},
        {"GET / HTTP/1.1\r\nHost: g\r\nX: a\0b\r\n\r\n"sv},
        {"GET / HTTP/1.1\r\nHost: g\r\nX: a\x0b\r\n\r\n"},
        {"GET / HTTP/1.1\r\nHost: g\r\nX: a\x7f\r\n\r\n"},
    };
    for (const Row& row : rows) {
        INFO(row.text);
        const Outcome outcome = play(row.text);
        CHECK(outcome.status == row.status);
        CHECK(!outcome.reason.empty());
    }
}

TEST_CASE("framing of requests that is refused, cut anywhere") {
    struct Row {
        std::string_view lines;
        int status = 400;
    };
    const Row rows[] = {
        {"Content-Length:"}, {"Content-Length: +1"}, {"Content-Length: -1"}, {"Content-Length: 0x1"},
        {"Content-Length: 1 1"}, {"Content-Length: 1, 2"}, {"Content-Length: 1, 1"}, {"Content-Length: 1,"},
        {"Content-Length: 1.0"}, {"Content-Length: 18446744073709551617"}, {"Content-Length: 9223372036854775808"},
        {"Content-Length: 1\r\nContent-Length: 2"}, {"Content-Length: 1\r\nContent-Length: 1"},
        {"Content-Length: 1\r\nContent-Length: 01"}, {"Content-Length:\r\nContent-Length: 1"},
        {"Content-Length: 1\r\nTransfer-Encoding: chunked"}, {"Transfer-Encoding: chunked\r\nContent-Length: 1"},
        {"Transfer-Encoding: gzip\r\nContent-Length: 1"}, {"Transfer-Encoding: identity\r\nContent-Length: 1"},
        {"Transfer-Encoding: xchunked", 501}, {"Transfer-Encoding: gzip", 501}, {"Transfer-Encoding: identity", 501},
        {"Transfer-Encoding: gzip, chunked", 501}, {"Transfer-Encoding: chunked, identity", 501},
        {"Transfer-Encoding: chunked, chunked"}, {"Transfer-Encoding: , chunked"}, {"Transfer-Encoding: chunked,"},
        {"Transfer-Encoding: chunked;q=1"}, {"Transfer-Encoding:"}, {"Transfer-Encoding: \"chunked\""},
        {"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity"},
        {"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked"},
        {"Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked"},
        {"Transfer-Encoding : chunked"}, {"Transfer-Encoding: \x0b" "chunked"}, {"Transfer-Encoding:\r\n chunked"},
    };
    for (const Row& row : rows) {
        INFO(row.lines);
        std::string text = "POST /e HTTP/1.1\r\nHost: g\r\n";
        text.append(row.lines).append("\r\n\r\n1\r\nZ\r\n0\r\n\r\n");
        CHECK(play(text).status == row.status);
    }
    CHECK(play("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\nConnection: keep-alive\r\n\r\n0\r\n\r\n").status ==
          400);
}

namespace {
const std::string kChunkedHead = "POST /e HTTP/1.1\r\nHost: g\r\nTransfer-Encoding: CHUNKED\r\n\r\n";
}

TEST_CASE("chunked bodies that are accepted, cut anywhere") {
    struct Row {
        std::string_view text;
        const char* body;
    };
    const Row rows[] = {
        {"0\r\n\r\n", ""},
        {"000\r\n\r\n", ""},
        {"1\r\nZ\r\n0\r\n\r\n", "Z"},
        {"3\r\nabc\r\n004\r\ndefg\r\n1\r\nh\r\n0\r\n\r\n", "abcdefgh"},
        {"A\r\n0123456789\r\na\r\n0123456789\r\n0\r\n\r\n", "01234567890123456789"},
        {"4\r\n\r\n\r\n\r\n0\r\n\r\n", "\r\n\r\n"},
        {"1 \r\nZ\r\n0\t\r\n\r\n", "Z"},
        {"1;a=b\r\nZ\r\n0;c\r\n\r\n", "Z"},
        {"1;a=\"q;\\\"\"\r\nZ\r\n0\r\n\r\n", "Z"},
        {"1 ; a = b\r\nZ\r\n0\r\n\r\n", "Z"},
        {"1\r\nZ\r\n0\r\nX-T: 1\r\nContent-Length: 9\r\nHost: evil\r\nEmpty:\r\n\r\n", "Z"},
    };
    for (const Row& row : rows) {
        INFO(row.text);
        const std::string text = kChunkedHead + std::string(row.text);
        const Outcome outcome = play(text);
        CHECK(outcome.reason == "");
        CHECK(outcome.head == "POST /e host=g 1.1 chunked keep");
        CHECK(outcome.fields == "Host: g\nTransfer-Encoding: CHUNKED\n");
        CHECK(outcome.body == row.body);
        CHECK(outcome.done);
        CHECK(outcome.consumed == text.size());
    }
}

TEST_CASE("chunked bodies that are refused as soon as the fault is there") {
    struct Row {
        std::string_view text;
        int status = 400;
    };
    const Row rows[] = {
        {"0x1\r\n"}, {"+"}, {"-"}, {"1_"}, {"1x"}, {" "}, {"\r"}, {"g"}, {";a\r\n"}, {"1 1"}, {"\n"},
        {"1\n"}, {"0\n"}, {"0\r\n\n"}, {"1\r0"}, {"0\r\r"}, {"0\r\n\r0"},
        {"8000000000000000"}, {"ffffffffffffffff"}, {"10000000000000000"}, {"00000000000000001"},
        {"1;\n"}, {"1;a\rb"}, {"1;a\0"sv}, {"1;a\x7f"}, {"1;a=\"\n"}, {"1;a=\"\x01"},
        {"1\r\nZX"}, {"1\r\nZ0"}, {"1\r\nZ\n"}, {"1\r\nZ\rX"}, {"1\r\nZ\r\n\r"},
        {"0\r\nfoo\r"}, {"0\r\n:"}, {"0\r\nX :"}, {"0\r\nX: a\r\n b"}, {"0\r\n X"}, {"0\r\nX: a\n"}, {"0\r\nX: a\0"sv},
        {"0\r\nX: a\rb"}, {"0\r\nX\xff"},
    };
    for (const Row& row : rows) {
        INFO(row.text);
        CHECK(play(kChunkedHead + std::string(row.text)).status == row.status);
    }
}

TEST_CASE("what passes a limit is refused, what reaches it is not") {
    const ParseLimits limits{.requestLine = 20, .fieldBytes = 30, .fieldCount = 3, .chunkExtension = 5};
    struct Row {
        std::string text;
        int status;
    };
    const std::string small = "POST / HTTP/1.1\r\nHost: g\r\nTransfer-Encoding:chunked\r\n\r\n";  // 36 bytes of fields
    const Row rows[] = {
        {"GET /567891 HTTP/1.1\r\nHost: g\r\n\r\n", 0},
        {"GET /5678901 HTTP/1.1\r\nHost: g\r\n\r\n", 414},
        {"GET /" + std::string(50, 'a'), 414},
        {"GET / HTTP/1.1\r\nHost: g\r\nX: " + std::string(16, 'a') + "\r\n\r\n", 0},
        {"GET / HTTP/1.1\r\nHost: g\r\nX: " + std::string(17, 'a') + "\r\n\r\n", 431},
        {"GET / HTTP/1.1\r\nHost: g\r\n" + std::string(50, 'a'), 431},
        {"GET / HTTP/1.1\r\nHost: g\r\nA:\r\nB:\r\n\r\n", 0},
        {"GET / HTTP/1.1\r\nHost: g\r\nA:\r\nB:\r\nC:\r\n\r\n", 431},
        {small, 431},
    };
    for (const Row& row : rows) {
        INFO(row.text);
        CHECK(play(row.text, limits).status == row.status);
    }

    ParseLimits body{.fieldBytes = 80, .fieldCount = 3, .chunkExtension = 5};
    CHECK(play(kChunkedHead + "1;1234\r\nZ\r\n0\r\n\r\n", body).status == 0);
    CHECK(play(kChunkedHead + "1;12345\r\nZ\r\n0\r\n\r\n", body).status == 400);
    CHECK(play(kChunkedHead + "0\r\nA:\r\nB:\r\nC:\r\n\r\n", body).status == 0);
    CHECK(play(kChunkedHead + "0\r\nA:\r\nB:\r\nC:\r\nD:\r\n\r\n", body).status == 431);
    CHECK(play(kChunkedHead + "0\r\nA:" + std::string(80, 'a'), body).status == 431);

    // all extensions of a message together, however small each is
    const std::string chunk = "1;" + std::string(1000, 'e') + "\r\nZ\r\n";
    CHECK(play<RequestSide>(kChunkedHead + repeated(chunk, 65), {}).status == 0);
    CHECK(play<RequestSide>(kChunkedHead + repeated(chunk, 66), {}).status == 400);
}

TEST_CASE("a head that fills its buffer is too long in the line or in the fields") {
    CHECK(headTooLarge("GET /aaaaaaaaaaaa").status == 414);
    CHECK(headTooLarge("\r\n\r\nGET /aaaaaaaa").status == 414);
    CHECK(headTooLarge("").status == 414);
    CHECK(headTooLarge("GET / HTTP/1.1\r\nX: aaaaaaaa").status == 431);
}

TEST_CASE("fields are listed once and in order, with views into the fed bytes") {
    const Outcome outcome = play("GET / HTTP/1.1\r\nHost: g\r\nX-A:  1 \r\nx-a: 2\r\nEmpty:\r\nBlank: \t \r\n\r\n");
    CHECK(outcome.fields == "Host: g\nX-A: 1\nx-a: 2\nEmpty: \nBlank: \n");
}

TEST_CASE("path and query are views into the target, and no query is not an empty one") {
    struct Row {
        const char* target;
        const char* path;
        const char* query;  // null: none
    };
    const Row rows[] = {{"/a", "/a", nullptr}, {"/a?", "/a", ""}, {"/a?b?c", "/a", "b?c"}, {"/?x", "/", "x"},
                        {"http://g", "/", nullptr}, {"http://g?x", "/", "x"}};
    for (const Row& row : rows) {
        INFO(row.target);
        weir::base::ChunkPool pool;
        alignas(WEIR_ARENA_ALIGN) char chunk[weir::base::ChunkPool::kChunkSize];
        weir::base::Arena arena(pool, chunk, 0);
        RequestHead head(arena);
        std::string text = std::string("GET ") + row.target + " HTTP/1.1\r\nHost: g\r\n\r\n";
        REQUIRE(RequestParser::make(arena, head, {})->feed(text.data(), text.size()).done);
        CHECK(head.path == row.path);
        CHECK((head.query.data() == nullptr) == (row.query == nullptr));
        if (row.query) CHECK(head.query == row.query);
        CHECK(head.path.data() == head.target.data());
    }
}

TEST_CASE("a pipelined message stays untouched behind the first") {
    const std::string next = "GET /next HTTP/1.1\r\nHost: g\r\n\r\n";
    const std::string_view firsts[] = {
        "GET / HTTP/1.1\r\nHost: g\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: g\r\nContent-Length: 3\r\n\r\nabc",
        "POST / HTTP/1.1\r\nHost: g\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n2\r\nbc\r\n0\r\nX: y\r\n\r\n",
    };
    for (std::string_view first : firsts) {
        INFO(first);
        weir::base::ChunkPool pool;
        alignas(WEIR_ARENA_ALIGN) char chunk[weir::base::ChunkPool::kChunkSize];
        weir::base::Arena arena(pool, chunk, 0);
        RequestHead head(arena);
        std::string text = std::string(first) + next;
        auto* parser = RequestParser::make(arena, head, {});
        const Fed fed = parser->feed(text.data(), text.size());
        CHECK(fed.done);
        CHECK(fed.consumed == first.size());
        CHECK(text.substr(first.size()) == next);
        CHECK(parser->feed(text.data() + first.size(), next.size()).consumed == 0);
        CHECK(playAtEveryCut<RequestSide>(std::string(first) + next).consumed == first.size());
    }
}

TEST_CASE("a chunk's data stays where it lies when it is the only one of its feed") {
    weir::base::ChunkPool pool;
    alignas(WEIR_ARENA_ALIGN) char chunk[weir::base::ChunkPool::kChunkSize];
    weir::base::Arena arena(pool, chunk, 0);
    RequestHead head(arena);
    std::string text = kChunkedHead + "3\r\nabc\r\n0\r\n\r\n";
    const Fed fed = RequestParser::make(arena, head, {})->feed(text.data(), text.size());
    CHECK(fed.body.data() == text.data() + kChunkedHead.size() + 3);
}

TEST_CASE("damaged requests give the same outcome however they are cut") {
    const std::string seeds[] = {
        "GET http://b.test:80/p?q HTTP/1.1\r\nHost: b.test\r\nConnection: close\r\n\r\n",
        "POST /e HTTP/1.1\r\nHost: [::1]:80\r\nContent-Length: 3\r\n\r\nabc",
        kChunkedHead + "3;a=b\r\nabc\r\n2\r\nde\r\n0\r\nX: y\r\n\r\n",
    };
    const std::string_view alphabet = "\r\n\0 \t:;,/?#019af\x7f\xffHC"sv;
    std::uint32_t state = 1;
    const auto random = [&](std::size_t below) {
        state = state * 1664525 + 1013904223;
        return (state >> 8) % below;
    };
    for (int round = 0; round < 4000; ++round) {
        std::string text = seeds[random(3)];
        for (std::size_t edits = 1 + random(2); edits; --edits) {
            const std::size_t at = random(text.size());
            if (random(3) == 0) text.erase(at, 1);
            else if (random(2) == 0) text[at] = alphabet[random(alphabet.size())];
            else text.insert(at, 1, alphabet[random(alphabet.size())]);
        }
        std::vector<std::size_t> all;
        for (std::size_t cut = 1; cut < text.size(); ++cut) all.push_back(cut);
        INFO(text);
        const Outcome whole = play<RequestSide>(text, {});
        CHECK(play<RequestSide>(text, all) == whole);
        CHECK(play<RequestSide>(text, {1 + random(text.size() - 1)}) == whole);
    }
}

TEST_CASE("a plain request takes nothing from the heap") {
    weir::base::ChunkPool pool;
    alignas(WEIR_ARENA_ALIGN) char chunk[weir::base::ChunkPool::kChunkSize];
    weir::base::Arena arena(pool, chunk, 0);
    RequestHead head(arena);
    char text[] = "GET /a?b HTTP/1.1\r\nHost: g\r\nUser-Agent: x\r\nAccept: */*\r\nConnection: keep-alive\r\n\r\n";
    const std::size_t before = allocations;
    const Fed fed = RequestParser::make(arena, head, {})->feed(text, sizeof text - 1);
    const std::size_t after = allocations;
    CHECK(fed.done);
    CHECK(after == before);
    CHECK(pool.inUse() == 0);
}
