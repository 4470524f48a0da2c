#include "upstream/server_registry.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>

#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/recording_upstream.hpp"
#include "unit/upstream/endpoints.hpp"

using namespace weir;
using namespace weir::upstream;
using namespace std::chrono_literals;
using support::eventually;

namespace {

// Names whose addresses a test sets; the lookup of one in `hanging` waits for the gate.
class Names {
public:
    void set(const std::string& name, const std::vector<std::string>& addresses) {
        const std::lock_guard lock(mutex_);
        addresses_[name] = addresses;
    }
    std::size_t lookups(const std::string& name) const {
        const std::lock_guard lock(mutex_);
        const auto found = lookups_.find(name);
        return found == lookups_.end() ? 0 : found->second;
    }
    base::Result<std::vector<net::Endpoint>> operator()(const std::string& host, std::uint16_t port) {
        if (host.starts_with("hangs")) gate.wait();
        const std::lock_guard lock(mutex_);
        ++lookups_[host];
        const auto& found = addresses_[host];
        if (found.empty()) return base::Error{base::ErrorCode::Io, host, "cannot resolve: there is no such name", true};
        return endpoints(found, port);
    }

    support::Gate gate;

private:
    mutable std::mutex mutex_;
    std::map<std::string, std::vector<std::string>> addresses_;
    std::map<std::string, std::size_t> lookups_;
};

struct Fixture {
    explicit Fixture(std::chrono::milliseconds keep = 1h) {
        ServerRegistry::Options options;
        options.interval = 5ms;
        options.retry = 5ms;
        options.keep = keep;
        options.patience = patience;
        options.checks = true;
        options.resolve = [this](const std::string& host, std::uint16_t port) { return names(host, port); };
        registry.emplace();
        registry->configure(options);
    }
    std::shared_ptr<const Server> get(const std::string& url, bool check = true) {
        return registry->get(url, check).value();
    }
    std::vector<std::string> addresses(const Server& server) const {
        std::vector<std::string> texts;
        if (const auto list = registry->addresses(server))
            for (const net::Endpoint& each : list->all()) texts.push_back(each.addressText());
        return texts;
    }

