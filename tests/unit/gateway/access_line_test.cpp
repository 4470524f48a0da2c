#include "gateway/access_line.hpp"

#include <cstdlib>
#include <ctime>
#include <string>

#include "base/value.hpp"
#include "support/catch.hpp"

using namespace weir;
using config::AccessLogFormat;
using gateway::AccessLine;
using gateway::AccessRecord;

namespace {

AccessRecord usual() {
    AccessRecord record;
    record.client = "192.0.2.7";
    record.beganMs = 1700000000123;  // 2023-11-14T22:13:20Z
    record.method = "GET";
    record.target = "/a/b?c=d";
    record.status = 200;
    record.bodyBytes = 64;
    record.referer = "http://example.org/";
    record.userAgent = "curl/8.0";
    record.durationUs = 1500;
    return record;
}

std::string write(AccessLogFormat format, const AccessRecord& record) {
    const std::size_t bound = AccessLine::bound(record);
    CHECK(bound <= AccessLine::kMaxBytes);
    std::string text(bound, '?');
    AccessLine line(format);
    const char* end = line.write(text.data(), record);
    text.resize(static_cast<std::size_t>(end - text.data()));
    REQUIRE(text.back() == '\n');
    text.pop_back();
    return text;
}

std::string combined(const AccessRecord& record) { return write(AccessLogFormat::Combined, record); }
std::string json(const AccessRecord& record) { return write(AccessLogFormat::Json, record); }

std::string textAt(const base::Value& object, std::string_view key) {
    const base::Value* value = object.find(key);
    return value ? value->text() : "(none)";
}

// A time zone for as long as it lives.
class Zone {
public:
    explicit Zone(const char* name) { set(name); }
    ~Zone() { set("UTC0"); }

private:
    static void set(const char* name) {
        ::setenv("TZ", name, 1);
        ::tzset();
    }
};

std::string everyByte() {
    std::string bytes;
    for (int c = 0; c < 256; ++c) bytes += static_cast<char>(c);
    return bytes;
}

}  // namespace

TEST_CASE("a combined line is nginx's, in local time") {
    struct Row { const char* zone; std::string time; };
    const Row rows[] = {
        {"UTC0", "14/Nov/2023:22:13:20 +0000"},
        {"IST-05:30", "15/Nov/2023:03:43:20 +0530"},
        {"MART+09:30", "14/Nov/2023:12:43:20 -0930"},
    };
    for (const Row& row : rows) {
        const Zone zone(row.zone);
        CHECK(combined(usual()) == "192.0.2.7 - - [" + row.time + "] \"GET /a/b?c=d HTTP/1.1\" 200 64 "
                                   "\"http://example.org/\" \"curl/8.0\"");
    }
}

TEST_CASE("what is not known is a hyphen in a combined line") {
    const Zone zone("UTC0");
    AccessRecord record;
    record.beganMs = 1;
    record.version = 10;
    CHECK(combined(record) == R"(- - - [01/Jan/1970:00:00:00 +0000] "-" 499 0 "-" "-")");
    record.method = "PUT";
    record.target = "*";
    record.status = 201;
    CHECK(combined(record) == R"(- - - [01/Jan/1970:00:00:00 +0000] "PUT * HTTP/1.0" 201 0 "-" "-")");
}

TEST_CASE("bytes that could forge a line or its fields are escaped in a combined line") {
    struct Row { std::string text; std::string written; };
    const Row rows[] = {
        {"plain /~!#$%&'()*+,-.:;<=>?@[]^_`{|}", "plain /~!#$%&'()*+,-.:;<=>?@[]^_`{|}"},
        {"\"", "\\x22"},
        {"\\", "\\x5C"},
        {"\\x22", "\\x5Cx22"},
        {"a\nb", "a\\x0Ab"},
        {"\r\n", "\\x0D\\x0A"},
        {std::string("\0", 1), "\\x00"},
        {"\t\x1b[2J", "\\x09\\x1B[2J"},
        {"\x7f", "\\x7F"},
        {"\x80\xff", "\\x80\\xFF"},
        {"\xc3\xa4", "\\xC3\\xA4"},
        {"\" 200 1 \"-\" \"-\"\n192.0.2.1 - - [", "\\x22 200 1 \\x22-\\x22 \\x22-\\x22\\x0A192.0.2.1 - - ["},
    };
    const Zone zone("UTC0");
    for (const Row& row : rows) {
        AccessRecord record = usual();
        record.userAgent = record.referer = record.target = record.method = record.client = row.text;
        INFO(row.written);
        const std::string& w = row.written;
        CHECK(combined(record) == w + " - - [14/Nov/2023:22:13:20 +0000] \"" + w + " " + w + " HTTP/1.1\" 200 64 \"" +
                                      w + "\" \"" + w + "\"");
    }
}

