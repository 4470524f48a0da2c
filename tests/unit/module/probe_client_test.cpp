#include "module/probe_client.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "fixtures/fixture_files.hpp"
#include "module/elf_image.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/temp_directory.hpp"

#ifdef WEIR_SANITIZED
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

using namespace weir::module;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

// The fixture as a module with that fault; "good" has none.
class Staged {
public:
    explicit Staged(const std::string& fault) {
        input.program = fs::read_symlink("/proc/self/exe").parent_path() / "weir-probe";
        input.file = "ext/" + fault + ".so";
        input.stagedFile = directory_.path() / (fault + ".so");
        input.deadline = weir::support::kDeadline;
        fs::copy_file(fixtureFile("probe-fixture"), input.stagedFile);
    }

    ProbeInput input;

private:
    weir::support::TempDirectory directory_;
};

std::size_t openDescriptors() {
    const fs::directory_iterator descriptors("/proc/self/fd");
    return static_cast<std::size_t>(std::distance(fs::begin(descriptors), fs::end(descriptors)));
}

bool hasChildren() { return ::waitpid(-1, nullptr, WNOHANG) != -1 || errno != ECHILD; }

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

bool hasLine(const std::string& text, const std::string& line) { return has("\n" + text, "\n" + line + "\n"); }

// Gone, or dead and waiting for whoever collects orphans.
bool isOver(pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    const std::string stat((std::istreambuf_iterator<char>(file)), {});
    return stat.empty() || has(stat, ") Z") || has(stat, ") X");
}

pid_t childIn(const std::string& text) {
    const std::size_t at = text.find("child ");
    REQUIRE(at != std::string::npos);
    return std::stoi(text.substr(at + 6));
}

// How a good module's log ends: what conditions use is made and tried without data.
const std::string kConditionLines =
    "parameter ''\nparameter 'name'\ncondition /\na blank\ncondition 1\na blank\ncondition 127.0.0.1\na blank\n"
    "conditions yes no\nconditions yes no no\nconditions yes no yes no\n";

// Two of its data, of every scope; `rule` is the handle of the last rule.
std::string dataWith(const std::string& rule) {
    return R"([{"key":"other","plugin":null,"selectors":[],"rules":[]},{"key":"probed",)"
           R"("plugin":{"id":"p","name":"probed","config":"{\"text\":\"c\"}"},)"
           R"("selectors":[{"id":"s1","name":"first","continued":true,"handle":"{\"text\":\"s\"}"},)"
           R"({"id":"s2","name":"second","continued":false,"handle":null}],)"
           R"("rules":[{"id":"r1","name":"one","selectorId":"s1","handle":"{\"text\":\"r\"}"},)"
           R"({"id":"r2","name":"two","selectorId":"s1","handle":"{\"text\":\")" + rule + R"(\"}"}]}])";
}

}  // namespace

TEST_CASE("a good module passes the probe and is seen to unload") {
    const Staged good("good");
    const auto report = probeModule(good.input);
    if (!report) FAIL(report.error().text());
    CHECK(report->unloads);
    CHECK(report->stays == "");
    CHECK(report->threads == 0);
    CHECK(report->took > 0us);
    // The defaults, as there is no data.
    CHECK(report->log == "prepare 0 nothing\nprepare 1 nothing\nprepare 2 nothing\n"
                         "release 2\nrelease 1\nrelease 0\ndestroy\nbalance 2\ndestroy\ndestroy\n" + kConditionLines);
    CHECK(fs::exists(good.input.stagedFile));
}

TEST_CASE("the probe gives a module the data in force") {
    Staged good("good");
    good.input.dataJson = dataWith("last");
    const auto report = probeModule(good.input);
    if (!report) FAIL(report.error().text());
    CHECK(report->log == "prepare 0 c\nprepare 1 s\nprepare 1 nothing\nprepare 2 nothing\nprepare 2 r\nprepare 2 last\n"
                         "release 2\nrelease 2\nrelease 2\nrelease 1\nrelease 1\nrelease 0\ndestroy\n"
                         "balance 2\ndestroy\nhear 0 p\nhear 1 s1\nhear 1 s2\nhear 2 r1\nhear 2 r2\ndestroy\n" +
                             kConditionLines);
}

