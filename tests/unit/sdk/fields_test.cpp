#include "weir/fields.hpp"

#include "support/catch.hpp"
#include "unit/sdk/fake_host.hpp"

using namespace std::chrono_literals;

namespace {

struct Item {
    std::string name;
    int weight = 50;
    static constexpr auto fields = weir::fields(weir::field("name", &Item::name).required(),
                                                weir::field("weight", &Item::weight).range(0, 100));
};

struct Everything {
    bool flag = true;
    int number = 7;
    std::uint8_t small = 1;
    std::uint64_t size = 0;
    double ratio = 0.5;
    std::string text = "plain";
    std::string mode = "soft";
    std::chrono::milliseconds timeout{3000};
    std::vector<int> numbers;
    std::vector<Item> items;
    Item nested;
    std::vector<std::pair<std::string, std::string>> headers;
    static constexpr auto fields = weir::fields(
        weir::field("flag", &Everything::flag), weir::field("number", &Everything::number).range(1, 1000000),
        weir::field("small", &Everything::small), weir::field("size", &Everything::size),
        weir::field("ratio", &Everything::ratio).range(0, 1), weir::field("text", &Everything::text),
        weir::field("mode", &Everything::mode).oneOf("soft", "hard"),
        weir::field("timeout", &Everything::timeout).range(1, 60000), weir::field("numbers", &Everything::numbers),
        weir::field("items", &Everything::items), weir::field("nested", &Everything::nested),
        weir::field("headers", &Everything::headers));
};

struct Pool {
    std::vector<Item> servers;
    static constexpr auto items = &Pool::servers;
    int derived = 1;
};

struct Lists {
    std::vector<int> numbers{1, 2};
    std::vector<std::pair<std::string, std::string>> headers{{"x-a", "1"}};
    static constexpr auto fields =
        weir::fields(weir::field("numbers", &Lists::numbers), weir::field("headers", &Lists::headers));
};

template <class T>
bool read(std::string_view json, T& out, weir::test::FakeError& error) {
    weir::detail::hostTable = &weir::test::fakeHost();
    const weir::test::FakeValue value(json);
    return weir::detail::HandleReader(error.raw()).read(value.raw(), out);
}

}  // namespace

TEST_CASE("an empty map leaves every default") {
    Everything all;
    weir::test::FakeError error;
    REQUIRE(read("{}", all, error));
    CHECK(all.flag);
    CHECK(all.number == 7);
    CHECK(all.ratio == 0.5);
    CHECK(all.text == "plain");
    CHECK(all.mode == "soft");
    CHECK(all.timeout == 3000ms);
    CHECK(all.items.empty());
    CHECK(all.nested.weight == 50);
}

TEST_CASE("a list or map that is given replaces the default one") {
    Lists lists;
    weir::test::FakeError error;
    REQUIRE(read(R"({"numbers":[3],"headers":{"x-b":"2"}})", lists, error));
    CHECK(lists.numbers == std::vector<int>{3});
    CHECK(lists.headers == std::vector<std::pair<std::string, std::string>>{{"x-b", "2"}});

    Lists standard;
    REQUIRE(read("{}", standard, error));
    CHECK(standard.numbers == std::vector<int>{1, 2});
    CHECK(standard.headers.size() == 1);
}

TEST_CASE("every kind of member is read") {
    Everything all;
    weir::test::FakeError error;
    REQUIRE(read(R"({"flag":false,"number":12,"small":"255","size":9223372036854775807,"ratio":0.25,"text":"x y",
                     "mode":"hard","timeout":1500,"numbers":[3,2,1],"items":[{"name":"a"},{"name":"b","weight":"9"}],
                     "nested":{"name":"n","weight":0},"headers":{"x-a":"1","x-b":"two"}})", all, error));
    CHECK_FALSE(all.flag);
    CHECK(all.number == 12);
    CHECK(all.small == 255);
    CHECK(all.size == 9223372036854775807u);
    CHECK(all.ratio == 0.25);
    CHECK(all.text == "x y");
    CHECK(all.mode == "hard");
    CHECK(all.timeout == 1500ms);
    CHECK(all.numbers == std::vector{3, 2, 1});
    REQUIRE(all.items.size() == 2);
    CHECK(all.items[0].weight == 50);
    CHECK(all.items[1].name == "b");
    CHECK(all.items[1].weight == 9);
    CHECK(all.nested.weight == 0);
    CHECK(all.headers == weir::detail::TextMap{{"x-a", "1"}, {"x-b", "two"}});
    CHECK(error.unknownKeys.empty());
}

