#include "module/load_ledger.hpp"

#include <sys/wait.h>

#include <csignal>
#include <fstream>
#include <iostream>
#include <iterator>

#include "fixtures/child.hpp"
#include "support/catch.hpp"
#include "support/temp_directory.hpp"

using namespace weir::module;
using weir::support::TempDirectory;
namespace fs = std::filesystem;

namespace {

using Asides = std::vector<LoadLedger::SetAside>;

// A gateway that dies after what `use` does with the ledger.
template <class Use>
void dieAfter(const fs::path& path, Use use) {
    REQUIRE(runAndDie([&] {
                LoadLedger* ledger = LoadLedger::open(path).release();
                use(*ledger);
                return 0;
            }) == 0);
}

std::string readFile(const fs::path& path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_CASE("a module that was being loaded when a gateway died is set aside until cleared") {
    const TempDirectory directory;
    const fs::path path = LoadLedger::defaultPath(directory.path());
    dieAfter(path, [](LoadLedger& ledger) {
        ledger.begin("good", "/ext/good.so");
        ledger.done("good");
        ledger.begin("bad", "/ext/bad.so");
    });
    {
        const auto ledger = LoadLedger::open(path);
        REQUIRE(ledger->suspects().size() == 1);
        CHECK(ledger->suspects()[0].hash == "bad");
        CHECK_THAT(ledger->suspects()[0].reason,
                   Catch::StartsWith("a gateway (process ") &&
                       Catch::Contains(") died while it loaded /ext/bad.so, at "));
        CHECK(ledger->reasonOf("bad") == ledger->suspects()[0].reason);
        CHECK_FALSE(ledger->reasonOf("good"));
        CHECK(ledger->takeWarnings().empty());
    }
    const auto ledger = LoadLedger::open(path);
    CHECK(ledger->suspects().empty());  // said once
    CHECK(ledger->reasonOf("bad"));
    CHECK(ledger->clear("bad"));
    CHECK_FALSE(ledger->clear("bad"));
    CHECK_FALSE(LoadLedger::open(path)->reasonOf("bad"));
}

TEST_CASE("gateways that die three times in a row before a module has served set it aside") {
    const TempDirectory directory;
    const fs::path path = directory.path() / "ledger";
    const auto load = [](LoadLedger& ledger) {
        ledger.begin("m", "/ext/m.so");
        ledger.done("m");
    };
    dieAfter(path, load);
    dieAfter(path, load);
    SECTION("the third time decides") {
        dieAfter(path, load);
        const auto ledger = LoadLedger::open(path);
        REQUIRE(ledger->suspects().size() == 1);
        CHECK_THAT(ledger->suspects()[0].reason,
                   Catch::StartsWith("3 times in a row a gateway died soon after it had loaded /ext/m.so, the last "));
    }
    SECTION("one that served in between starts again") {
        dieAfter(path, [&](LoadLedger& ledger) {
            load(ledger);
            ledger.served("m");
        });
        dieAfter(path, load);
        CHECK(LoadLedger::open(path)->suspects().empty());
    }
    SECTION("a proper stop in between starts again") {
        dieAfter(path, [&](LoadLedger& ledger) {
            load(ledger);
            ledger.servedAll();
        });
        dieAfter(path, load);
        CHECK(LoadLedger::open(path)->suspects().empty());
    }
}

TEST_CASE("what still loads at a proper stop is set aside, and nothing else is suspected") {
    const TempDirectory directory;
    const fs::path path = directory.path() / "ledger";
    for (int stops = 0; stops < 3; ++stops) {
        dieAfter(path, [](LoadLedger& ledger) {
            ledger.begin("hangs", "/ext/hangs.so");
            ledger.begin("m", "/ext/m.so");
            ledger.done("m");
            ledger.servedAll();
        });
        const auto ledger = LoadLedger::open(path);
        REQUIRE(ledger->suspects().size() == 1);
        CHECK(ledger->suspects()[0].hash == "hangs");
        CHECK(ledger->clear("hangs"));
    }
}

TEST_CASE("what a living gateway is loading is no suspect") {
    const TempDirectory directory;
    const fs::path path = directory.path() / "ledger";
    int began[2];
    REQUIRE(::pipe(began) == 0);
    const pid_t other = ::fork();
    REQUIRE(other >= 0);
    if (other == 0) {
        const auto ledger = LoadLedger::open(path);
        ledger->begin("m", "/ext/m.so");
        (void)!::write(began[1], "x", 1);
        for (;;) ::pause();
    }
    char byte = 0;
    REQUIRE(::read(began[0], &byte, 1) == 1);
    {
        const auto ledger = LoadLedger::open(path);
        CHECK(ledger->suspects().empty());
        CHECK_FALSE(ledger->reasonOf("m"));
        ledger->begin("m", "/ext/m.so");  // the same bytes at the same time
        ledger->done("m");
        ledger->served("m");
    }
    CHECK(LoadLedger::open(path)->suspects().empty());
    ::kill(other, SIGKILL);
    REQUIRE(::waitpid(other, nullptr, 0) == other);
    CHECK(LoadLedger::open(path)->suspects().size() == 1);
    ::close(began[0]);
    ::close(began[1]);
}

TEST_CASE("what one gateway sets aside or clears, the others know") {
    const TempDirectory directory;
    const fs::path path = directory.path() / "ledger";
    const auto one = LoadLedger::open(path);
    const auto other = LoadLedger::open(path);
    one->setAside("m", "rolled back: 12 of 20 requests failed");
    CHECK(other->reasonOf("m") == "rolled back: 12 of 20 requests failed");
    other->setAside("n", "rolled back by a call");
    CHECK(one->setAsides() == Asides{{"m", "rolled back: 12 of 20 requests failed"}, {"n", "rolled back by a call"}});
    CHECK(other->clear("m"));
    CHECK_FALSE(one->reasonOf("m"));
}

TEST_CASE("a module that is set aside while it runs is no suspect later") {
    const TempDirectory directory;
    const fs::path path = directory.path() / "ledger";
    dieAfter(path, [](LoadLedger& ledger) {
        ledger.begin("m", "/ext/m.so");
        ledger.setAside("m", "rolled back");
    });
    const auto ledger = LoadLedger::open(path);
    CHECK(ledger->suspects().empty());
    CHECK(ledger->reasonOf("m") == "rolled back");
}

TEST_CASE("many gateways that write at once lose nothing") {
    const TempDirectory directory;
    const fs::path path = directory.path() / "ledger";
    constexpr int gateways = 4;
    constexpr int rounds = 20;
    std::vector<pid_t> children;
    for (int gateway = 0; gateway < gateways; ++gateway) {
        const pid_t child = ::fork();
        REQUIRE(child >= 0);
        if (child != 0) {
            children.push_back(child);
            continue;
        }
        const auto ledger = LoadLedger::open(path);
        for (int round = 0; round < rounds; ++round) {
            const std::string hash = std::to_string(gateway) + "-" + std::to_string(round);
            ledger->begin(hash, "/ext/m.so");
            ledger->done(hash);
            if (round % 5 == 0) ledger->setAside(hash, "tried");
            else ledger->served(hash);
        }
        const auto warnings = ledger->takeWarnings();
        for (const std::string& warning : warnings) std::cerr << warning << '\n';
        ::_exit(warnings.empty() ? 0 : 1);
    }
    for (const pid_t child : children) {
        int status = 0;
        REQUIRE(::waitpid(child, &status, 0) == child);
        CHECK(status == 0);
    }
    const auto ledger = LoadLedger::open(path);
    CHECK(ledger->setAsides().size() == gateways * rounds / 5);
    CHECK(ledger->suspects().empty());
    CHECK(ledger->takeWarnings().empty());
}

TEST_CASE("a damaged ledger is kept beside and never stops a start") {
    const TempDirectory directory;
    const fs::path path = directory.path() / "ledger";
    LoadLedger::open(path)->setAside("m", "rolled back");
    const std::string good = readFile(path);
    struct Row { const char* name; std::string text; const char* problem; };
    const Row rows[] = {
        {"empty", "", "it is too short"},
        {"cut", good.substr(0, good.size() - 20), "its checksum is not that of its content"},
        {"changed", "{\"version\":2" + good.substr(12), "its checksum is not that of its content"},
        {"zeros", std::string(500, '\0'), "its checksum is not that of its content"},
        {"large", std::string(5000000, 'x'), "it is too large"},
    };
    for (const Row& row : rows) {
        INFO(row.name);
        std::ofstream(path) << row.text;
        const auto ledger = LoadLedger::open(path);
        CHECK(ledger->suspects().empty());
        CHECK(ledger->takeWarnings() ==
              std::vector<std::string>{path.string() + " is damaged and ignored: " + row.problem + "; it is now " +
                                       path.string() + ".damaged"});
        CHECK(readFile(path.string() + ".damaged") == row.text);
        ledger->setAside("m", "rolled back");
        CHECK(LoadLedger::open(path)->reasonOf("m"));
    }
}

TEST_CASE("a ledger that is damaged while the gateway runs keeps what that gateway said") {
    const TempDirectory directory;
    const fs::path path = directory.path() / "ledger";
    const auto ledger = LoadLedger::open(path);
    ledger->setAside("m", "rolled back");
    std::ofstream(path) << "nonsense";
    CHECK(ledger->reasonOf("m") == "rolled back");
    ledger->begin("n", "/ext/n.so");
    CHECK(ledger->takeWarnings().size() == 1);
    CHECK(LoadLedger::open(path)->reasonOf("m") == "rolled back");
}

TEST_CASE("without a file that can be written everything works for this process, with one warning") {
    const TempDirectory directory;
    const fs::path path = directory.path() / "missing" / "ledger";
    const auto ledger = LoadLedger::open(path);
    CHECK(ledger->takeWarnings().empty());
    ledger->begin("m", "/ext/m.so");
    ledger->done("m");
    ledger->setAside("m", "rolled back");
    ledger->setAside("n", "rolled back");
    CHECK(ledger->clear("n"));
    CHECK(ledger->setAsides() == Asides{{"m", "rolled back"}});
    const auto warnings = ledger->takeWarnings();
    REQUIRE(warnings.size() == 1);
    CHECK(warnings[0] == path.string() + ".lock: cannot be opened: No such file or directory; which modules are set "
                         "aside, or were being loaded when the gateway died, is not remembered over a restart "
                         "(extPlugin.ledger names another file)");

    fs::create_directory(path.parent_path());  // as soon as it can be, it is written
    ledger->begin("o", "/ext/o.so");
    CHECK(ledger->takeWarnings().empty());
    CHECK(LoadLedger::open(path)->reasonOf("m") == "rolled back");
}

TEST_CASE("a ledger that can only be read is heeded") {
    const TempDirectory directory;
    const fs::path path = directory.path() / "ledger";
    LoadLedger::open(path)->setAside("m", "rolled back");
    fs::remove(path.string() + ".lock");
    fs::create_directory(path.string() + ".lock");  // nobody, root neither, can open that to write
    const auto ledger = LoadLedger::open(path);
    CHECK(ledger->takeWarnings().size() == 1);
    CHECK(ledger->reasonOf("m") == "rolled back");
    ledger->begin("n", "/ext/n.so");
    CHECK(ledger->reasonOf("m") == "rolled back");
    CHECK(ledger->clear("m"));
    CHECK_FALSE(ledger->reasonOf("m"));
    CHECK(ledger->takeWarnings().empty());
}

TEST_CASE("a ledger without a file remembers for its process") {
    const auto ledger = LoadLedger::open({});
    ledger->setAside("m", "rolled back");
    ledger->begin("m", "/ext/m.so");
    CHECK(ledger->reasonOf("m") == "rolled back");
    ledger->servedAll();
    CHECK(ledger->reasonOf("m") == "rolled back");
    CHECK(ledger->takeWarnings().empty());
}

TEST_CASE("nothing is written where nothing is loaded") {
    const TempDirectory directory;
    const auto ledger = LoadLedger::open(directory.path() / "ledger");
    CHECK_FALSE(ledger->reasonOf("m"));
    CHECK(fs::is_empty(directory.path()));
}

TEST_CASE("a ledger does not grow without bounds") {
    const auto ledger = LoadLedger::open({});
    for (int i = 0; i < 300; ++i) ledger->setAside("hash " + std::to_string(i), std::string(5000, 'r'));
    const Asides kept = ledger->setAsides();
    REQUIRE(kept.size() == 256);
    CHECK(kept.front().hash == "hash 44");  // the oldest went
    CHECK(kept.back().hash == "hash 299");
    CHECK(kept.back().reason.size() == 1000);
}
