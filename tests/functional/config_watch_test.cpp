// The configuration's files change while the gateway runs.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <thread>

#include "functional/proxy_config.hpp"
#include "support/catch.hpp"
#include "support/gateway_process.hpp"
#include "support/recording_upstream.hpp"

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using namespace weir::support;
using namespace weir::functional;

namespace {

// In which something that happened would have been reported: an event, and two looks.
constexpr auto kQuiet = 600ms;

const char* const kTaken = "reload: the files' data is in force";

void write(const fs::path& file, const std::string& text) { std::ofstream(file, std::ios::binary) << text; }

void renameOver(const fs::path& file, const std::string& text) {
    const fs::path beside = file.string() + ".new";
    write(beside, text);
    fs::rename(beside, file);
}

// As editors do that keep a backup.
void moveAwayAndWrite(const fs::path& file, const std::string& text) {
    fs::rename(file, file.string() + "~");
    write(file, text);
}

void touch(const fs::path& file) { fs::last_write_time(file, fs::file_time_type::clock::now()); }

std::size_t count(const std::string& text, const std::string& part) {
    std::size_t n = 0;
    for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++n;
    return n;
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
    REQUIRE(count(text, what) == 1);
    return text.replace(text.find(what), what.size(), by);
}

// An upstream that answers with its name.
struct Named {
    explicit Named(std::string name)
        : upstream([name](const HttpMessage&) { return RecordingUpstream::ok(name); }) {}
    std::string address() const { return upstream.address(); }
    RecordingUpstream upstream;
};

// proxyTo() in two files: divide stands in an included one.
struct Split {
    explicit Split(const std::string& address) {
        const std::string all = proxyTo(address);
        const auto divide = all.find("  - name: divide");
        main = "include: [conf.d/*.yaml]\n" + all.substr(0, divide);
        included = "plugins:\n" + all.substr(divide);
    }
    std::string main;
    std::string included;
};

bool reaches(int port, const std::string& name) {
    return eventually([&] { return get(port, "/http/a").body == name; });
}

int portOf(const ChildProcess& gateway) { return std::stoi(gateway.waitForLine("listening on 127.0.0.1:")); }

// User and system time of a process so far, in clock ticks.
long ticks(pid_t pid) {
    std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
    std::string line;
    std::getline(stat, line);
    std::istringstream fields(line.substr(line.rfind(')') + 2));
    std::string skipped;
    for (int field = 3; field < 14; ++field) fields >> skipped;
    long user = 0;
    long system = 0;
    fields >> user >> system;
    return user + system;
}

}  // namespace

TEST_CASE("a changed file is taken over, however it is written") {
    struct Row { const char* name; void (*write)(const fs::path&, const std::string&); };
    const Row rows[] = {
        {"renamed over", renameOver},
        {"written in place", write},
        {"moved away and written anew", moveAwayAndWrite},
    };
    Named first("first");
    Named second("second");
    for (const Row& row : rows) {
        INFO(row.name);
        GatewayProcess gateway(proxyTo(first.address()));
        CHECK(get(gateway.port(), "/http/a").body == "first");
        row.write(gateway.configuration(), proxyTo(second.address()));
        CHECK(reaches(gateway.port(), "second"));
        row.write(gateway.configuration(), proxyTo(first.address()));
        CHECK(reaches(gateway.port(), "first"));
        CHECK(gateway.stop() == 0);
    }
}

TEST_CASE("included files are taken over when they come, change and go") {
    Named first("first");
    Named second("second");
    const Split one(first.address());
    GatewayProcess gateway(one.main);
    CHECK(get(gateway.port(), "/http/a").status() != 200);
    const fs::path directory = gateway.configuration().parent_path() / "conf.d";
    fs::create_directory(directory);
    write(directory / "divide.yaml", one.included);
    CHECK(reaches(gateway.port(), "first"));
    renameOver(directory / "divide.yaml", Split(second.address()).included);
    CHECK(reaches(gateway.port(), "second"));
    fs::remove(directory / "divide.yaml");
    CHECK(eventually([&] { return get(gateway.port(), "/http/a").status() != 200; }));
    write(directory / "other-name.yaml", one.included);
    CHECK(reaches(gateway.port(), "first"));
}

TEST_CASE("a pattern that is new in the main file is watched too") {
    Named first("first");
    Named second("second");
    GatewayProcess gateway(proxyTo(first.address()));
    const fs::path directory = gateway.configuration().parent_path() / "conf.d";
    fs::create_directory(directory);
    write(directory / "divide.yaml", "plugins: [}");
    write(gateway.configuration(), Split(first.address()).main);
    gateway.process().waitForLine((directory / "divide.yaml").string() + ":1:");
    CHECK(get(gateway.port(), "/http/a").body == "first");
    write(directory / "divide.yaml", Split(second.address()).included);
    CHECK(reaches(gateway.port(), "second"));
}