TEST_CASE("a module that does not take the data in force is refused with the place and the reason") {
    struct Row {
        const char* fault;
        const char* rule;
        const char* field;
        const char* found;
    };
    const Row rows[] = {
        {"good", "refuse", "plugin 'probed', rule 'two', handle", "refused: text: must not be that"},
        {"good", "balancer", "plugin 'probed', rule 'two', handle",
         "refused: no module provides the load balancer 'random'"},
        {"no-defaults", "last", "plugin 'probed', selector 'second', handle", "refused: no reason given"},
    };
    for (const Row& row : rows) {
        Staged staged(row.fault);
        staged.input.dataJson = dataWith(row.rule);
        staged.input.balancers = {"hash"};
        const auto report = probeModule(staged.input);
        REQUIRE_FALSE(report);
        INFO(report.error().text());
        CHECK(report.error().code == RefusalCode::ConfigRefused);
        CHECK(report.error().field == row.field);
        CHECK(report.error().found == row.found);
        CHECK_FALSE(report.error().remedy.empty());
    }
}

TEST_CASE("data may name the load balancers that there are") {
    Staged good("good");
    good.input.dataJson = dataWith("balancer");
    good.input.balancers = {"hash", "random"};
    CHECK(probeModule(good.input).ok());
}

TEST_CASE("defaults that nobody asks for may be refused") {
    const auto report = probeModule(Staged("no-defaults").input);
    if (!report) FAIL(report.error().text());
}

TEST_CASE("a parameter type and an operator may refuse what the probe makes up") {
    const auto report = probeModule(Staged("picky").input);
    if (!report) FAIL(report.error().text());
    CHECK(has(report->log, "parameter 'name'\ncondition /\ncondition 1\ncondition 127.0.0.1\nconditions yes no\n"));
}

TEST_CASE("a faulty module is refused with the step it failed in and harms nobody else") {
    struct Row {
        const char* fault;
        RefusalCode code;
        const char* field;
        const char* found;  // how it begins
    };
    const char* create = "create of plugin 'probed'";
    const Row rows[] = {
        {"load-segv", RefusalCode::ProbeCrashed, "load", "ended by SIGSEGV"},
        {"load-abort", RefusalCode::ProbeCrashed, "load", "ended by SIGABRT"},
        {"load-throw", RefusalCode::ProbeCrashed, "load", "ended by SIGABRT; its last words:   what():  no licence"},
        {"load-exit", RefusalCode::ProbeExited, "load", "ended by an exit with code 0"},
        {"bad-tables", RefusalCode::BadTables, "the list of weir.plugin_data_handler/1", "missing"},
        {"create-fail", RefusalCode::CreateFailed, create, "refused: no licence"},
        {"create-throw", RefusalCode::CreateFailed, create, "ended by an exception: no licence"},
        {"create-throw-int", RefusalCode::CreateFailed, create, "ended by an exception of an unknown type"},
        {"create-segv", RefusalCode::ProbeCrashed, create, "ended by SIGSEGV"},
        {"create-abort", RefusalCode::ProbeCrashed, create, "ended by SIGABRT; its last words: cannot go on"},
        {"create-exit", RefusalCode::ProbeExited, create, "ended by an exit with code 0"},
        {"create-quick-exit", RefusalCode::ProbeExited, create, "ended by an exit with code 3"},
        {"forge-and-exit", RefusalCode::ProbeExited, create, "ended by an exit with code 0"},
        {"close-all", RefusalCode::ProbeExited, create, "followed by closed descriptors"},
        {"balancer-fail", RefusalCode::CreateFailed, "create of load balancer 'probed'", "refused: no reason given"},
        {"pick-segv", RefusalCode::ProbeCrashed, "pick of load balancer 'probed'", "ended by SIGSEGV"},
        {"parameter-throw", RefusalCode::CreateFailed, "create of parameter data 'probed'",
         "ended by an exception: no licence"},
        {"judge-segv", RefusalCode::ProbeCrashed, "judge of predicate judge 'probed'", "ended by SIGSEGV"},
        {"judge-throw", RefusalCode::CreateFailed, "judge of predicate judge 'probed'",
         "ended by an exception: no such thing"},
        {"strategy-fail", RefusalCode::CreateFailed, "create of match strategy 'probed'", "refused: no licence"},
        {"match-segv", RefusalCode::ProbeCrashed, "match of match strategy 'probed'", "ended by SIGSEGV"},
        {"destroy-throw", RefusalCode::CreateFailed, "destroy of plugin 'probed'",
         "ended by an exception: not now"},
        {"unload-abort", RefusalCode::ProbeCrashed, "unload", "ended by SIGABRT"},
    };
    for (const Row& row : rows) {
        INFO(row.fault);
        const Staged staged(row.fault);
        const std::size_t before = openDescriptors();
        const auto report = probeModule(staged.input);
        REQUIRE_FALSE(report);
        INFO(report.error().text());
        CHECK(report.error().code == row.code);
        CHECK(report.error().field == row.field);
        CHECK(report.error().found.find(row.found) == 0);
        CHECK_FALSE(hasChildren());
        CHECK(openDescriptors() == before);
    }
}

