#include "module/module_check.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "fixtures/elf_edit.hpp"
#include "fixtures/fixture_files.hpp"
#include "module/loaded_module.hpp"
#include "module/module_file.hpp"
#include "support/catch.hpp"
#include "support/temp_directory.hpp"

using namespace weir::module;
namespace fs = std::filesystem;

namespace {

Manifest goodManifest() {
    Manifest manifest;
    manifest.id = "fixture";
    manifest.abi = WEIR_ABI_VERSION;
    return manifest;
}

// One folder of tests/functional/fixtures/bad as the build leaves it.
struct BadModule {
    std::string name;
    fs::path file;
    std::string expected;
};

std::vector<BadModule> badModules() {
    std::vector<BadModule> all;
    for (const auto& entry : fs::directory_iterator(WEIR_TEST_BAD_MODULES)) {
        BadModule each{entry.path().filename().string(), {}, {}};
        each.file = entry.path() / ("bad-" + each.name + ".so");
        if (std::ifstream(entry.path() / "expected") >> each.expected && fs::exists(each.file)) all.push_back(each);
    }
    std::ranges::sort(all, {}, &BadModule::name);
    REQUIRE(all.size() > 40);
    return all;
}

BadModule badModule(const std::string& name) {
    for (const BadModule& each : badModules()) {
        if (each.name == name) return each;
    }
    throw std::runtime_error("no bad module " + name);
}

// Only trying it out, or what else is loaded, shows what is wrong with it.
bool isStaticallyGood(const BadModule& module) {
    for (const char* code : {"probe_", "create_", "core_key", "key_conflict"}) {
        if (module.expected.starts_with(code)) return true;
    }
    return module.name == "leaked-thread";
}

weir::base::Result<ModuleFacts, Refusal> checkFile(const fs::path& file, const CheckPolicy& policy = {}) {
    const auto read = readModuleFile(file);
    if (!read) return read.error();
    return checkModule(read->bytes, read->manifest, policy);
}

}  // namespace

TEST_CASE("a good module passes, with the libraries it needs") {
    const auto facts = checkModule(bytesOf(fixtureFile("fixture")), goodManifest(), {});
    REQUIRE(facts);
    CHECK(facts->unload == Unload::Close);
    CHECK(facts->residentReason.empty());
    CHECK(facts->replaceable);
    CHECK(std::ranges::count(facts->libraries, "libc.so.6") == 1);
}

TEST_CASE("what the loader would do to the whole process is refused") {
    struct Row {
        const char* expected;
        void (*edit)(std::string&);
    };
    const Row rows[] = {
        {"executable_stack: PT_GNU_STACK is executable",
         [](std::string& bytes) {
             Elf64_Phdr stack = segmentOf(bytes, PT_GNU_STACK);
             stack.p_flags |= PF_X;
             setSegment(bytes, PT_GNU_STACK, stack);
         }},
        {"executable_stack: PT_GNU_STACK is executable or missing",
         [](std::string& bytes) {
             Elf64_Phdr stack = segmentOf(bytes, PT_GNU_STACK);
             stack.p_type = PT_NULL;
             setSegment(bytes, PT_GNU_STACK, stack);
         }},
        {"text_relocations: DT_TEXTREL is set", [](std::string& bytes) { setDynamic(bytes, DT_INIT, DT_TEXTREL, 0); }},
        {"text_relocations: ", [](std::string& bytes) { setDynamic(bytes, DT_FLAGS, DF_TEXTREL); }},
        {"static_tls: DF_STATIC_TLS is set", [](std::string& bytes) { setDynamic(bytes, DT_FLAGS, DF_STATIC_TLS); }},
        {"missing_symbol: weir_module_v1 is missing",
         [](std::string& bytes) { replaceText(bytes, "weir_module_v1", "weir_module_v2"); }},
        {"wrong_machine: e_machine is ", [](std::string& bytes) { bytes[18] = 8; }},
    };
    for (const Row& row : rows) {
        std::string bytes = bytesOf(fixtureFile("fixture"));
        row.edit(bytes);
        const auto facts = checkModule(bytes, goodManifest(), {});
        INFO(row.expected);
        REQUIRE_FALSE(facts);
        INFO(facts.error().text());
        CHECK(facts.error().text().starts_with(row.expected));
    }
}