TEST_CASE("a null member counts as absent") {
    Everything all;
    weir::test::FakeError error;
    REQUIRE(read(R"({"number":null,"text":null})", all, error));
    CHECK(all.number == 7);
    CHECK(all.text == "plain");
}

TEST_CASE("a wrong value is refused with its path, what was expected and what was found") {
    struct Row { const char* json; const char* message; };
    const Row rows[] = {
        {R"([])", "expected a map, found a list"},
        {R"("x")", "expected a map, found 'x'"},
        {R"({"flag":"flase"})", "flag: expected true or false, found 'flase'"},
        {R"({"number":0})", "number: expected a whole number from 1 to 1000000, found '0'"},
        {R"({"number":1000001})", "number: expected a whole number from 1 to 1000000, found '1000001'"},
        {R"({"number":"ten"})", "number: expected a whole number from 1 to 1000000, found 'ten'"},
        {R"({"number":1.5})", "number: expected a whole number from 1 to 1000000, found '1.5'"},
        {R"({"number":[1]})", "number: expected a whole number from 1 to 1000000, found a list"},
        {R"({"small":256})", "small: expected a whole number from 0 to 255, found '256'"},
        {R"({"size":-1})", "size: expected a whole number, at least 0, found '-1'"},
        {R"({"ratio":1.01})", "ratio: expected a number from 0 to 1, found '1.01'"},
        {R"({"ratio":"much"})", "ratio: expected a number from 0 to 1, found 'much'"},
        {R"({"text":{"a":1}})", "text: expected a text, found a map"},
        {R"({"mode":"Hard"})", "mode: expected one of soft, hard, found 'Hard'"},
        {R"({"mode":""})", "mode: expected one of soft, hard, found ''"},
        {R"({"timeout":0})", "timeout: expected a whole number from 1 to 60000, found '0'"},
        {R"({"numbers":5})", "numbers: expected a list, found '5'"},
        {R"({"numbers":[1,"two"]})",
         "numbers[1]: expected a whole number from -2147483648 to 2147483647, found 'two'"},
        {R"({"items":[{"name":"a"},{"weight":3}]})", "items[1].name: is required"},
        {R"({"items":[{"name":"a","weight":-1}]})",
         "items[0].weight: expected a whole number from 0 to 100, found '-1'"},
        {R"({"nested":{"name":[]}})", "nested.name: expected a text, found a list"},
        {R"({"nested":{}})", "nested.name: is required"},
        {R"({"headers":["x"]})", "headers: expected a map of texts, found a list"},
        {R"({"headers":{"x":[]}})", "headers.x: expected a text, found a list"},
    };
    for (const Row& row : rows) {
        INFO(row.json);
        Everything all;
        weir::test::FakeError error;
        CHECK_FALSE(read(row.json, all, error));
        CHECK(error.whole() == row.message);
    }
}

TEST_CASE("keys that no field has are told with their path and refuse nothing") {
    Everything all;
    weir::test::FakeError error;
    REQUIRE(read(R"({"nmber":1,"items":[{"name":"a","wieght":2}],"nested":{"name":"n","x":null}})", all, error));
    CHECK(error.unknownKeys == std::vector<std::string>{"items[0].wieght", "nested.x", "nmber"});
}

TEST_CASE("a handle can be a list at its top") {
    std::vector<Item> items;
    weir::test::FakeError error;
    REQUIRE(read(R"([{"name":"a"},{"name":"b"}])", items, error));
    CHECK(items.size() == 2);
    CHECK_FALSE(read(R"([{"name":"a"},{"name":"b","weight":101}])", items, error));
    CHECK(error.path == "[1].weight");
    CHECK_FALSE(read("{}", items, error));
    CHECK(error.whole() == "expected a list, found a map");
}

TEST_CASE("a handle that holds more than its list reads the list it names") {
    Pool pool;
    weir::test::FakeError error;
    REQUIRE(read(R"([{"name":"a"}])", pool, error));
    REQUIRE(pool.servers.size() == 1);
    CHECK(pool.servers[0].name == "a");
    CHECK_FALSE(read(R"([{}])", pool, error));
    CHECK(error.whole() == "[0].name: is required");
}

TEST_CASE("a refusal by the plugin itself carries its path") {
    weir::detail::hostTable = &weir::test::fakeHost();
    weir::test::FakeError error;
    CHECK_FALSE(weir::refuse(error.raw(), "[2].weight", "is odd"));
    CHECK(error.whole() == "[2].weight: is odd");
}
