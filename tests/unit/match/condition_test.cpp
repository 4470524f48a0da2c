#include "match/condition.hpp"

#include "unit/match/fake_subject.hpp"
#include "support/catch.hpp"

namespace weir::match {
namespace {

bool holds(const ConditionSpec& spec, const FakeSubject& subject) {
    auto compiled = Condition::compile(spec, {});
    REQUIRE(compiled.ok());
    REQUIRE(compiled->waiting == "");
    return compiled->condition.holds(subject);
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

TEST_CASE("Parameter types yield the values of fact sheet 3.2") {
    FakeSubject subject;
    subject.fields[ContextField::RpcType] = "http";
    subject.fields[ContextField::AppKey] = "K1";
    subject.fields[ContextField::StartDateTime] = "2024-05-06 07:08:09";
    struct Row {
        ConditionSpec spec;
        bool expected;
    };
    const Row rows[] = {
        {{"post", "=", "rpcType", "http"}, true},
        {{"post", "=", "appKey", "K1"}, true},
        {{"post", "=", "contextPath", "/a"}, false},
        {{"post", "isBlank", "contextPath", ""}, true},
        {{"post", "TimeBefore", "startDateTime", "2024-05-06 07:08:10"}, true},
        {{"post", "TimeAfter", "startDateTime", "2024-05-06 07:08:09"}, false},
        {{"domain", "=", "", "Example.ORG"}, true},
        {{"domain", "startsWith", "", "EX"}, true},
        {{"domain", "endsWith", "", ".ORG"}, true},
        {{"domain", "contains", "", "PLE"}, true},
        {{"domain", "match", "", "PLE"}, true},
        {{"domain", "pathPattern", "", "PLE"}, true},
        {{"domain", "exclude", "", "PLE"}, false},
        {{"domain", "regex", "", "EXAMPLE\\.(org|com)"}, true},
        {{"header", "regex", "x", "A"}, false},
    };
    for (const auto& row : rows) {
        CAPTURE(row.spec.paramType, row.spec.operatorName, row.spec.paramName, row.spec.paramValue);
        CHECK(holds(row.spec, subject) == row.expected);
    }
}

TEST_CASE("Every operator of fact sheet 3.4 means the same for all parameter types but uri") {
    struct Row {
        const char* op;
        const char* expected;
        const char* value;
        bool uri;    // on a uri
        bool other;  // on a header
    };
    const Row rows[] = {
        {"match", "/a/*", "/a/b", true, false},
        {"match", "/a", "/a/b", false, true},
        {"pathPattern", "/a/{x}", "/a/b", true, false},
        {"pathPattern", "/a", "/x/a", false, true},
        {"exclude", "/a/*", "/a/b", false, true},
        {"exclude", "/a", "/a/b", true, false},
        {"=", "/a", "/a", true, true},
        {"=", "/a", "/A", false, false},
        {"regex", "/a.*c", "/abc", true, true},
        {"regex", "/a", "/ab", false, false},
        {"contains", "/b", "/a/b/c", true, true},
        {"contains", "/d", "/a/b/c", false, false},
        {"startsWith", "/a", "/ab", true, true},
        {"startsWith", "/b", "/ab", false, false},
        {"endsWith", "b", "/ab", true, true},
        {"endsWith", "a", "/ab", false, false},
        {"isBlank", "", "/ab", false, false},
        {"TimeBefore", "2020-01-01 00:00:00", "2019-12-31 23:59:59", true, true},
        {"TimeBefore", "2020-01-01 00:00:00", "2020-01-01 00:00:00", false, false},
        {"TimeAfter", "2020-01-01 00:00:00", "2020-01-01 00:00:01", true, true},
        {"TimeAfter", "2020-01-01 00:00:00", "2020-01-01 00:00:00", false, false},
        {"TimeAfter", "2020-01-01 00:00:00", "soon", false, false},
        {"TimeBefore", "2020-01-01 00:00:00", "2019-12-31", false, false},
        {">", "9", "10", true, true},
        {">", "10", "9", false, false},
        {"<", "9", "10", false, false},
        {"<", "10", "9", true, true},
    };
    for (const auto& row : rows) {
        FakeSubject subject;
        subject.path = row.value;
        subject.headers = {{"x", row.value}};
        CAPTURE(row.op, row.expected, row.value);
        CHECK(holds({"uri", row.op, "/", row.expected}, subject) == row.uri);
        CHECK(holds({"header", row.op, "x", row.expected}, subject) == row.other);
    }
}

TEST_CASE("Numbers are compared exactly, and what is none never holds") {
    struct Row {
        const char* value;
        const char* limit;
        int order;  // of value against limit; 2: not numbers
    };
    const Row rows[] = {
        {"1", "1", 0},       {"1.50", "1.5", 0},   {"-0", "0", 0},     {"007", "7", 0},
        {"-1", "1", -1},     {"-2", "-1", -1},     {"2", "10", -1},    {"0.09", "0.1", -1},
        {"1.5", "1.49", 1},  {"+3", "2", 1},       {".5", "0.4", 1},   {"5.", "4", 1},
        {" 7 ", "6", 1},     {"9007199254740993", "9007199254740992", 1},
        {"1e3", "1", 2},     {"x", "1", 2},        {"1,5", "1", 2},    {"--1", "1", 2},
        {".", "1", 2},       {"-", "1", 2},        {"1", "many", 2},   {"0x10", "1", 2},
    };
    for (const auto& row : rows) {
        CAPTURE(row.value, row.limit);
        FakeSubject subject;
        subject.headers = {{"n", row.value}};
        CHECK(holds({"header", ">", "n", row.limit}, subject) == (row.order == 1));
        CHECK(holds({"header", "<", "n", row.limit}, subject) == (row.order == -1));
    }
    auto compiled = Condition::compile({"header", ">", "n", "many"}, {});
    REQUIRE(compiled.ok());
    CHECK(compiled->remark == "> 'many' never holds: that is no number");
}

TEST_CASE("A time without paramName compares now, whatever the parameter type") {
    for (const char* type : {"uri", "header", "query", "post", "domain"}) {
        CAPTURE(type);
        CHECK(holds({type, "TimeAfter", "", "2020-01-01 00:00:00"}, FakeSubject()));
        CHECK_FALSE(holds({type, "TimeAfter", "", "9999-12-31 23:59:59"}, FakeSubject()));
        CHECK_FALSE(holds({type, "TimeBefore", "", "2020-01-01 00:00:00"}, FakeSubject()));
        CHECK(holds({type, "TimeBefore", "", "9999-12-31 23:59:59"}, FakeSubject()));
    }
    CHECK_FALSE(holds({"uri", "TimeAfter", "/", "2020-01-01 00:00:00"}, FakeSubject()));
}

TEST_CASE("An absent or blank value matches no operator but isBlank and exclude") {
    for (const char* query : {"", "wat", "wat=", "WAT=bug", "wat=&wat=bug", "wat=%20", "x=%", "=bug"}) {
        FakeSubject subject;
        subject.query = query;
        CAPTURE(query);
        for (const char* op : {"=", "match", "pathPattern", "contains", "startsWith", "endsWith", "regex"}) {
            CAPTURE(op);
            CHECK_FALSE(holds({"query", op, "wat", "bug"}, subject));
            CHECK_FALSE(holds({"header", op, "wat", "bug"}, subject));
            CHECK_FALSE(holds({"cookie", op, "wat", "bug"}, subject));
        }
        for (const char* op : {">", "<"}) CHECK_FALSE(holds({"query", op, "wat", "0"}, subject));
        for (const char* op : {"isBlank", "exclude"}) {
            CAPTURE(op);
            CHECK(holds({"query", op, "wat", "bug"}, subject));
            CHECK(holds({"header", op, "wat", "bug"}, subject));
            CHECK(holds({"cookie", op, "wat", "bug"}, subject));
        }
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
        const char* message;
    };
    const Row rows[] = {
        {{"header", "=", "", "b"}, "paramName is empty, expected the name of the header"},
        {{"", "=", "", "b"}, "paramType is empty, expected one like 'uri'"},
        {{"uri", " ", "", "b"}, "operator is empty, expected one like '='"},
        {{"post", "=", "realUrls", "b"},
         "paramName 'realUrls' is no field of the request's context, did you mean 'realUrl'?"},
        {{"uri", "pathPattern", "/", "/a/**/b"},
         "pathPattern '/a/**/b': position 4: '**' is only allowed as the last segment of a pathPattern"},
        {{"uri", "TimeAfter", "", "not a date"}, "TimeAfter 'not a date': expected a time as 'yyyy-MM-dd HH:mm:ss'"},
        {{"header", "TimeBefore", "x", "2023-02-29 00:00:00"},
         "TimeBefore '2023-02-29 00:00:00': expected a time as 'yyyy-MM-dd HH:mm:ss'"},
        {{"moon", "TimeBefore", "x", "soon"}, "TimeBefore 'soon': expected a time as 'yyyy-MM-dd HH:mm:ss'"},
    };
    for (const auto& row : rows) {
        CAPTURE(row.spec.paramType, row.spec.operatorName);
        auto compiled = Condition::compile(row.spec, {});
        REQUIRE_FALSE(compiled.ok());
        CHECK(compiled.error().code == base::ErrorCode::InvalidConfig);
        CHECK(compiled.error().message == row.message);
    }
    auto regex = Condition::compile({"uri", "regex", "/", "ab(?=c)"}, {});
    REQUIRE_FALSE(regex.ok());
    CHECK_THAT(regex.error().message, Catch::Matchers::StartsWith("regex 'ab(?=c)': position 3: "));
}

TEST_CASE("A name that nobody offers waits with the nearest one") {
    Providers providers;
    providers.operators["semver"] = nullptr;
    providers.parameterTypes["body"] = nullptr;
    struct Row {
        ConditionSpec spec;
        const char* waiting;
    };
    const Row rows[] = {
        {{"uri", "pathPatter", "/", "/a"}, "operator 'pathPatter' is unknown, did you mean 'pathPattern'?"},
        {{"uri", "semvers", "/", "/a"}, "operator 'semvers' is unknown, did you mean 'semver'?"},
        {{"uri", "null", "/", "/a"}, "operator 'null' is unknown"},
        {{"moon", "=", "/", "/a"}, "paramType 'moon' is unknown"},
        {{"bodi", "=", "/", "/a"}, "paramType 'bodi' is unknown, did you mean 'body'?"},
        {{"heder", "=", "a", "b"}, "paramType 'heder' is unknown, did you mean 'header'?"},
        {{"moon", "TimeAfter", "", "2020-01-01 00:00:00"}, "paramType 'moon' is unknown"},
        {{"form-data", "SpEL", "a", "b"}, "paramType 'form-data' is unknown; operator 'SpEL' is unknown"},
        {{"path", "=", "a", "b"}, "paramType 'path' is unknown"},
    };
    for (const auto& row : rows) {
        CAPTURE(row.spec.paramType, row.spec.operatorName);
        auto compiled = Condition::compile(row.spec, providers);
        REQUIRE(compiled.ok());
        CHECK(compiled->waiting == row.waiting);
    }
}

}  // namespace weir::match