TEST_CASE("a directory that is swapped by a link is taken over") {
    Named first("first");
    Named second("second");
    TempDirectory directory;
    const auto swap = [&](const std::string& name, const std::string& yaml) {
        directory.write(name + "/weir.yaml", yaml);
        fs::create_directory_symlink(name, directory.path() / "..new");
        fs::rename(directory.path() / "..new", directory.path() / "..data");
    };
    swap("..1", proxyTo(first.address()));
    SECTION("as Kubernetes mounts it: the file is a link through the link") {
        fs::create_symlink("..data/weir.yaml", directory.path() / "weir.yaml");
        ChildProcess gateway(WEIR_BINARY, {"run", "-c", directory.path() / "weir.yaml", "--server.port=0",
                                           "--management.port=0"});
        const int port = portOf(gateway);
        CHECK(get(port, "/http/a").body == "first");
        swap("..2", proxyTo(second.address()));
        fs::remove_all(directory.path() / "..1");
        CHECK(reaches(port, "second"));
        CHECK(count(gateway.output(), "; what was in force serves on") == 0);
    }
    SECTION("the file's directory is the link") {
        ChildProcess gateway(WEIR_BINARY, {"run", "-c", directory.path() / "..data/weir.yaml", "--server.port=0",
                                           "--management.port=0"});
        const int port = portOf(gateway);
        CHECK(get(port, "/http/a").body == "first");
        swap("..2", proxyTo(second.address()));
        CHECK(reaches(port, "second"));
    }
}

TEST_CASE("a bad file is named with its place, once, and changes nothing; a good one after it is taken") {
    Named first("first");
    Named second("second");
    const std::string good = proxyTo(first.address());
    GatewayProcess gateway(good);
    const std::string bad = replaced(good, "retry: 3", "retry: soon");
    const auto at = bad.find("soon");
    const auto line = std::count(bad.begin(), bad.begin() + static_cast<std::ptrdiff_t>(at), '\n') + 1;
    const std::string place = gateway.configuration().string() + ":" + std::to_string(line) + ":" +
                              std::to_string(at - bad.rfind('\n', at)) + ": ";
    renameOver(gateway.configuration(), bad);
    CHECK_THAT(gateway.process().waitForLine("reload: " + place),
               Catch::Contains("retry") && Catch::Contains("soon") && Catch::Contains("what was in force serves on"));
    CHECK(get(gateway.port(), "/http/a").body == "first");
    touch(gateway.configuration());
    std::this_thread::sleep_for(kQuiet);
    CHECK(count(gateway.process().output(), place) == 1);
    CHECK(count(gateway.process().output(), kTaken) == 0);
    SECTION("a new one") {
        renameOver(gateway.configuration(), proxyTo(second.address()));
        CHECK(reaches(gateway.port(), "second"));
    }
    SECTION("the one before") {
        renameOver(gateway.configuration(), good);
        gateway.process().waitForLine(kTaken);
        CHECK(get(gateway.port(), "/http/a").body == "first");
    }
}

TEST_CASE("a main file that is gone for a while changes nothing") {
    Named first("first");
    Named second("second");
    GatewayProcess gateway(proxyTo(first.address()));
    fs::remove(gateway.configuration());
    gateway.process().waitForLine("reload: " + gateway.configuration().string() + ": cannot be read: ");
    CHECK(get(gateway.port(), "/http/a").body == "first");
    write(gateway.configuration(), proxyTo(second.address()));
    CHECK(reaches(gateway.port(), "second"));
}

TEST_CASE("files whose content stays, and other files beside them, reload nothing and keep nobody busy") {
    Named first("first");
    Named second("second");
    GatewayProcess gateway(proxyTo(first.address()));
    const fs::path directory = gateway.configuration().parent_path();
    touch(gateway.configuration());
    renameOver(gateway.configuration(), proxyTo(first.address()));
    const long before = ticks(gateway.process().pid());
    const auto end = std::chrono::steady_clock::now() + 2 * kQuiet;
    std::ofstream log(directory / "weir.log");
    while (std::chrono::steady_clock::now() < end) {
        log << "a line" << std::endl;
        write(directory / "data.json", "{}");
    }
    const long used = ticks(gateway.process().pid()) - before;
    CHECK(std::chrono::milliseconds(used * 1000 / sysconf(_SC_CLK_TCK)) < kQuiet);  // half of the time
    CHECK(count(gateway.process().output(), "reload:") == 0);
    renameOver(gateway.configuration(), proxyTo(second.address()));
    gateway.process().waitForLine(kTaken);
    CHECK(get(gateway.port(), "/http/a").body == "second");
    CHECK(count(gateway.process().output(), "reload:") == 1);
}

TEST_CASE("changed settings are named and wait for a restart, the data beside them is taken") {
    Named first("first");
    Named second("second");
    GatewayProcess gateway(proxyTo(first.address()));
    const auto yaml = [](const std::string& address) {
        return replaced(proxyTo(address), "port: 9195, threads: 1}",
                        "port: 1, threads: 1, headerTimeout: 5s}\n  log: {level: error}");
    };
    renameOver(gateway.configuration(), yaml(second.address()));
    // server.port is given on the command line: what the file says of it changes nothing.
    CHECK(gateway.process().waitForLine("reload: changed settings are taken at the next start: ") ==
          "server.headerTimeout, log.level");
    CHECK(get(gateway.port(), "/http/a").body == "second");
}

TEST_CASE("SIGHUP reads the files again whether they changed or not") {
    Named first("first");
    Named second("second");
    SECTION("unchanged") {
        GatewayProcess gateway(proxyTo(first.address()));
        gateway.process().signal(SIGHUP);
        gateway.process().waitForLine(kTaken);
    }
    SECTION("with the watch off, nothing else does") {
        GatewayProcess gateway(proxyTo(first.address()), {"--data.watch=false"});
        renameOver(gateway.configuration(), proxyTo(second.address()));
        std::this_thread::sleep_for(kQuiet);
        CHECK(get(gateway.port(), "/http/a").body == "first");
        gateway.process().signal(SIGHUP);
        gateway.process().waitForLine(kTaken);
        CHECK(get(gateway.port(), "/http/a").body == "second");
    }
}