TEST_CASE("a module leaves alone what is built in") {
    struct Row {
        const char* interface;
        const char* key;
        bool builtIn;
    };
    const Row rows[] = {
        {"ParameterData", "req_method", true},
        {"ParameterData", "tenant", false},
        {"ParameterData", "Uri", false},
        {"ParameterData", "and", false},
        {"PredicateJudge", "=", true},
        {"PredicateJudge", "isBlank", true},
        {"PredicateJudge", "ipRange", false},
        {"MatchStrategy", "or", true},
        {"MatchStrategy", "majority", false},
        {"Plugin", "match", false},
    };
    for (const Row& row : rows) {
        Manifest manifest = goodManifest();
        manifest.provides.resize(2);
        manifest.provides[1].interface = row.interface;
        manifest.provides[1].key = row.key;
        const auto facts = checkModule(bytesOf(fixtureFile("fixture")), manifest, {});
        INFO(row.interface << " " << row.key);
        CHECK(isBuiltIn(row.interface, row.key) == row.builtIn);
        REQUIRE(facts.ok() == !row.builtIn);
        if (facts.ok()) continue;
        CHECK(facts.error().code == RefusalCode::CoreKey);
        CHECK(facts.error().field == "provides[1]");
        CHECK(facts.error().found == std::string(row.interface) + " '" + row.key + "', which is built in");
    }
}

TEST_CASE("a module for another ABI is refused with both versions") {
    for (const std::uint32_t abi : {2u, 2147483648u}) {
        Manifest manifest = goodManifest();
        manifest.abi = abi;
        const auto facts = checkModule(bytesOf(fixtureFile("fixture")), manifest, {});
        REQUIRE_FALSE(facts);
        CHECK(facts.error().code == RefusalCode::AbiMismatch);
        CHECK(facts.error().text() == "abi_mismatch: the module's ABI is " + std::to_string(abi) +
                                          ", expected 1, this gateway's: build it with this gateway's SDK");
    }
}

TEST_CASE("a library that a module must not need is refused with the reason") {
    struct Row {
        const char* library;  // as long as "libstdc++.so.6"
        const char* remedy;   // "": it is allowed
        std::vector<std::string> allowed = {};
    };
    std::vector<Row> rows = {
        {"libPocoNet.so9", "the gateway links its own Poco"},
        {"libPocoNet.so9", "the gateway links its own Poco", {"libPocoNet.so9"}},
        {"libboost_xy.so", "the gateway's own Boost must not mix"},
        {"libunknown.so1", "or allow it in extPlugin.libraries"},
        {"libunknown.so1", "", {"libz.so.1", "libunknown.so1"}},
        {"libunknown.so1", "or allow it", {"libunknown.so"}},
        {"/tmp/libc.so.6", "or allow it"},
        {"libc.so.6\nx.so", "or allow it"},
        {"ld-linuxxx.so.", ""},
        {"ld-linux/so.so", "or allow it"},
        {"libunwind.so.1", ""},
        {"libc++abi.so.1", ""},
    };
#ifndef WEIR_SANITIZED
    rows.push_back({"libasan.so.888", "build the module without -fsanitize"});
    rows.push_back({"libclang_rt.so", "build the module without -fsanitize", {"libclang_rt.so"}});
#else
    rows.push_back({"libasan.so.888", ""});
#endif
    for (const Row& row : rows) {
        std::string bytes = bytesOf(fixtureFile("handler"));
        replaceText(bytes, "libstdc++.so.6", row.library);
        const auto facts = checkModule(bytes, goodManifest(), {row.allowed});
        INFO(row.library);
        CHECK(facts.ok() == (*row.remedy == '\0'));
        if (facts) continue;
        INFO(facts.error().text());
        CHECK(facts.error().code == RefusalCode::ForbiddenLibrary);
        CHECK(facts.error().found == printable(row.library));
        CHECK(facts.error().remedy.find(row.remedy) != std::string::npos);
    }
}

