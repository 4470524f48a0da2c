#include "match/entry_index.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "unit/match/fake_subject.hpp"
#include "support/catch.hpp"

namespace weir::match {
namespace {

// Entries in the order they are given, and their index.
class Entries {
public:
    void add(std::vector<ConditionSpec> conditions, const char* mode = "and") {
        RuleSpec spec;
        spec.matchMode = mode;
        spec.conditions = std::move(conditions);
        auto compiled = compile(std::move(spec), {});
        REQUIRE(compiled.ok());
        rules_.push_back(*compiled);
    }
    void build() {
        std::vector<EntryIndex::Entry> entries;
        for (const auto& rule : rules_) entries.emplace_back(*rule);
        index_ = EntryIndex(std::move(entries));
    }
    static constexpr std::uint32_t kNone = 0xffffffff;

    const EntryIndex::Entry* find(const Subject& subject) {
        work = {};
        return index_.first(subject, &work);
    }
    const CompiledEntry* owner(std::uint32_t number) const { return rules_[number].get(); }
    std::uint32_t first(const Subject& subject) {
        const EntryIndex::Entry* found = find(subject);
        const auto isIt = [&](const auto& rule) { return found && rule.get() == found->owner; };
        const auto rule = std::ranges::find_if(rules_, isIt);
        return rule == rules_.end() ? kNone : static_cast<std::uint32_t>(rule - rules_.begin());
    }
    std::uint32_t size() const { return static_cast<std::uint32_t>(rules_.size()); }