TEST_CASE("a module that does not come back is killed at the deadline") {
    struct Row {
        const char* fault;
        const char* field;
    };
    const Row rows[] = {{"load-sleep", "load"},
                        {"create-sleep", "create of plugin 'probed'"},
                        {"spin", "create of plugin 'probed'"},
                        {"judge-sleep", "judge of predicate judge 'probed'"},
                        {"fork-and-sleep", "create of plugin 'probed'"}};
    for (const Row& row : rows) {
        INFO(row.fault);
        Staged staged(row.fault);
        staged.input.deadline = kSanitized ? 3s : 500ms;
        const std::size_t before = openDescriptors();
        const auto report = probeModule(staged.input);
        REQUIRE_FALSE(report);
        INFO(report.error().text());
        CHECK(report.error().code == RefusalCode::ProbeTimeout);
        CHECK(report.error().field == row.field);
        CHECK(report.error().found.find("not over after ") == 0);
        if (has(report.error().found, "child ")) {
            const pid_t child = childIn(report.error().found);
            CHECK(weir::support::eventually([&] { return isOver(child); }));
        }
        CHECK_FALSE(hasChildren());
        CHECK(openDescriptors() == before);
    }
}

TEST_CASE("a module that allocates without end is refused when its memory is used up") {
    if (kSanitized) return;  // sanitizers leave no room for a limit
    const auto report = probeModule(Staged("allocate").input);
    REQUIRE_FALSE(report);
    INFO(report.error().text());
    CHECK(report.error().code == RefusalCode::CreateFailed);
    CHECK(report.error().found == "ended by an exception: std::bad_alloc");
}

TEST_CASE("a module that leaves something behind passes, and the report says what stays") {
    struct Row {
        const char* fault;
        std::uint32_t threads;
        const char* stays;
    };
    const Row rows[] = {
        {"leak-thread", 1, "threads of its own still run after everything of it was destroyed"},
        {"thread-local", 0, "thread"},
        {"fork-stays", 0, "it left a process of its own running"},
    };
    for (const Row& row : rows) {
        INFO(row.fault);
        const std::size_t before = openDescriptors();
        const auto report = probeModule(Staged(row.fault).input);
        if (!report) FAIL(report.error().text());
        CHECK_FALSE(report->unloads);
        INFO(report->stays);
        CHECK(has(report->stays, row.stays));
        CHECK(report->threads == row.threads);
        if (has(report->log, "child ")) CHECK(isOver(childIn(report->log)));
        CHECK_FALSE(hasChildren());
        CHECK(openDescriptors() == before);
    }
}

TEST_CASE("a module that stays by its manifest is reported so") {
    Staged staged("good");
    fs::copy_file(fixtureFile("resident"), staged.input.stagedFile, fs::copy_options::overwrite_existing);
    const auto report = probeModule(staged.input);
    if (!report) FAIL(report.error().text());
    CHECK_FALSE(report->unloads);
    CHECK(has(report->stays, "manifest"));
}

TEST_CASE("what a module writes is no answer of the probe") {
    for (const char* fault : {"forge", "fork-returns"}) {
        INFO(fault);
        const auto report = probeModule(Staged(fault).input);
        if (!report) FAIL(report.error().text());
        CHECK(report->unloads);
    }
}