TEST_CASE("a JSON line has documented keys, those that are not known left out") {
    AccessRecord record = usual();
    CHECK(json(record) ==
          R"({"time":"2023-11-14T22:13:20.123Z","client":"192.0.2.7","method":"GET","target":"/a/b?c=d",)"
          R"("protocol":"HTTP/1.1","status":200,"bytes":64,"referer":"http://example.org/","userAgent":"curl/8.0",)"
          R"("durationUs":1500,"ended":"ok"})");
    record.upstream = "10.0.0.1:8080";
    record.upstreamUs = 1234;
    record.requestId = "rid";
    record.traceId = "tid";
    record.selector = "s";
    record.rule = "r";
    record.aborted = true;
    CHECK_THAT(json(record), Catch::EndsWith(R"("durationUs":1500,"upstream":"10.0.0.1:8080","upstreamUs":1234,)"
                                             R"("requestId":"rid","traceId":"tid","selector":"s","rule":"r",)"
                                             R"("ended":"aborted"})"));
    AccessRecord refused;
    refused.beganMs = 5;
    refused.status = 400;
    CHECK(json(refused) ==
          R"({"time":"1970-01-01T00:00:00.005Z","status":400,"bytes":0,"durationUs":0,"ended":"ok"})");
    refused.status = 0;
    CHECK_THAT(json(refused), Catch::Contains(R"("status":499)"));
}

TEST_CASE("hostile bytes keep a JSON line JSON, UTF-8 and one line") {
    struct Row { std::string text; std::string written; };
    const Row rows[] = {
        {"\"", "\\\""},
        {"\\", "\\\\"},
        {"\",\"status\":200,\"x\":\"", "\\\",\\\"status\\\":200,\\\"x\\\":\\\""},
        {"a\r\nb\t", "a\\u000D\\u000Ab\\u0009"},
        {std::string("\0", 1), "\\u0000"},
        {"\x1b[2J\x7f", "\\u001B[2J\\u007F"},
        {"\xc2\x85\xc2\x9b", "\\u0085\\u009B"},
        {"\xc2\xa0\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "\xc2\xa0\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"},
        {"\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xaa", "\\u2028\\u2029\xe2\x80\xaa"},
        {"\x80", "\\\\x80"},
        {"\xff\xfe", "\\\\xFF\\\\xFE"},
        {"\xc0\xaf", "\\\\xC0\\\\xAF"},
        {"\xed\xa0\x80", "\\\\xED\\\\xA0\\\\x80"},
        {"\xf4\x90\x80\x80", "\\\\xF4\\\\x90\\\\x80\\\\x80"},
        {"a\xe2\x82", "a\\\\xE2\\\\x82"},
        {"\xc3\"", "\\\\xC3\\\""},
    };
    for (const Row& row : rows) {
        AccessRecord record = usual();
        record.userAgent = row.text;
        const std::string line = json(record);
        INFO(line);
        CHECK_THAT(line, Catch::Contains("\"userAgent\":\"" + row.written + "\",\"durationUs\""));
        CHECK(base::parseJson(line).ok());
    }
}

TEST_CASE("every byte in every field leaves one line, and JSON that reads back") {
    const std::string bytes = everyByte();
    for (std::size_t shift = 0; shift < 256; ++shift) {
        const std::string text = bytes.substr(shift) + bytes.substr(0, shift);
        AccessRecord record = usual();
        for (auto* field : {&record.client, &record.method, &record.target, &record.referer, &record.userAgent,
                            &record.upstream, &record.requestId, &record.traceId, &record.selector, &record.rule}) {
            *field = text;
        }
        for (const auto format : {AccessLogFormat::Combined, AccessLogFormat::Json}) {
            CHECK(write(format, record).find('\n') == std::string::npos);
        }
        auto read = base::parseJson(json(record));
        REQUIRE(read);
        CHECK(textAt(*read, "status") == "200");
        CHECK(textAt(*read, "ended") == "ok");
    }
}

TEST_CASE("long fields are cut, never within a character, and the longest line fits") {
    struct Row { std::string text; std::string kept; };
    const Row rows[] = {
        {std::string(512, 'a'), std::string(512, 'a')},
        {std::string(513, 'a'), std::string(512, 'a') + "..."},
        {std::string(511, 'a') + "\xc3\xa4", std::string(511, 'a') + "..."},
        {std::string(510, 'a') + "\xc3\xa4x", std::string(510, 'a') + "\xc3\xa4..."},
        {std::string(509, 'a') + "\xf0\x9f\x98\x80x", std::string(509, 'a') + "..."},
        {std::string(508, 'a') + "\xf0\x9f\x98\x80x", std::string(508, 'a') + "\xf0\x9f\x98\x80..."},
    };
    for (const Row& row : rows) {
        AccessRecord record = usual();
        record.userAgent = row.text;
        auto read = base::parseJson(json(record));
        REQUIRE(read);
        CHECK(textAt(*read, "userAgent") == row.kept);
    }
    for (const char c : {'a', '\n', '\xff', '"'}) {
        const std::string endless(100000, c);
        AccessRecord record = usual();
        record.client = record.method = record.target = record.referer = record.userAgent = record.upstream = endless;
        record.requestId = record.traceId = record.selector = record.rule = endless;
        record.bodyBytes = record.durationUs = record.upstreamUs = ~std::uint64_t{0};
        record.aborted = true;
        CHECK(combined(record).size() < AccessLine::bound(record));
        CHECK(json(record).size() < AccessLine::bound(record));
    }
    AccessRecord record = usual();
    const std::string target(3000, 't');
    record.target = target;
    CHECK_THAT(combined(record), Catch::Contains("GET " + std::string(2048, 't') + "... HTTP/1.1"));
}