    Work work;  // of the last first() or find()

private:
    std::vector<std::shared_ptr<const CompiledRule>> rules_;
    EntryIndex index_;
};

ConditionSpec uri(const char* op, std::string value) { return {"uri", op, "/", std::move(value)}; }

}  // namespace

TEST_CASE("A request asks a few conditions however many entries there are") {
    struct Row {
        const char* what;
        ConditionSpec (*condition)(const std::string& number);
        void (*request)(FakeSubject& subject, const std::string& number);
    };
    const Row rows[] = {
        {"path pattern", [](const std::string& n) { return uri("pathPattern", "/svc" + n + "/**"); },
         [](FakeSubject& s, const std::string& n) { s.path = "/svc" + n + "/a/b"; }},
        {"encoded path", [](const std::string& n) { return uri("pathPattern", "/a b" + n + "/{x}"); },
         [](FakeSubject& s, const std::string& n) { s.path = "/a%20b" + n + ";v=1/c"; }},
        {"ant pattern", [](const std::string& n) { return uri("match", "/svc" + n + "/*/x/**/y"); },
         [](FakeSubject& s, const std::string& n) { s.path = "//svc" + n + "/a/x/b/y"; }},
        {"variable first", [](const std::string& n) { return uri("pathPattern", "/{v}/u" + n); },
         [](FakeSubject& s, const std::string& n) { s.path = "/1/u" + n; }},
        {"whole path", [](const std::string& n) { return uri("=", "/svc/" + n); },
         [](FakeSubject& s, const std::string& n) { s.path = "/svc/" + n; }},
        {"prefix", [](const std::string& n) { return uri("startsWith", "/svc/" + n + "/"); },
         [](FakeSubject& s, const std::string& n) { s.path = "/svc/" + n + "/a"; }},
        {"header", [](const std::string& n) { return ConditionSpec{"header", "=", "X-Id", n}; },
         [](FakeSubject& s, const std::string& n) { s.headers = {{"x-id", n}}; }},
        {"query", [](const std::string& n) { return ConditionSpec{"query", "=", "id", "a " + n}; },
         [](FakeSubject& s, const std::string& n) { s.query = "x=1&id=a+" + n; }},
        {"cookie", [](const std::string& n) { return ConditionSpec{"cookie", "startsWith", "id", n + "-"}; },
         [](FakeSubject& s, const std::string& n) { s.headers = {{"Cookie", "a=b; id=" + n + "-x"}}; }},
        {"domain", [](const std::string& n) { return ConditionSpec{"domain", "=", "", "H" + n + ".Example"}; },
         [](FakeSubject& s, const std::string& n) { s.host = "h" + n + ".example"; }},
        {"address", [](const std::string& n) { return ConditionSpec{"ip", "=", "", "10.0.0." + n}; },
         [](FakeSubject& s, const std::string& n) { s.client = "10.0.0." + n; }},
    };
    for (const auto& row : rows) {
        CAPTURE(row.what);
        Entries entries;
        constexpr std::uint32_t kMany = 3000;
        for (std::uint32_t i = 0; i < kMany; ++i) {
            entries.add({{"req_method", "=", "", "GET"}, row.condition(std::to_string(i))});
        }
        entries.build();
        for (const std::uint32_t i : {0u, 1u, 1234u, kMany - 1}) {
            FakeSubject subject;
            row.request(subject, std::to_string(i));
            CHECK(entries.first(subject) == i);
            CHECK(entries.work.conditions <= 2);
            CHECK(entries.work.probes <= 8);
        }
        FakeSubject subject;
        row.request(subject, "none");
        CHECK(entries.first(subject) == Entries::kNone);
        CHECK(entries.work.conditions == 0);
    }
}

TEST_CASE("An entry without anchor and one that holds by any condition are found among many") {
    Entries entries;
    for (int i = 0; i < 100; ++i) entries.add({uri("=", "/" + std::to_string(i))});
    entries.add({uri("contains", "needle")});
    entries.add({uri("=", "/or"), {"header", "=", "x", "or"}}, "or");
    entries.add({uri("=", "/or2"), uri("endsWith", "tail")}, "or");
    entries.add({});  // holds always
    entries.build();
    struct Row {
        const char* path;
        const char* header;
        std::uint32_t found;
    };
    const Row rows[] = {{"/50", "", 50},      {"/50/needle", "", 100}, {"/or", "", 101}, {"/x", "or", 101},
                        {"/a/tail", "", 102}, {"/or2", "", 102},       {"/x", "", 103},  {"/99", "or", 99}};
    for (const auto& row : rows) {
        CAPTURE(row.path, row.header);
        FakeSubject subject;
        subject.path = row.path;
        subject.headers = {{"X", row.header}};
        CHECK(entries.first(subject) == row.found);
    }
}

TEST_CASE("An entry hangs at the condition that it shares with the fewest") {
    Entries entries;
    for (int i = 0; i < 100; ++i) {
        entries.add({uri("pathPattern", "/shared/**"), {"header", "=", "id", std::to_string(i)}});
        entries.add({uri("pathPattern", "/own" + std::to_string(i) + "/**"), {"header", "=", "id", "shared"}});
    }
    entries.build();
    FakeSubject subject;
    subject.path = "/shared/a";
    subject.headers = {{"id", "70"}};
    CHECK(entries.first(subject) == 140);
    CHECK(entries.work.conditions == 2);
    subject.path = "/own70/a";
    subject.headers = {{"id", "shared"}};
    CHECK(entries.first(subject) == 141);
    CHECK(entries.work.conditions == 2);
}

TEST_CASE("Of entries that hang at one value the first that holds is found, and those behind it are not asked") {
    Entries entries;
    for (int i = 0; i < 100; ++i) {
        entries.add({{"header", "contains", "id", std::to_string(i % 50) + ";"}, uri("=", "/shared")});
        entries.add({{"header", "contains", "id", std::to_string(i % 50) + ";"}, uri("=", "/other")});
    }
    entries.build();
    struct Row {
        const char* path;
        const char* id;
        std::uint32_t found;
        std::uint64_t asked;
    };
    const Row rows[] = {{"/shared", "10;", 0, 2},  // which contains "0;"
                        {"/shared", ";49;", 18, 11},
                        {"/other", ";49;", 19, 11},
                        {"/other", "none", Entries::kNone, 100}};
    for (const auto& row : rows) {
        CAPTURE(row.path, row.id);
        FakeSubject subject;
        subject.path = row.path;
        subject.headers = {{"id", row.id}};
        CHECK(entries.first(subject) == row.found);
        CHECK(entries.work.conditions == row.asked);
    }
}

TEST_CASE("Every entry of a table of several megabytes is found") {
    Entries entries;
    constexpr std::uint32_t kMany = 40000;
    for (std::uint32_t i = 0; i < kMany; ++i) entries.add({uri("=", "/" + std::to_string(i))});
    entries.build();
    std::uint32_t wrong = 0;
    for (std::uint32_t i = 0; i < kMany; ++i) {
        FakeSubject subject;
        subject.path = "/" + std::to_string(i);
        const EntryIndex::Entry* found = entries.find(subject);
        wrong += !found || found->owner != entries.owner(i);
    }
    CHECK(wrong == 0);
}

TEST_CASE("Only the first segments of a path are looked up, whatever a client sends") {
    Entries entries;
    for (int i = 0; i < 200; ++i) {
        std::string pattern;
        for (int bit = 0; bit < 8; ++bit) pattern += i >> bit & 1 ? "/*" : "/a";
        entries.add({uri("match", pattern + "/b/c" + std::to_string(i))});
    }
    entries.build();
    for (const std::string& path : {std::string(8192, '/'), std::string("/a") + std::string(8190, '/'),
                                    std::string(8192, 'a'), [] {
                                        std::string deep;
                                        for (int i = 0; i < 4096; ++i) deep += "/a";
                                        return deep;
                                    }()}) {
        FakeSubject subject;
        subject.path = path;
        CHECK(entries.first(subject) == Entries::kNone);
        CHECK(entries.work.probes <= 200);
    }
    FakeSubject subject;
    subject.path = "/a/x/a/a/a/a/a/a/b/c2";
    CHECK(entries.first(subject) == 2);
}

}  // namespace weir::match
