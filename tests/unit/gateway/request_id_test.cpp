#include "gateway/request_id.hpp"

#include <set>
#include <string>

#include "support/catch.hpp"

using weir::gateway::IdSource;
using weir::gateway::isRequestId;

namespace {
bool isHex(const std::string& text) { return text.find_first_not_of("0123456789abcdef") == text.npos; }
}  // namespace

TEST_CASE("ids are 32 lower-case hex digits and no two of any source are the same") {
    std::set<std::string> ids;
    constexpr std::size_t kEach = 20000;
    for (int sources = 0; sources < 3; ++sources) {
        IdSource source;
        for (std::size_t i = 0; i < kEach; ++i) {
            std::string id(IdSource::kIdDigits, '?');
            source.writeId(id.data());
            if (isHex(id)) ids.insert(id);
        }
    }
    CHECK(ids.size() == 3 * kEach);
}

TEST_CASE("span ids are 16 lower-case hex digits and differ from each other and from the ids between them") {
    IdSource source;
    std::set<std::string> spans;
    for (int i = 0; i < 20000; ++i) {
        std::string id(IdSource::kIdDigits, '?');
        std::string span(IdSource::kSpanDigits, '?');
        source.writeId(id.data());
        source.writeSpanId(span.data());
        if (isHex(span) && span != id.substr(16)) spans.insert(span);
    }
    CHECK(spans.size() == 20000);
}

TEST_CASE("nothing is written beside the digits") {
    IdSource source;
    std::string text(IdSource::kIdDigits + 2, '#');
    source.writeId(text.data() + 1);
    CHECK(text.front() == '#');
    CHECK(text.back() == '#');
}

TEST_CASE("a client's request id is 1 to 128 letters, digits, dots, underscores and hyphens") {
    for (const std::string& good : {std::string("a"), std::string("A.b_C-9"), std::string(128, 'z')}) {
        INFO(good);
        CHECK(isRequestId(good));
    }
    for (const std::string& bad : {std::string(""), std::string(129, 'z'), std::string("a b"), std::string("a\"b"),
                                   std::string("a/b"), std::string("a\0b", 3), std::string("\xc3\xa4"),
                                   std::string("a,b"), std::string("a\n")}) {
        INFO(bad);
        CHECK_FALSE(isRequestId(bad));
    }
}
