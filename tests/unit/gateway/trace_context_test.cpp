#include "gateway/trace_context.hpp"

#include <string>

#include "support/catch.hpp"

using namespace weir::gateway;

namespace {
const std::string kTrace = "0af7651916cd43dd8448eb211c80319c";
const std::string kSpan = "b7ad6b7169203331";
const std::string kIds = kTrace + "-" + kSpan;
const std::string kZeroTrace(32, '0');
const std::string kZeroSpan(16, '0');
}  // namespace

TEST_CASE("a traceparent is valid as W3C says") {
    struct Row { std::string value; bool valid; };
    const Row rows[] = {
        {"00-" + kIds + "-01", true},
        {"00-" + kIds + "-00", true},
        {"00-" + kIds + "-ff", true},
        {"00-" + kTrace.substr(1) + "0-" + kZeroSpan.substr(1) + "1-00", true},
        {"01-" + kIds + "-01", true},
        {"cc-" + kIds + "-01", true},
        {"cc-" + kIds + "-01-", true},
        {"cc-" + kIds + "-01-what-the-future-will-be-like", true},
        {"fe-" + kIds + "-01-x", true},

        {"", false},
        {"00", false},
        {"00-" + kIds, false},
        {"00-" + kIds + "-", false},
        {"00-" + kIds + "-1", false},
        {"00-" + kIds + "-001", false},
        {"00-" + kIds + "-01-", false},
        {"00-" + kIds + "-01-what-the-future", false},
        {"cc-" + kIds + "-01.what-the-future", false},
        {"cc-" + kIds + "-012", false},
        {"ff-" + kIds + "-01", false},
        {"ff-" + kIds + "-01-x", false},
        {"0-" + kIds + "-01", false},
        {".0-" + kIds + "-01", false},
        {"0x-" + kIds + "-01", false},
        {"FE-" + kIds + "-01", false},
        {"00-" + kZeroTrace + "-" + kSpan + "-01", false},
        {"00-" + kTrace + "-" + kZeroSpan + "-01", false},
        {"00-0AF7651916cd43dd8448eb211c80319c-" + kSpan + "-01", false},
        {"00-" + kTrace + "-B7ad6b7169203331-01", false},
        {"00-" + kIds + "-0A", false},
        {"00-" + kIds + "-0g", false},
        {"00-" + kTrace.substr(1) + ".-" + kSpan + "-01", false},
        {"00-" + kTrace.substr(1) + "-" + kSpan + "-01", false},
        {"00-" + kTrace + "0-" + kSpan.substr(1) + "-01", false},
        {"00_" + kIds + "-01", false},
        {"00-" + kTrace + "_" + kSpan + "-01", false},
        {"00-" + kIds + "_01", false},
        {" 00-" + kIds + "-01", false},
        {std::string(55, '-'), false},
        {std::string(55, '\0'), false},
    };
    for (const Row& row : rows) {
        INFO(row.value);
        CHECK(parseTraceparent(row.value).has_value() == row.valid);
    }
}

TEST_CASE("a traceparent's parts are read, of a later version too") {
    for (const std::string& value : {"00-" + kIds + "-01", "42-" + kIds + "-01-more"}) {
        auto parent = parseTraceparent(value);
        REQUIRE(parent);
        CHECK(parent->traceId == kTrace);
        CHECK(parent->parentId == kSpan);
        CHECK(parent->flags == "01");
    }
}

TEST_CASE("a new traceparent is valid, of this trace, sampled, and its parent is another each time") {
    IdSource ids;
    std::string first(kTraceparentLength, '?');
    std::string second(kTraceparentLength, '?');
    writeTraceparent(first.data(), kTrace, ids);
    writeTraceparent(second.data(), kTrace, ids);
    for (const std::string& made : {first, second}) {
        INFO(made);
        auto parent = parseTraceparent(made);
        REQUIRE(parent);
        CHECK(made.starts_with("00-"));
        CHECK(parent->traceId == kTrace);
        CHECK(parent->flags == "01");
    }
    CHECK(first != second);
}
