#include "http/plain_head.hpp"

#include <string>

#include "parser_transcript.hpp"

using namespace weir::http;
using namespace std::string_view_literals;

namespace {

// A head that came in two reads is none for PlainHead: HeadScan and Beast judge it.
template <class Side>
Outcome judged(std::string_view text) {
    return play<Side>(text, {1});
}

template <class Side>
bool isPlain(std::string_view text, const ParseLimits& limits = {}) {
    weir::base::ChunkPool pool;
    alignas(WEIR_ARENA_ALIGN) char chunk[weir::base::ChunkPool::kChunkSize];
    weir::base::Arena arena(pool, chunk, 0);
    typename Side::Head head(arena);
    HeadFraming framing(std::is_same_v<Side, RequestSide>);
    PlainHead plain(text.data(), text.size(), limits);
    if constexpr (std::is_same_v<Side, RequestSide>) {
        PlainHead::RequestLine line;
        return plain.requestLine(line) && plain.fieldLines(head.fields, framing);
    } else {
        PlainHead::StatusLine line;
        return plain.statusLine(line) && plain.fieldLines(head.fields, framing);
    }
}

const std::string_view kRequest =
    "POST /a?b HTTP/1.1\r\nHost: g:1\r\nConnection: close\r\nX-A:\tb c\t\r\nE:\r\nContent-Length: 12\r\n\r\n";
const std::string_view kChunkedRequest =
    "PUT / HTTP/1.1\r\nHost: g\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\nUpgrade: a\r\n\r\n";
const std::string_view kResponse =
    "HTTP/1.1 200 OK\r\nServer: n\r\nContent-Length: 3\r\nConnection: keep-alive\r\nProxy-Connection: x\r\n\r\n";

// Replaces, doubles and drops every byte, and puts each of the 256 before it: what is left plain reads as judged.
template <class Side>
void compareMutations(std::string_view text) {
    int plain = 0;
    const auto compare = [&](const std::string& mutated) {
        plain += isPlain<Side>(mutated);
        const Outcome whole = play<Side>(mutated, {});
        const Outcome other = judged<Side>(mutated);
        if (whole == other && whole.reason == other.reason) return;
        INFO(mutated);
        CHECK(whole == other);
        CHECK(whole.reason == other.reason);
    };
    for (std::size_t at = 0; at < text.size(); ++at) {
        const std::string before(text.substr(0, at));
        const std::string behind(text.substr(at + 1));
        compare(before + behind);
        for (int c = 0; c < 256; ++c) {
            compare(before + static_cast<char>(c) + behind);
            compare(before + static_cast<char>(c) + text[at] + behind);
        }
    }
    CHECK(plain > 1000);  // the comparison is not one of Beast with itself
}

}  // namespace

TEST_CASE("a plain head reads as HeadScan and Beast read it, whichever byte of it changes") {
    compareMutations<RequestSide>(kRequest);
    compareMutations<RequestSide>(kChunkedRequest);
    compareMutations<ResponseSide<false>>(kResponse);
}

