#include "http/field_table.hpp"

#include <string>

#include "support/catch.hpp"

using namespace weir::http;

namespace {
struct Fixture {
    weir::base::ChunkPool pool;
    alignas(WEIR_ARENA_ALIGN) char chunk[weir::base::ChunkPool::kChunkSize];
    weir::base::Arena arena{pool, chunk, 0};
    FieldTable table{arena};

    void append(std::string_view name, std::string_view value) { table.append(fieldId(name), name, value); }
    std::string text() const {
        std::string all;
        for (const FieldTable::Field& field : table)
            if (field.alive()) all.append(field.name).append("=").append(field.value).append(" ");
        return all;
    }
};
}  // namespace

TEST_CASE("known names are found in any case, others are Other") {
    struct Row {
        const char* name;
        FieldId id;
    };
    const Row rows[] = {
        {"TE", FieldId::Te}, {"via", FieldId::Via}, {"Host", FieldId::Host}, {"DATE", FieldId::Date},
        {"Expect", FieldId::Expect}, {"Server", FieldId::Server}, {"Trailer", FieldId::Trailer},
        {"Upgrade", FieldId::Upgrade}, {"Location", FieldId::Location}, {"Forwarded", FieldId::Forwarded},
        {"CONNECTION", FieldId::Connection}, {"Keep-Alive", FieldId::KeepAlive},
        {"Content-Type", FieldId::ContentType}, {"content-LENGTH", FieldId::ContentLength},
        {"X-Forwarded-For", FieldId::XForwardedFor}, {"Proxy-Connection", FieldId::ProxyConnection},
        {"X-Forwarded-Host", FieldId::XForwardedHost}, {"X-Forwarded-Proto", FieldId::XForwardedProto},
        {"Transfer-Encoding", FieldId::TransferEncoding}, {"Proxy-Authenticate", FieldId::ProxyAuthenticate},
        {"Proxy-Authorization", FieldId::ProxyAuthorization},
        {"", FieldId::Other}, {"T", FieldId::Other}, {"Hosts", FieldId::Other}, {"Content_Length", FieldId::UnderscoreTwin},
        {"X_Forwarded_For", FieldId::UnderscoreTwin}, {"Keep\rAlive", FieldId::Other}, {"Accept", FieldId::Other},
    };
    for (const Row& row : rows) {
        INFO(row.name);
        CHECK(fieldId(row.name) == row.id);
    }
}

TEST_CASE("names are tokens and values hold no control byte but the tab") {
    CHECK(isFieldName("x-A1!#$%&'*+.^_`|~"));
    for (const char* bad : {"", "a b", "a:", "a\t", "(", "\"", "/", "\x7f", "\xe4"}) CHECK_FALSE(isFieldName(bad));
    CHECK(isFieldValue(""));
    CHECK(isFieldValue("a b\tc \xe4\xff"));
    for (const char* bad : {"\r", "a\nb", "\x01", "\x7f"}) CHECK_FALSE(isFieldValue(bad));
    CHECK_FALSE(isFieldValue({"a\0b", 3}));
}

TEST_CASE("a parsed field is a view, an edited one a copy") {
    Fixture f;
    const std::string name = "X-A", value = "1";
    f.append(name, value);
    CHECK(f.table.begin()->name.data() == name.data());
    CHECK(f.table.begin()->value.data() == value.data());
    f.table.add(name, value);
    CHECK(f.table.get("x-a").data() == value.data());
    CHECK((f.table.end() - 1)->value.data() != value.data());
}

TEST_CASE("get answers the first line that stands, an empty value is not a missing one") {
    Fixture f;
    f.append("X-A", "1");
    f.append("x-a", "2");
    f.append("Host", "");
    CHECK(f.table.get("X-a") == "1");
    CHECK(f.table.get("host").data() != nullptr);
    CHECK(f.table.get(FieldId::Host).data() != nullptr);
    CHECK(f.table.get("none").data() == nullptr);
    CHECK(f.table.get(FieldId::Via).data() == nullptr);
}

