#include "weir/value.hpp"

#include "support/catch.hpp"
#include "unit/sdk/fake_host.hpp"

using weir::Value;
using weir::test::FakeValue;

namespace {

// The view's functions go to the host, which a create function would have set.
void adoptFakeHost() { weir::detail::adoptHost(&weir::test::fakeHost(), nullptr); }

}  // namespace

TEST_CASE("a value shows the parts of a record") {
    adoptFakeHost();
    const FakeValue json(R"({"id":"7","sort":-3,"rate":0.5,"enabled":false,"list":["a",{"k":"v"}],"none":null})");
    const Value record(json.raw());
    CHECK(record.kind() == Value::Kind::Object);
    CHECK(record.size() == 6);
    CHECK(record.keyAt(1) == "sort");
    CHECK(record.at(0).text() == "7");
    CHECK(record["id"].kind() == Value::Kind::Scalar);
    CHECK(record["sort"].toInt() == -3);
    CHECK(record["rate"].toDouble() == 0.5);
    CHECK(record["enabled"].toBool() == false);
    CHECK(record["list"].kind() == Value::Kind::Array);
    CHECK(record["list"].size() == 2);
    CHECK(record["list"].at(1)["k"].text() == "v");
    CHECK(record["none"].isNull());
}

TEST_CASE("what a value has not got reads as null and as nothing") {
    adoptFakeHost();
    const FakeValue json(R"({"id":"seven","list":[1]})");
    const Value record(json.raw());
    CHECK(Value().isNull());
    CHECK(Value().size() == 0);
    CHECK(record["absent"].isNull());
    CHECK(record["absent"].at(3)["deeper"].text() == "");
    CHECK(record.at(2).isNull());
    CHECK(record.keyAt(2) == "");
    CHECK(record["list"].at(1).isNull());
    CHECK_FALSE(record["id"].toInt());
    CHECK_FALSE(record["id"].toDouble());
    CHECK_FALSE(record["id"].toBool());
    CHECK_FALSE(record["absent"].toBool());
}