TEST_CASE("of a module that writes much the beginning is kept") {
    const auto report = probeModule(Staged("flood").input);
    if (!report) FAIL(report.error().text());
    CHECK(report->log.size() == 16 * 1024);
    CHECK(report->log.find("a line that is") == 0);
}

TEST_CASE("a module on trial sees no descriptor, no variable and no directory of the gateway") {
    ::setenv("WEIR_MANAGEMENT_TOKEN", "t0p", 1);
    const int inherited = ::open("/dev/null", O_RDONLY);  // without O_CLOEXEC
    const auto report = probeModule(Staged("look-around").input);
    ::close(inherited);
    ::unsetenv("WEIR_MANAGEMENT_TOKEN");
    if (!report) FAIL(report.error().text());
    const std::string& log = report->log;
    INFO(log);
    CHECK(hasLine(log, "probing 1"));
    CHECK(hasLine(log, "directory /"));
    CHECK(has(log, "variable PATH="));
    CHECK_FALSE(has(log, "WEIR_"));
    for (int fd = 0; fd < 64; ++fd) {
        const bool expected = fd <= 2 || fd == 4;
        INFO(fd);
        CHECK(hasLine(log, "descriptor " + std::to_string(fd)) == expected);
    }
}

TEST_CASE("several modules are tried out at one time") {
    const char* faults[] = {"good", "create-segv", "create-fail", "good"};
    std::vector<std::string> said(std::size(faults));
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < std::size(faults); ++i) {
        threads.emplace_back([&, i] {
            for (int round = 0; round < 5; ++round) {
                const auto report = probeModule(Staged(faults[i]).input);
                said[i] += report ? "passed " : std::string(toText(report.error().code)) + " ";
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(said[0] == "passed passed passed passed passed ");
    CHECK(said[1] == "probe_crashed probe_crashed probe_crashed probe_crashed probe_crashed ");
    CHECK(said[2] == "create_failed create_failed create_failed create_failed create_failed ");
    CHECK(said[3] == said[0]);
    CHECK_FALSE(hasChildren());
}

TEST_CASE("without its program the probe fails and says what to do") {
    Staged good("good");
    good.input.program = "/nowhere/weir-probe";
    const std::size_t before = openDescriptors();
    const auto report = probeModule(good.input);
    REQUIRE_FALSE(report);
    CHECK(report.error().code == RefusalCode::ProbeFailed);
    CHECK(report.error().field == "/nowhere/weir-probe");
    CHECK(has(report.error().found, "No such file or directory"));
    CHECK_FALSE(report.error().remedy.empty());
    CHECK(openDescriptors() == before);
}

TEST_CASE("a program that ends before it has looked at the module is a failure of the probe") {
    struct Row {
        const char* program;
        const char* data;
        const char* found;
    };
    const Row rows[] = {{"/bin/false", "", "ended by an exit with code 1"},
                        {nullptr, "[", "ended by an exit with code 64"}};
    for (const Row& row : rows) {
        Staged good("good");
        if (row.program) good.input.program = row.program;
        good.input.dataJson = row.data;
        const auto report = probeModule(good.input);
        REQUIRE_FALSE(report);
        INFO(report.error().text());
        CHECK(report.error().code == RefusalCode::ProbeFailed);
        CHECK(report.error().found.find(row.found) == 0);
    }
}

TEST_CASE("a file that is no module is refused by the probe, too") {
    Staged staged("good");
    std::ofstream(staged.input.stagedFile) << "text";
    const auto report = probeModule(staged.input);
    REQUIRE_FALSE(report);
    INFO(report.error().text());
    CHECK(report.error().code == RefusalCode::NotElf);
}

TEST_CASE("the probe lies beside the program, small and without the gateway's libraries") {
    const fs::path program = defaultProbeProgram();
    CHECK(program == fs::read_symlink("/proc/self/exe").parent_path() / "weir-probe");
    std::ifstream file(program, std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)), {});
    const auto image = readElfImage(bytes);
    REQUIRE(image);
    for (const std::string_view library : image->needed) {
        INFO(library);
        CHECK(library.find("libPoco") == std::string_view::npos);
        CHECK(library.find("libcrypto") == std::string_view::npos);
    }
}
