#include "mock/mock_template.hpp"

#include <set>

#include "mock/json_text.hpp"
#include "support/catch.hpp"

using namespace weir::mock;
using Catch::Contains;

namespace {

struct FakeRequest final : RequestData {
    std::string text;

    std::string_view method() const override { return "POST"; }
    std::string uri() const override { return "http://shop.example/a?x=1"; }
    std::string_view query() const override { return "x=1&name=J%C3%BCrgen+M&x=2&flag&&bad=%4"; }
    std::string_view body() const override { return text; }
    std::optional<std::string_view> header(std::string_view name) const override {
        if (name == "X-Id") return "i\"d";
        return std::nullopt;
    }
    void forEachHeader(const std::function<void(std::string_view, std::string_view)>& visit) const override {
        visit("Host", "shop.example");
        visit("X-Id", "i\"d");
        visit("x-id", "second");
    }
};

std::string render(const std::string& text, const std::string& body = "") {
    std::vector<std::string> faults;
    FakeRequest request;
    request.text = body;
    return Template::parse(text, faults).render(request).value_or("(too large)");
}

std::string expression(const std::string& text, const std::string& body = "") {
    return render("${expression|" + text + "}", body);
}

}  // namespace

TEST_CASE("each placeholder makes a value of its kind") {
    struct Row { const char* text; const char* made; };
    const Row rows[] = {
        {R"j({"a":1})j", R"j(\{"a":1\})j"},
        {"${bool}", "true|false"},
        {"${int|7-7}", "7"},
        {"${int|10-12}", "10|11|12"},
        {"${double|1-2}", R"j("(1\.[0-9]+|[12])")j"},
        {"${double|1.5-1.5|%.2f}", R"j("1\.50")j"},
        {"${double|2-1|}", R"j("(1\.[0-9]+|[12])")j"},
        {"${email}", R"j("[a-z]{5,10}@[a-z]{3,8}\.(com|org|cn|com\.cn|top|edu|io)")j"},
        {"${phone}", R"j("1[3-9][0-9]{9}")j"},
        {"${en|3-5}", R"j("[A-Za-z]{3,5}")j"},
        {"${en|0-0}", R"j("")j"},
        {"${zh|2-2}", "\"[\x80-\xff]{6}\""},
        {"${list|[x]}", R"j("x")j"},
        {R"j(${list|[a\,b,c d]})j", R"j("(a,b|c d)")j"},
        {"${current}", R"j("[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}")j"},
        {"${current|yyyy}", R"j("20[0-9]{2}")j"},
        {"${array|x|3}", R"j(\[x,x,x\])j"},
        {"${array|x|0}", R"j(\[\])j"},
        {"${array|a|b|2}", R"j(\[a\|b,a\|b\])j"},
        {R"j(${array|{"a":${int|1-1}}|2})j", R"j(\[\{"a":1\},\{"a":1\}\])j"},
        {"${array|${array|${bool}|2}|2}", R"j(\[\[(true|false),(true|false)\],\[(true|false),(true|false)\]\])j"},
        {R"j({"a":${int|1-1},"b":${list|[y]}})j", R"j(\{"a":1,"b":"y"\})j"},
        {"$ {x} ${open", R"j(\$ \{x\} \$\{open)j"},
        {"${bool} ${ {", R"j((true|false) \$\{ \{)j"},
    };
    for (const Row& row : rows) {
        INFO(row.text);
        CHECK_THAT(render(row.text), Catch::Matches(row.made));
    }
}

TEST_CASE("both ends of a range, and every element of a list, come up") {
    struct Row { const char* text; std::set<std::string> all; };
    const Row rows[] = {
        {"${int|1-3}", {"1", "2", "3"}},
        {"${bool}", {"true", "false"}},
        {"${list|[a,b]}", {"\"a\"", "\"b\""}},
        {"${expression|#oneOf('a', 1, null)}", {"\"a\"", "1", "null"}},
    };
    for (const Row& row : rows) {
        std::set<std::string> seen;
        for (int i = 0; i < 1000; ++i) seen.insert(render(row.text));  // one of three is missed once in 10^175
        CHECK(seen == row.all);
    }
}

