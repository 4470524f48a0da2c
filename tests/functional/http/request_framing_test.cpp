// Where a request ends (RFC 9112 6 and 7.1): everything that two readers could see differently is refused, and nothing
// of it reaches the upstream. What is accepted is framed anew.
#include <system_error>

#include "functional/http/http_rig.hpp"
#include "support/catch.hpp"

using namespace weir::support;
using namespace weir::functional;
using namespace std::string_literals;

namespace {

constexpr char kHead[] = "POST /s1/e HTTP/1.1\r\nHost: g\r\nTransfer-Encoding: chunked\r\n\r\n";

struct Refused {
    const char* name;
    std::string bytes;
    std::vector<int> statuses = {400};
};

struct Served {
    const char* name;
    std::string bytes;
    std::string body = "Z";
    std::string absent = "nothing";  // from what the upstream gets behind the head, whose ids may be anything
};

std::string chunkOf(const std::string& size, const std::string& data = "Z") {
    return size + "\r\n" + data + "\r\n0\r\n\r\n";
}

std::string withLength(const std::string& fields) { return post(fields, "Z"); }

std::string withCoding(const std::string& fields) { return post(fields, "1\r\nZ\r\n0\r\n\r\n"); }

void check(const HttpRig& rig, const RecordingUpstream& upstream, const Served& row) {
    INFO(row.name);
    const auto seen = checkServed(rig, upstream, row.bytes);
    CHECK(seen.body == row.body);
    CHECK(seen.count("Content-Length") + seen.count("Transfer-Encoding") == 1);
    CHECK(seen.raw.find(row.absent, seen.raw.find("\r\n\r\n")) == std::string::npos);
}

}  // namespace

