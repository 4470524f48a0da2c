#include "http/content_coding.hpp"

#include <string>

#include "support/catch.hpp"
#include "support/deflated.hpp"

using namespace weir;
using namespace weir::support;

namespace {

struct Decoding {
    base::ChunkPool pool;
    void* chunk = pool.take();
    base::Arena arena{pool, chunk, 0};
    ~Decoding() { pool.give(chunk); }

    std::optional<std::string> operator()(std::string_view coding, std::string_view body, std::size_t limit = 1 << 20) {
        const auto decoded = http::decodeContent(arena, coding, body, limit);
        return decoded ? std::optional(std::string(*decoded)) : std::nullopt;
    }
};

}  // namespace

TEST_CASE("a coded body is decoded by the name of its coding") {
    Decoding decode;
    const std::string text = R"({"a":1})";
    CHECK(decode("", text) == text);
    CHECK(decode("Identity", text) == text);
    CHECK(decode("gzip", deflated(text, kGzip)) == text);
    CHECK(decode("X-GZIP", deflated(text, kGzip)) == text);
    CHECK(decode("deflate", deflated(text, kZlib)) == text);
    CHECK(decode("deflate", deflated(text, kRawDeflate)) == text);
    CHECK(decode("gzip", deflated("", kGzip)) == "");
    CHECK(decode("gzip", deflated(text, kGzip) + deflated(text, kGzip)) == text + text);
    CHECK_FALSE(decode("br", text));
    CHECK_FALSE(decode("gzip, gzip", deflated(text, kGzip)));
    CHECK(http::isKnownCoding("gzip"));
    CHECK_FALSE(http::isKnownCoding("br"));
}

TEST_CASE("a coded body that is cut, broken or longer than it may be is none") {
    Decoding decode;
    const std::string text(300000, 'x');
    const std::string coded = deflated(text, kGzip);
    CHECK(coded.size() < 2000);
    CHECK(decode("gzip", coded, text.size()) == text);
    CHECK_FALSE(decode("gzip", coded, text.size() - 1));
    for (std::size_t size = 0; size < coded.size(); ++size) CHECK_FALSE(decode("gzip", coded.substr(0, size)));
    for (std::size_t at = 0; at < coded.size(); ++at) {
        std::string broken = coded;
        broken[at] = static_cast<char>(broken[at] ^ 0x55);
        const auto decoded = decode("gzip", broken);  // a header's flag or time may pass
        CHECK((!decoded || *decoded == text));
    }
    CHECK_FALSE(decode("gzip", coded + "more"));
    CHECK_FALSE(decode("gzip", "plain"));
}