TEST_CASE("what is no placeholder becomes the error text, and a fault says why") {
    struct Row { const char* text; const char* fault; };
    const Row rows[] = {
        {"${}", "'${}': there is no such placeholder"},
        {"${nope}", "'${nope}': there is no such placeholder"},
        {"${nope|1}", "'${nope|1}': there is no such placeholder"},
        {"${bool|1}", "there is no such placeholder"},
        {"${int}", "there is no such placeholder"},
        {"${int|5-1}", "expected int|a-b, a not above b"},
        {"${int|-5-1}", "expected int|a-b"},
        {"${int|1-99999999999999999999}", "expected int|a-b"},
        {"${double|1}", "expected double|a-b"},
        {"${double|1-2|%d}", "expected a format like %.2f"},
        {"${double|1-2|%s%n}", "expected a format like %.2f"},
        {"${en|1-10001}", "b at most 10000"},
        {"${zh|2-1}", "a not above b"},
        {"${list|[]}", "expected list|[x,y]"},
        {"${list|[ ]}", "expected list|[x,y]"},
        {"${list|a}", "expected list|[x,y]"},
        {"${current|nope}", "'nope' is no pattern of a date"},
        {"${array|x}", "expected array|item|n, n at most 10000"},
        {"${array|x|10001}", "expected array|item|n, n at most 10000"},
        {"${array||2}", "expected array|item|n"},
        {"${standardSPELExpression|1}", "there is no such placeholder"},
        {"${expression|T(java.lang.Runtime).getRuntime()}", "expected a value at position 1"},
        {"${expression|#req.class}", "#req has no such part at position 11"},
        {"${expression|#req}", "expected a part of #req, like .headers at position 5"},
        {"${expression|#req.method.length()}", "#req has no such part"},
        {"${expression|#req.headers['a'].b}", "#req has no such part"},
        {"${expression|#req.headers[0]}", "#req has no such part"},
        {"${expression|#req.headers[x]}", "expected a name in quotes or a number at position 14"},
        {"${expression|#nope()}", "there is no #nope at position 6"},
        {"${expression|#int(1)}", "wrong number of values for #int"},
        {"${expression|#int(1,2}", "expected ')'"},
        {"${expression|'open}", "expected the end of a text"},
        {"${expression|1 2}", "expected the end at position 3"},
        {"${expression|1 +}", "expected a value at position 4"},
        {"${expression|01}", "expected a number"},
        {"${expression|#current(#bool())}", "expected a text in quotes"},
        {"${expression|#current('z')}", "'z' is no pattern of a date"},
        {"${expression|#double(1,2,'%d')}", "expected a format like '%.2f'"},
    };
    for (const Row& row : rows) {
        INFO(row.text);
        std::vector<std::string> faults;
        const Template made = Template::parse(std::string("a ") + row.text + " ${int|1-1}", faults);
        REQUIRE(faults.size() == 1);
        CHECK_THAT(faults[0], Contains(row.fault));
        CHECK(made.render(FakeRequest()) == "a \"[#ERROR EXPRESSION#]\" 1");
    }
    std::string nested = "x";
    for (int i = 0; i < 40; ++i) nested = "${array|" + nested + "|1}";
    CHECK_THAT(render(nested), Contains("[#ERROR EXPRESSION#]"));
    CHECK_THAT(expression(std::string(1000, '(') + "1" + std::string(1000, ')')), Contains("[#ERROR EXPRESSION#]"));
}

