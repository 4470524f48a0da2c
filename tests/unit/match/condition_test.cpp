#include "match/condition.hpp"

#include "unit/match/fake_subject.hpp"
#include "support/catch.hpp"

namespace weir::match {
namespace {

bool holds(const ConditionSpec& spec, const FakeSubject& subject) {
    auto condition = Condition::compile(spec);
    REQUIRE(condition.ok());
    return condition->holds(subject);
}

}  // namespace

TEST_CASE("Operators compare the value of their parameter type") {
    FakeSubject subject;
    subject.path = "/order/findById";
    subject.verb = "PUT";
    subject.query = "id=7&name=a%20b&plus=a+b&first=1&first=2&enc%6Fded=yes&eq=a=b";
    subject.headers = {{"X-Kind", "gold"}, {"X-Kind", "second"}, {"Cookie", "a=1; tok=\"t 1\";b = 2 ;a=9"}};
    struct Row {
        ConditionSpec spec;
        bool expected;
    };
    const Row rows[] = {
        {{"uri", "=", "/", "/order/findById"}, true},
        {{"uri", "=", "/", "  /order/findById\n"}, true},  // paramValue is trimmed
        {{"uri", "=", "/", "/order/findbyid"}, false},
        {{"uri", "match", "/", "/order/*"}, true},
        {{"uri", "match", "/", "order"}, false},
        {{"uri", "pathPattern", "/", "/order/**"}, true},
        {{"uri", "pathPattern", "/", "/orders/**"}, false},
        {{"uri", "startsWith", "/", "/order"}, true},
        {{"uri", "startsWith", "/", "order"}, false},
        {{"uri", "endsWith", "/", "ById"}, true},
        {{"uri", "endsWith", "/", "Id/"}, false},
        {{"uri", "contains", "/", "r/f"}, true},
        {{"uri", "contains", "/", "r/g"}, false},
        {{"uri", "exclude", "/", "/order/**"}, false},
        {{"uri", "exclude", "/", "/other/**"}, true},
        {{"uri", "isBlank", "/", ""}, false},
        {{"header", "=", "x-kind", "gold"}, true},
        {{"header", "=", "x-kind", "second"}, false},  // the first value counts
        {{"header", "match", "X-Kind", "ol"}, true},   // not a uri: contains
        {{"header", "pathPattern", "X-Kind", "ol"}, true},
        {{"header", "exclude", "X-Kind", "ol"}, false},
        {{"header", "exclude", "X-Kind", "silver"}, true},
        {{"header", "startsWith", "X-Kind", "go"}, true},
        {{"query", "=", "id", "7"}, true},
        {{"query", "=", "name", "a b"}, true},
        {{"query", "=", "plus", "a b"}, true},
        {{"query", "=", "first", "1"}, true},
        {{"query", "=", "first", "2"}, false},
        {{"query", "=", "encoded", "yes"}, true},
        {{"query", "=", "eq", "a=b"}, true},
        {{"cookie", "=", "a", "1"}, true},
        {{"cookie", "=", "tok", "t 1"}, true},
        {{"cookie", "=", "b", "2"}, true},
        {{"cookie", "=", "c", "2"}, false},
        {{"req_method", "=", "", "PUT"}, true},
        {{"domain", "endsWith", "", ".org"}, true},
        {{"ip", "=", "", "192.0.2.7"}, true},
        {{"host", "startsWith", "", "192.0."}, true},
    };
    for (const auto& row : rows) {
        CAPTURE(row.spec.paramType, row.spec.operatorName, row.spec.paramName, row.spec.paramValue);
        CHECK(holds(row.spec, subject) == row.expected);
    }
}

TEST_CASE("An absent or blank value matches no operator but isBlank") {
    for (const char* query : {"", "wat", "wat=", "WAT=bug", "wat=&wat=bug", "wat=%20", "x=%", "=bug"}) {
        FakeSubject subject;
        subject.query = query;
        CAPTURE(query);
        for (const char* op : {"=", "match", "pathPattern", "contains", "startsWith", "endsWith", "exclude"}) {
            CAPTURE(op);
            CHECK_FALSE(holds({"query", op, "wat", "bug"}, subject));
            CHECK_FALSE(holds({"header", op, "wat", "bug"}, subject));
            CHECK_FALSE(holds({"cookie", op, "wat", "bug"}, subject));
        }
        CHECK(holds({"query", "isBlank", "wat", ""}, subject));
        CHECK(holds({"header", "isBlank", "wat", ""}, subject));
    }
    FakeSubject subject;
    subject.query = "wat=a&wat=bug";
    CHECK_FALSE(holds({"query", "=", "wat", "bug"}, subject));
    CHECK_FALSE(holds({"query", "isBlank", "wat", ""}, subject));
    CHECK(holds({"query", "exclude", "wat", "bug"}, subject));
}

TEST_CASE("A malformed escape in a query stands for its own characters") {
    FakeSubject subject;
    subject.query = "x=%zz&y=%4";
    CHECK(holds({"query", "=", "x", "%zz"}, subject));
    CHECK(holds({"query", "=", "y", "%4"}, subject));
}

TEST_CASE("A condition that cannot be compiled says what was expected") {
    struct Row {
        ConditionSpec spec;
        base::ErrorCode code;
        const char* message;
    };
    const Row rows[] = {
        {{"uri", "pathPatter", "/", "/a"}, base::ErrorCode::Unsupported,
         "operator 'pathPatter' is unknown, did you mean 'pathPattern'?"},
        {{"moon", "=", "/", "/a"}, base::ErrorCode::Unsupported, "paramType 'moon' is unknown"},
        {{"heder", "=", "a", "b"}, base::ErrorCode::Unsupported,
         "paramType 'heder' is unknown, did you mean 'header'?"},
        {{"uri", "regex", "/", "a.*"}, base::ErrorCode::Unsupported, "operator 'regex' is not offered yet"},
        {{"query", ">", "a", "1"}, base::ErrorCode::Unsupported, "operator '>' is not offered yet"},
        {{"post", "=", "path", "/a"}, base::ErrorCode::Unsupported, "paramType 'post' is not offered yet"},
        {{"header", "=", "", "b"}, base::ErrorCode::InvalidConfig,
         "paramName is empty, expected the name of the header"},
        {{"uri", "pathPattern", "/", "/a/**/b"}, base::ErrorCode::InvalidConfig,
         "pathPattern '/a/**/b': position 4: '**' is only allowed as the last segment of a pathPattern"},
    };
    for (const auto& row : rows) {
        CAPTURE(row.spec.paramType, row.spec.operatorName);
        auto condition = Condition::compile(row.spec);
        REQUIRE_FALSE(condition.ok());
        CHECK(condition.error().code == row.code);
        CHECK(condition.error().message == row.message);
    }
}

}  // namespace weir::match