TEST_CASE("set replaces all lines of a name, add appends one, remove takes all") {
    Fixture f;
    f.append("A", "1");
    f.append("B", "2");
    f.append("a", "3");
    f.table.set("A", "4");
    CHECK(f.text() == "B=2 A=4 ");
    f.table.add("b", "");
    CHECK(f.text() == "B=2 A=4 b= ");
    CHECK(f.table.count() == 3);
    CHECK(f.table.standing(1)->value == "4");
    CHECK(f.table.standing(3) == nullptr);
    f.table.remove("B");
    CHECK(f.text() == "A=4 ");
    f.table.remove(FieldId::Other);
    CHECK(f.table.count() == 0);
    CHECK(f.table.standing(0) == nullptr);
}

TEST_CASE("going back to a mark undoes every edit since, in any nesting") {
    Fixture f;
    f.append("Host", "g");
    f.append("A", "1");
    const FieldTable::Mark first = f.table.mark();
    f.table.set("A", "2");
    f.table.remove(FieldId::Host);
    const FieldTable::Mark second = f.table.mark();
    f.table.remove("A");
    f.table.add("C", "3");
    CHECK(f.text() == "C=3 ");
    f.table.restore(second);
    CHECK(f.text() == "A=2 ");
    f.table.add("D", "4");
    f.table.restore(first);
    CHECK(f.text() == "Host=g A=1 ");
    f.table.set("A", "5");
    CHECK(f.text() == "Host=g A=5 ");
}

TEST_CASE("a head that arrives after a mark goes when the mark is restored") {
    Fixture f;
    f.table.add("Own", "1");
    const FieldTable::Mark before = f.table.mark();
    f.table.beginEdit();
    f.append("Server", "upstream");
    f.append("Via", "x");
    f.table.restore(before);
    CHECK(f.text() == "Own=1 ");
}

TEST_CASE("parsed lines can be told from edits, taken away or preferred, and come back with the mark") {
    Fixture f;
    f.table.add("Own", "1");
    f.table.add("Server", "weir");
    const FieldTable::Mark before = f.table.mark();
    f.table.beginEdit();
    f.append("server", "upstream");
    f.append("Via", "x");
    f.table.preferParsed();
    CHECK(f.text() == "Own=1 server=upstream Via=x ");
    const FieldTable::Mark merged = f.table.mark();
    f.table.removeParsed();
    CHECK(f.text() == "Own=1 ");
    f.table.restore(merged);
    CHECK(f.text() == "Own=1 server=upstream Via=x ");
    f.table.restore(before);
    CHECK(f.text() == "Own=1 Server=weir ");
}

TEST_CASE("a table grows past any number of lines") {
    Fixture f;
    for (int i = 0; i < 500; ++i) f.table.add("N", std::to_string(i));
    CHECK(f.table.count() == 500);
    CHECK(f.table.standing(499)->value == "499");
    f.table.restore(10);
    CHECK(f.table.count() == 10);
}

TEST_CASE("what a table says of its lines as a whole covers all that stand, whatever was taken back") {
    Fixture f;
    CHECK_FALSE(f.table.mayHave(bit(FieldId::Via)));
    f.append("Via", "x");
    CHECK(f.table.bytes() == std::string_view("Via: x\r\n").size());
    CHECK(f.table.mayHave(bit(FieldId::Via) | bit(FieldId::Host)));
    CHECK_FALSE(f.table.mayHave(bit(FieldId::Host)));

    const FieldTable::Mark before = f.table.mark();
    f.table.set("X-A", "1");
    f.table.remove(FieldId::Via);
    f.table.remove("Host");  // an edit, though there is none
    CHECK(f.table.mark() == before + 3);
    f.table.restore(before);
    CHECK(f.text() == "Via=x ");
    CHECK(f.table.get("Via") == "x");
    CHECK(f.table.bytes() == std::string_view("Via: x\r\n").size());

    f.append("Date", "now");
    f.table.truncate(1);
    CHECK(f.table.get("Via") == "x");
    CHECK(f.table.bytes() == std::string_view("Via: x\r\n").size());

    const FieldTable::Mark parsed = f.table.mark();
    f.table.removeParsed();
    f.table.restore(parsed);
    CHECK(f.table.get(FieldId::Via) == "x");
    CHECK(f.table.bytes() >= std::string_view("Via: x\r\n").size());
}