TEST_CASE("an expression is answered as JSON") {
    struct Row { const char* text; const char* made; };
    const Row rows[] = {
        {"#int(3,3)", "3"},
        {"#int( #int(1,1) , 1+1-0 )", "\"[#ERROR EXPRESSION#]\""},
        {"#double(1,1)", "1"},
        {"#double(1,1,'%.2f')", "1.00"},
        {"#double(1,1,'%.1f kg')", "\"1.0 kg\""},
        {"#oneOf('x')", "\"x\""},
        {"#array('x',2)", "[\"x\",\"x\"]"},
        {"#array(#array(1,1),2)", "[[1],[1]]"},
        {"'it''s'", "\"it's\""},
        {"\"q\"", "\"q\""},
        {"1 + 2", "3"},
        {"-1.5", "-1.5"},
        {"'n=' + 1 + 2", "\"n=12\""},
        {"'n=' + (1 + 2)", "\"n=3\""},
        {"1 + null + 'a'", "\"[#ERROR EXPRESSION#]\""},
        {"null", "null"},
        {"true", "true"},
        {"#req.method", "\"POST\""},
        {"#req.uri", "\"http://shop.example/a?x=1\""},
        {"'id: ' + #req.headers['X-Id']", "\"id: i\\\"d\""},
        {"#req.headers['absent']", "null"},
        {"#req.headers", R"j({"Host":"shop.example","X-Id":"i\"d"})j"},
        {"#req.queries.x", "\"1\""},
        {"#req.queries['name']", "\"J\xc3\xbcrgen M\""},
        {"#req.queries", "{\"x\":\"1\",\"name\":\"J\xc3\xbcrgen M\",\"flag\":\"\",\"bad\":\"%4\"}"},
        {"#req.json", R"j({"a":{"b":[1,{"c":"x\u00e4"}]},"n":4})j"},
        {"#req.json.a.b[1].c", "\"x\xc3\xa4\""},
        {"#req['json']['a']['b'][0]", "1"},
        {"#req.json.a.z.y", "null"},
        {"#int(#req.json.n, 4)", "4"},
        {"#int('4', 4)", "\"[#ERROR EXPRESSION#]\""},
        {"#int(5, 4)", "\"[#ERROR EXPRESSION#]\""},
        {"#en(10001, 10001)", "\"[#ERROR EXPRESSION#]\""},
        {"#array('x', 10001)", "\"[#ERROR EXPRESSION#]\""},
        {"#array(#array(#array('x',1000),1000),1000)", "\"[#ERROR EXPRESSION#]\""},
        {"9223372036854775807 + 1", "\"[#ERROR EXPRESSION#]\""},
    };
    for (const Row& row : rows) {
        INFO(row.text);
        CHECK(expression(row.text, R"j( {"a":{"b":[1,{"c":"x\u00e4"}]},"n":4} )j") == row.made);
    }
    struct Made { const char* text; const char* pattern; };
    const Made made[] = {
        {"#bool", "true|false"},
        {"#bool()", "true|false"},
        {"#email", R"j("[a-z]+@.*")j"},
        {"#phone()", R"j("1[0-9]{10}")j"},
        {"#zh(1,1)", "\"[\x80-\xff]{3}\""},
        {"#en(2,2)", R"j("[A-Za-z]{2}")j"},
        {"#nowDate", R"j("[0-9]{4}-[0-9]{2}-[0-9]{2}")j"},
        {"#nowTime()", R"j("[0-9]{2}:[0-9]{2}:[0-9]{2}")j"},
        {"#current()", R"j("[-0-9]{10} [:0-9]{8}")j"},
        {"#current('yyyy')", R"j("[0-9]{4}")j"},
    };
    for (const Made& row : made) {
        INFO(row.text);
        CHECK_THAT(expression(row.text), Catch::Matches(row.pattern));
    }
}

TEST_CASE("a body that is no JSON fails the expressions that read it, an absent one is null") {
    CHECK(expression("#req.json.a", "{\"a\":") == kErrorText);
    CHECK(expression("'a' + #req.json.a", "no") == kErrorText);
    CHECK(expression("#req.json.a") == "null");
    CHECK(expression("#req.json", " \n") == "null");
}

TEST_CASE("a template says whether it needs the body") {
    struct Row { const char* text; bool reads; };
    const Row rows[] = {{"", false},
                        {"${expression|#req.method}", false},
                        {"${expression|#req.json}", true},
                        {"${array|${expression|'a' + #req.json.x}|2}", true},
                        {"${expression|#req.json.x + }", false}};
    for (const Row& row : rows) {
        INFO(row.text);
        std::vector<std::string> faults;
        CHECK(Template::parse(row.text, faults).readsBody() == row.reads);
    }
}

TEST_CASE("an answer has an end") {
    CHECK(render("${array|${array|x|10000}|10000}") == "(too large)");
    CHECK(render("${array|${zh|10000-10000}|10000}") == "(too large)");
    CHECK(render("${array|${expression|#req.json}|3}", "\"" + std::string(500'000, 'x') + "\"") == "(too large)");
    CHECK(render("${array|" + std::string(100, 'x') + "|10000}").size() == 1'010'001);
}

TEST_CASE("a made text is JSON") {
    const std::string text = R"j({"a":${array|{"b":${bool},"c":${double|0-1|%.3f},"d":${email},"e":${zh|1-9}}|20},
        "f":${expression|#req.headers},"g":${expression|#array(#oneOf('a',1),3)},"h":${nope}})j";
    for (int i = 0; i < 50; ++i) CHECK(jsonValue(render(text)));
}