TEST_CASE("chunk extensions are ignored and not forwarded; control bytes in them and too many are refused") {
    RecordingUpstream upstream(echoBody());
    HttpRig rig(upstream);
    const Refused refused[] = {
        {"LF", chunkOf("1;\nx")},
        {"CR", chunkOf("1;a\rb")},
        {"NUL", chunkOf("1;a\0b"s)},
        {"LF within quotes", chunkOf("1;a=\"\n\"")},
        {"CR within quotes", chunkOf("1;a=\"\rb\"")},
        {"NUL within quotes", chunkOf("1;a=\"\0\""s)},
        {"DEL", chunkOf("1;a\x7f")},
        {"in the last chunk's line", "1\r\nZ\r\n0;a\nb\r\n\r\n"},
        {"70,000 bytes", chunkOf("1;a=" + std::string(70'000, 'b'))},
    };
    for (const auto& row : refused) {
        INFO(row.name);
        if (row.bytes.size() < 10'000) checkRefused(rig, upstream, kHead + row.bytes, row.statuses);
        checkBrokenOff(rig, upstream, kHead, row.bytes, row.statuses);
    }
    const Served served[] = {
        {"name and value", postChunked(chunkOf("1;a=b")), "Z", "a=b"},
        {"name only", postChunked(chunkOf("1;abc")), "Z", "abc"},
        {"quoted", postChunked(chunkOf("1;a=\"q;\\\"\"")), "Z", "q;"},
        {"in the last chunk's line", postChunked("1\r\nZ\r\n0;a=b\r\n\r\n"), "Z", "a=b"},
    };
    for (const auto& row : served) check(rig, upstream, row);
}

TEST_CASE("ten thousand chunks with an extension of a kilobyte each are cut off") {
    RecordingUpstream upstream(echoBody());
    HttpRig rig(upstream);
    RawClient client(rig.port());
    client.send(kHead);
    const std::string chunk = "1;" + std::string(1000, 'a') + "\r\nZ\r\n";
    try {
        for (int i = 0; i < 10'000; ++i) client.send(chunk);
        CHECK(client.response().status() == 400);
        CHECK(client.closedByPeer());
    } catch (const std::system_error&) {
    }  // closed before all was sent: as good
    CHECK(upstream.requests().empty());
    CHECK(upstream.received().size() < 100'000);
}

TEST_CASE("a chunk size is hex digits and nothing else") {
    RecordingUpstream upstream(echoBody());
    HttpRig rig(upstream);
    for (const char* size : {"0x1", "+1", "-1", "1_0", "1xyz", " 1", "", "g", "\t1", ";a", "1 1", "1\n", "1,",
                             "8000000000000000", "ffffffffffffffff", "10000000000000001", "00000000000000000001"}) {
        INFO("size '" << size << "'");
        checkRefused(rig, upstream, kHead + chunkOf(size));
        checkBrokenOff(rig, upstream, kHead, chunkOf(size));
    }
    const std::string ten = "0123456789";
    const Served served[] = {
        {"a blank behind it", postChunked(chunkOf("1 ")), "Z", "1 \r"},
        {"leading zeros", postChunked(chunkOf("001")), "Z", "001"},
        {"A", postChunked(chunkOf("A", ten)), ten},
        {"a", postChunked(chunkOf("a", ten)), ten},
        {"two chunks", postChunked("1\r\nZ\r\n" + chunkOf("2", "YX")), "ZYX"},
        {"zeros as the last chunk", postChunked("1\r\nZ\r\n000\r\n\r\n"), "Z", "000"},
    };
    for (const auto& row : served) check(rig, upstream, row);
}

TEST_CASE("chunk data that does not end where its size says is refused") {
    RecordingUpstream upstream(echoBody());
    HttpRig rig(upstream);
    const Refused refused[] = {
        {"longer than its size", "1\r\nZXX\r\n0\r\n\r\n"},
        {"no CRLF behind it", "1\r\nZ0\r\n\r\n"},
        {"an empty line in place of the next size", "1\r\nZ\r\n\r\n\r\n"},
        {"CR alone behind the size", "1\r0\r\n\r\n"},
        {"LF alone behind the data", "1\r\nZ\n0\r\n\r\n"},
        {"LF alone behind the size", "1\nZ\r\n0\r\n\r\n"},
        {"LF alone behind the last size", "1\r\nZ\r\n0\n\r\n"},
        {"LF alone at the end", "1\r\nZ\r\n0\r\n\n"},
    };
    for (const auto& row : refused) {
        INFO(row.name);
        checkRefused(rig, upstream, kHead + row.bytes);
        checkBrokenOff(rig, upstream, kHead, row.bytes);
    }
}

TEST_CASE("a body that ends with the connection too early is no whole message for the upstream") {
    RecordingUpstream upstream(echoBody());
    HttpRig rig(upstream);
    const Refused rows[] = {
        {"within a chunk", postChunked("5\r\nAB")},
        {"behind a chunk", postChunked("2\r\nAB\r\n")},
        {"before the last empty line", postChunked("2\r\nAB\r\n0\r\n")},
        {"Content-Length", post("Content-Length: 5\r\n", "AB")},
    };
    for (const auto& row : rows) {
        INFO(row.name);
        RawClient client(rig.port());
        client.send(row.bytes);
        client.shutdownWrite();
        for (const auto& answer : answersUntilClose(client)) CHECK(answer.status() == 400);
        rig.settle();
        CHECK(eventually([&] { return upstream.connections() == upstream.ended(); }));
        CHECK(upstream.requests().empty());
        CHECK(upstream.received().find("0\r\n\r\n") == std::string::npos);
    }
}

TEST_CASE("a Content-Length is one line of digits that a length can have") {
    RecordingUpstream upstream(echoBody());
    HttpRig rig(upstream);
    const Refused refused[] = {
        {"empty", withLength("Content-Length: \r\n")},
        {"plus", withLength("Content-Length: +1\r\n")},
        {"minus", withLength("Content-Length: -1\r\n")},
        {"hex", withLength("Content-Length: 0x1\r\n")},
        {"a blank inside", withLength("Content-Length: 1 1\r\n")},
        {"two in a list", withLength("Content-Length: 1, 2\r\n")},
        {"2^64+1", withLength("Content-Length: 18446744073709551617\r\n")},
        {"2^64", withLength("Content-Length: 18446744073709551616\r\n")},
        {"2^63", withLength("Content-Length: 9223372036854775808\r\n")},
        {"fraction", withLength("Content-Length: 1.0\r\n")},
        {"exponent", withLength("Content-Length: 1e0\r\n")},
        {"two lines that differ", withLength("Content-Length: 1\r\nContent-Length: 2\r\n")},
        {"two lines, one empty", withLength("Content-Length: \r\nContent-Length: 1\r\n")},
        {"an equal twin in a list", withLength("Content-Length: 1, 1\r\n")},
        {"an equal twin on two lines", withLength("Content-Length: 1\r\nContent-Length: 1\r\n")},
        {"a comma behind", withLength("Content-Length: 1,\r\n")},
        {"VT before", withLength("Content-Length: \x0b" "1\r\n")},
        {"NUL behind", withLength("Content-Length: 1\0\r\n"s)},
        {"beside chunked", withCoding("Content-Length: 11\r\nTransfer-Encoding: chunked\r\n")},
        {"behind chunked", withCoding("Transfer-Encoding: chunked\r\nContent-Length: 11\r\n")},
    };
    for (const auto& row : refused) {
        INFO(row.name);
        checkRefused(rig, upstream, row.bytes, row.statuses);
    }
    const Served served[] = {
        {"leading zero", withLength("Content-Length: 01\r\n"), "Z", "Content-Length: 01"},
        {"a blank behind", withLength("Content-Length: 1 \r\n"), "Z", "1 \r"},
        {"a tab before", withLength("Content-Length:\t1\r\n"), "Z", ":\t"},
        {"no blank before", withLength("content-length:1\r\n")},
        {"nothing", post("Content-Length: 0\r\n"), ""},
    };
    for (const auto& row : served) check(rig, upstream, row);
}

TEST_CASE("the one Transfer-Encoding is chunked") {
    RecordingUpstream upstream(echoBody());
    HttpRig rig(upstream);
    const Refused refused[] = {
        {"unknown", withCoding("Transfer-Encoding: xchunked\r\n"), {501}},
        {"identity behind", withCoding("Transfer-Encoding: chunked, identity\r\n"), {501}},
        {"identity beside a length", post("Transfer-Encoding: identity\r\nContent-Length: 1\r\n", "Z")},
        {"identity", post("Transfer-Encoding: identity\r\n"), {501}},
        {"twice", withCoding("Transfer-Encoding: chunked, chunked\r\n")},
        {"two lines", withCoding("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n")},
        {"two equal lines", withCoding("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n")},
        {"a blank before the colon", withCoding("Transfer-Encoding : chunked\r\n")},
        {"VT before", withCoding("Transfer-Encoding: \x0b" "chunked\r\n")},
        {"folded", withCoding("Transfer-Encoding:\r\n chunked\r\n")},
        {"gzip", withCoding("Transfer-Encoding: gzip, chunked\r\n"), {501}},
        {"an empty element", withCoding("Transfer-Encoding: , chunked\r\n")},
        {"an empty element behind", withCoding("Transfer-Encoding: chunked,\r\n")},
        {"a parameter", withCoding("Transfer-Encoding: chunked;q=1\r\n")},
        {"quoted", withCoding("Transfer-Encoding: \"chunked\"\r\n")},
        {"empty", withCoding("Transfer-Encoding: \r\n")},
    };
    for (const auto& row : refused) {
        INFO(row.name);
        checkRefused(rig, upstream, row.bytes, row.statuses);
    }
    const Served served[] = {
        {"capitals", withCoding("Transfer-Encoding: CHUNKED\r\n"), "Z", "CHUNKED"},
        {"blanks around", withCoding("transfer-encoding: \t chunked\t \r\n"), "Z", "chunked\t"},
        {"an underscore in its name", post("Transfer_Encoding: chunked\r\nContent-Length: 1\r\n", "Z"), "Z", "_"},
    };
    for (const auto& row : served) check(rig, upstream, row);
}

TEST_CASE("chunks in an HTTP/1.0 request are refused, and what follows them is never served") {
    RecordingUpstream upstream(echoBody());
    HttpRig rig(upstream);
    const std::string rest = "1\r\nZ\r\n0\r\n\r\nGET /s1/smug HTTP/1.0\r\n\r\n";
    for (const char* connection : {"Connection: keep-alive\r\n", "Connection: close\r\n", ""}) {
        INFO(connection);
        const std::string head = "POST /s1/e HTTP/1.0\r\nHost: g\r\nTransfer-Encoding: chunked\r\n"s + connection;
        checkRefused(rig, upstream, head + "\r\n" + rest);
    }
}