TEST_CASE("what a module says of itself can not break a log line or grow without bounds") {
    CHECK(printable("lib\nx\xff.so") == "lib?x?.so");
    CHECK(printable(std::string(4096, 'x')).size() == 512);
    CHECK(demangled("_Z1fi") == "f(int)");
    CHECK(demangled("plain") == "plain");
    // Each back reference doubles the text.
    std::string bomb = "_Z1fPFvvES";
    for (int i = 0; i < 30; ++i) bomb += "_PFS" + std::to_string(i) + "_S";
    CHECK(demangled(bomb).size() <= 512);
}

TEST_CASE("a GNU-unique symbol is named, with the flag that avoids it") {
    if (!fs::exists(WEIR_TEST_BAD_MODULES "/gnu-unique")) return;  // g++ alone makes them
    const auto facts = checkFile(badModule("gnu-unique").file);
    REQUIRE_FALSE(facts);
    CHECK(facts.error().code == RefusalCode::GnuUnique);
    CHECK(facts.error().found == "Unique<long>::value");
    CHECK(facts.error().remedy.find("-fno-gnu-unique") != std::string::npos);
}

TEST_CASE("a module that cannot be unloaded is resident, and why is known") {
    struct Row {
        const char* name;
        const char* reason;
        bool replaceable;
    };
    const Row rows[] = {
        {"static-runtime", "it carries a C++ runtime of its own, linked statically", true},
        {"static-library", "it carries a C++ runtime of its own, linked statically", true},
        {"thread-local", "it imports __cxa_thread_atexit: it has thread_local objects with destructors", true},
        {"no-delete", "it is linked with -z nodelete", true},
        {"gnu-unique-resident", "its manifest says so", false},
    };
    for (const Row& row : rows) {
        INFO(row.name);
        if (!fs::exists(fs::path(WEIR_TEST_BAD_MODULES) / row.name)) continue;
        const auto facts = checkFile(badModule(row.name).file);
        REQUIRE(facts);
        CHECK(facts->unload == Unload::Resident);
        CHECK(facts->residentReason == row.reason);
        CHECK(facts->replaceable == row.replaceable);
    }
}

TEST_CASE("every bad module is refused with its code, and every unusual good one is loaded and leaves if it can") {
    const auto staging = StagingDirectory::create();
    REQUIRE(staging);
    for (const BadModule& each : badModules()) {
        INFO(each.name);
        if (isStaticallyGood(each)) {
            const auto facts = checkFile(each.file);
            INFO((facts ? "" : facts.error().text()));
            CHECK(facts);
            continue;
        }
        auto loaded = LoadedModule::load(each.file, **staging);
        if (!loaded) {
            INFO(loaded.error().text());
            CHECK(toText(loaded.error().code) == each.expected);
            continue;
        }
        const fs::path staged = (*loaded)->stagedFile();
        loaded->reset();
        CHECK((isMapped(staged) ? "loads_resident" : "loads") == each.expected);
    }
}

TEST_CASE("what the loader does not find is named") {
    const auto staging = StagingDirectory::create();
    REQUIRE(staging);
    const auto unresolved = LoadedModule::load(badModule("unresolved").file, **staging);
    REQUIRE_FALSE(unresolved);
    CHECK(unresolved.error().text().starts_with(
        "unresolved_symbol: the symbol elsewhere::nobodyHasThis(int) is nowhere"));

    weir::support::TempDirectory directory;
    std::string bytes = bytesOf(fixtureFile("handler"));
    replaceText(bytes, "libstdc++.so.6", "libnowhere.so1");
    const fs::path file = directory.write("m.so", bytes);
    const auto missing = LoadedModule::load(file, **staging, {{"libnowhere.so1"}});
    REQUIRE_FALSE(missing);
    CHECK(missing.error().text().starts_with("missing_library: the library libnowhere.so1 is missing"));

    bytes = bytesOf(fixtureFile("handler"));
    replaceText(bytes, "GLIBC_2.2.5", "GLIBC_9.9.9");
    const auto older = LoadedModule::load(directory.write("n.so", bytes), **staging);
    REQUIRE_FALSE(older);
    INFO(older.error().text());
    CHECK(older.error().code == RefusalCode::UnresolvedSymbol);
    CHECK(older.error().field == "the version GLIBC_9.9.9");
}