TEST_CASE("a plain head with other lines reads as HeadScan and Beast read it") {
    const std::string_view lines[] = {
        "Content-Length: 3\r\n", "Content-Length: 03\r\n", "Content-Length: 3, 3\r\n", "Content-Length: \r\n",
        "Content-Length: 9223372036854775808\r\n", "Transfer-Encoding: chunked\r\n", "Transfer-Encoding: gzip\r\n",
        "Transfer-Encoding: chunked, chunked\r\n", "Connection: close, x\r\n", "Connection: ,\r\n", "Connection:\r\n",
        "Connection: a b\r\n", "Connection: upgrade\r\n", "Connection: keep-alive\r\n", "Proxy-Connection: a b\r\n", "Upgrade: h2c, a b\r\n", "Host: a\r\n", "Host: a,b\r\n",
        "Content_Length: 3\r\n", " folded\r\n", "\tfolded\r\n", "A: b\n", "A: b\r\r\n", "A: \x80\xff\t\x7f\r\n",
        "A : b\r\n", ": b\r\n", "A\r\n", "A: b\r\n c\r\n", "Expect: 100-continue\r\n", "Expect: b\r\n",
    };
    for (std::string_view first : lines) {
        for (std::string_view second : lines) {
            for (std::string_view start : {"GET / HTTP/1.1\r\nHost: g\r\n"sv, "GET / HTTP/1.0\r\n"sv}) {
                const std::string text = std::string(start).append(first).append(second).append("\r\n");
                INFO(text);
                CHECK(play<RequestSide>(text, {}) == judged<RequestSide>(text));
                CHECK(play<RequestSide>(text, {}).reason == judged<RequestSide>(text).reason);
            }
            for (std::string_view start : {"HTTP/1.1 200 OK\r\n"sv, "HTTP/1.0 304 \r\n"sv, "HTTP/1.1 099 x\r\n"sv,
                                           "HTTP/1.1 100 Continue\r\n"sv, "HTTP/1.1 200\r\n"sv}) {
                const std::string text = std::string(start).append(first).append(second).append("\r\n");
                INFO(text);
                CHECK(play<ResponseSide<false>>(text, {}) == judged<ResponseSide<false>>(text));
                CHECK(play<ResponseSide<false>>(text, {}).reason == judged<ResponseSide<false>>(text).reason);
            }
        }
    }
}

TEST_CASE("what leaves something to judge is not plain") {
    CHECK(isPlain<RequestSide>(kRequest));
    CHECK(isPlain<RequestSide>(kChunkedRequest));
    CHECK(isPlain<ResponseSide<false>>(kResponse));
    for (std::size_t size = 0; size < kRequest.size(); ++size)
        CHECK_FALSE(isPlain<RequestSide>(kRequest.substr(0, size)));
    for (std::string_view text : {
             "\r\nGET / HTTP/1.1\r\nHost: g\r\n\r\n"sv, "GET http://g/ HTTP/1.1\r\nHost: g\r\n\r\n"sv,
             "GET / HTTP/1.2\r\nHost: g\r\n\r\n"sv, "GET / HTTP/1.1\nHost: g\r\n\r\n"sv,
             "GET / HTTP/1.1\r\nHost: g\r\nHost: g\r\n\r\n"sv, "GET / HTTP/1.1\r\nHost: g\r\n folded\r\n\r\n"sv,
             "GET / HTTP/1.1\r\nHost: g\r\nConnection: a, b\r\n\r\n"sv,
             "GET / HTTP/1.1\r\nHost: g\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"sv,
             "GET / HTTP/1.1\r\nHost: g\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n"sv,
             "GET / HTTP/1.1\r\nHost: g\r\nTransfer-Encoding: gzip\r\n\r\n"sv}) {
        INFO(text);
        CHECK_FALSE(isPlain<RequestSide>(text));
    }
    CHECK_FALSE(isPlain<ResponseSide<false>>("HTTP/1.1 200\r\n\r\n"));
    CHECK_FALSE(isPlain<ResponseSide<false>>("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n"));
}

TEST_CASE("a head at its limits is plain, past them it is not") {
    const std::string_view text = "GET /abc HTTP/1.1\r\nHost: g\r\nA: b\r\n\r\n";
    ParseLimits limits;
    limits.requestLine = 17;
    limits.fieldBytes = 15;
    limits.fieldCount = 2;
    CHECK(isPlain<RequestSide>(text, limits));
    for (std::uint32_t ParseLimits::*limit :
         {&ParseLimits::requestLine, &ParseLimits::fieldBytes, &ParseLimits::fieldCount}) {
        ParseLimits tighter = limits;
        tighter.*limit -= 1;
        CHECK_FALSE(isPlain<RequestSide>(text, tighter));
        CHECK(play<RequestSide>(text, {}, false, tighter).status >= 414);
    }
}