    static constexpr std::chrono::milliseconds patience{50};
    Names names;
    std::optional<ServerRegistry> registry;
};

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("what is not host:port is refused with what was found") {
    Fixture fixture;
    for (const char* url : {"", "host", ":80", "host:", "host:0", "host:65536", "host:80x", "host:-1"}) {
        const auto got = fixture.registry->get(url, true);
        REQUIRE_FALSE(got.ok());
        CHECK(got.error().message == "expected host:port, found '" + std::string(url) + "'");
    }
}

TEST_CASE("IP addresses and localhost are there at once, without a lookup") {
    struct Row { const char* url; Texts addresses; };
    const Row rows[] = {
        {"10.0.0.1:80", {"10.0.0.1:80"}},
        {"[::1]:8080", {"[::1]:8080"}},
        {"localhost:81", {"127.0.0.1:81", "[::1]:81"}},
    };
    Fixture fixture;
    for (const Row& row : rows) CHECK(fixture.addresses(*fixture.get(row.url)) == row.addresses);
    CHECK(fixture.names.lookups("10.0.0.1") == 0);
    CHECK(fixture.names.lookups("localhost") == 0);
}

TEST_CASE("a url is one server, and another one where no check decides about it") {
    Fixture fixture;
    fixture.names.set("a", {"10.0.0.1"});
    const auto server = fixture.get("a:80");
    CHECK(fixture.get("a:80") == server);
    CHECK(server->checked);
    const auto unchecked = fixture.get("a:80", false);
    CHECK(unchecked != server);
    CHECK_FALSE(unchecked->checked);
    CHECK(unchecked->id != server->id);
    CHECK(fixture.get("a:81") != server);
}

TEST_CASE("a name has all its addresses when get() returns, and others when it changes") {
    Fixture fixture;
    fixture.names.set("a", {"10.0.0.1", "10.0.0.2", "::1"});
    const auto server = fixture.get("a:80");
    CHECK(fixture.addresses(*server) == Texts{"10.0.0.1:80", "10.0.0.2:80", "[::1]:80"});
    fixture.names.set("a", {"10.0.0.3"});
    CHECK(eventually([&] { return fixture.addresses(*server) == Texts{"10.0.0.3:80"}; }));
}

TEST_CASE("a name that stops resolving keeps the addresses that were found last") {
    Fixture fixture;
    fixture.names.set("a", {"10.0.0.1"});
    const auto server = fixture.get("a:80");
    fixture.names.set("a", {});
    const std::size_t before = fixture.names.lookups("a");
    REQUIRE(eventually([&] { return fixture.names.lookups("a") > before + 2; }));
    CHECK(fixture.addresses(*server) == Texts{"10.0.0.1:80"});
}

TEST_CASE("a name that does not resolve has no address until it does") {
    Fixture fixture;
    const auto server = fixture.get("a:80");
    CHECK(fixture.addresses(*server).empty());
    fixture.names.set("a", {"10.0.0.1"});
    CHECK(eventually([&] { return fixture.addresses(*server) == Texts{"10.0.0.1:80"}; }));
}

TEST_CASE("lookups that hang are waited for once, and do not hold up other names") {
    Fixture fixture;
    fixture.names.set("hangs1", {"10.0.0.1"});
    fixture.names.set("quick", {"10.0.0.2"});
    const auto began = std::chrono::steady_clock::now();
    const auto hanging = fixture.get("hangs1:80");
    const auto once = std::chrono::steady_clock::now() - began;
    CHECK(once >= Fixture::patience);
    std::vector<std::shared_ptr<const Server>> more;
    for (int i = 2; i < 6; ++i) more.push_back(fixture.get("hangs" + std::to_string(i) + ":80"));
    const auto quick = fixture.get("quick:80");
    CHECK(eventually([&] { return fixture.addresses(*quick) == Texts{"10.0.0.2:80"}; }));
    CHECK(fixture.addresses(*hanging).empty());
    fixture.names.gate.open();
    CHECK(eventually([&] { return fixture.addresses(*hanging) == Texts{"10.0.0.1:80"}; }));
}

TEST_CASE("who follows hears of what is known already, of each change once, and of ids that mean nothing any more") {
    Fixture fixture(0ms);
    std::mutex mutex;
    std::vector<std::pair<std::uint32_t, std::string>> heard;
    const auto count = [&] {
        const std::lock_guard lock(mutex);
        return heard.size();
    };
    fixture.names.set("a", {"10.0.0.1"});
    auto a = fixture.get("a:80");
    fixture.registry->follow([&](std::uint32_t id, const std::shared_ptr<const AddressList>& list) {
        const std::lock_guard lock(mutex);
        heard.emplace_back(id, list ? list->all().front().addressText() : "gone");
    });
    REQUIRE(count() == 1);
    CHECK(heard[0] == std::pair(a->id, std::string("10.0.0.1:80")));
    const std::size_t before = fixture.names.lookups("a");
    REQUIRE(eventually([&] { return fixture.names.lookups("a") > before + 2; }));
    CHECK(count() == 1);
    fixture.names.set("a", {"10.0.0.2"});
    REQUIRE(eventually([&] { return count() == 2; }));
    const std::uint32_t id = a->id;
    a.reset();
    fixture.get("10.0.0.8:80");  // each looks who is held no more, and forgets who was not the time before
    const auto last = fixture.get("10.0.0.9:80");
    const std::lock_guard lock(mutex);
    CHECK(std::ranges::find(heard, std::pair(id, std::string("gone"))) != heard.end());
    CHECK(last->id <= 2);  // used again
}

TEST_CASE("a server that a change leaves out for a while is the same when it comes back") {
    Fixture fixture;
    auto server = fixture.get("10.0.0.1:80");
    const Server* before = server.get();
    server->state.unhealthy = true;
    server.reset();
    fixture.get("10.0.0.2:80");
    fixture.get("10.0.0.3:80");
    const auto after = fixture.get("10.0.0.1:80");
    CHECK(after.get() == before);
    CHECK(after->state.unhealthy);
}

TEST_CASE("only names that somebody holds are looked up") {
    Fixture fixture;
    fixture.names.set("a", {"10.0.0.1"});
    auto a = fixture.get("a:80");
    const auto b = fixture.get("b:80");
    a.reset();
    std::size_t atA = 0;
    const auto still = [&] {  // a lookup may have been under way
        const std::size_t b0 = fixture.names.lookups("b");
        atA = fixture.names.lookups("a");
        return eventually([&] { return fixture.names.lookups("b") > b0 + 5; }) && fixture.names.lookups("a") == atA;
    };
    CHECK(eventually(still));
    CHECK(fixture.registry->checked().size() == 1);
    a = fixture.get("a:80");
    CHECK(eventually([&] { return fixture.names.lookups("a") > atA; }));
}
