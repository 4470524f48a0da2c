#include "module/module_check.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "module/elf_image.hpp"
#include "weir/abi.h"

namespace weir::module {
namespace {

using base::Result;

constexpr std::string_view kLibraries[] = {
    "libc.so.6",     "libm.so.6",      "libdl.so.2",  "libpthread.so.0", "librt.so.1",
    "libgcc_s.so.1", "libstdc++.so.6", "libc++.so.1", "libc++abi.so.1",  "libunwind.so.1",
};

// Never allowed, whatever the operator lists.
struct Forbidden {
    std::string_view prefix;
    std::string_view remedy;
};
constexpr Forbidden kForbidden[] = {
    {"libPoco", "the gateway links its own Poco, and two of them in one process mix; use the host's services instead"},
    {"libboost_", "the gateway's own Boost must not mix with a module's; use its headers, or link it statically"},
};
constexpr std::string_view kSanitizers[] = {"libasan.", "libubsan.", "libtsan.", "liblsan.", "libhwasan.",
                                            "libclang_rt."};

// By interface: what weir::match does itself.
constexpr std::string_view kParameterTypes[] = {"uri", "header", "query",      "cookie", "host",
                                                "ip",  "domain", "req_method", "post"};
constexpr std::string_view kOperators[] = {
    "match",    "=",          "regex",     ">",       "<",           "contains", "startsWith",
    "endsWith", "TimeBefore", "TimeAfter", "exclude", "pathPattern", "isBlank"};
constexpr std::string_view kMatchModes[] = {"and", "or"};

#ifdef WEIR_SANITIZED
constexpr bool kSanitizersAllowed = true;  // this gateway brings the runtimes that its own test modules need
#else
constexpr bool kSanitizersAllowed = false;
#endif

template <class List>
bool contains(const List& list, std::string_view name) {
    return std::find(std::begin(list), std::end(list), name) != std::end(list);
}

bool isSanitizer(std::string_view library) {
    return std::ranges::any_of(kSanitizers, [&](std::string_view prefix) { return library.starts_with(prefix); });
}

bool isLoader(std::string_view library) {
    return library.starts_with("ld-linux") && library.find(".so.") != std::string_view::npos &&
           library.find('/') == std::string_view::npos;
}

std::optional<Refusal> checkLibrary(std::string_view library, const CheckPolicy& policy) {
    const auto refuse = [&](std::string_view remedy) {
        return Refusal{RefusalCode::ForbiddenLibrary, "DT_NEEDED", printable(library),
                       "the C and C++ runtimes only", std::string(remedy)};
    };
    for (const Forbidden& each : kForbidden) {
        if (library.starts_with(each.prefix)) return refuse(each.remedy);
    }
    if (isSanitizer(library)) {
        if (kSanitizersAllowed) return std::nullopt;
        return refuse("a sanitizer's runtime must be in a program from its start; build the module without -fsanitize");
    }
    if (contains(kLibraries, library) || isLoader(library) || contains(policy.libraries, library)) return std::nullopt;
    return refuse("link it statically, or allow it in extPlugin.libraries");
}

std::optional<Refusal> checkExport(const ElfImage& elf) {
    const auto symbol = std::ranges::find_if(
        elf.symbols, [](const ElfSymbol& each) { return each.defined && each.name == WEIR_MODULE_SYMBOL; });
    if (symbol != elf.symbols.end() && symbol->data) return std::nullopt;
    return missingSymbol(symbol == elf.symbols.end() ? "missing" : "exported, but not as data");
}

std::optional<Refusal> checkUnique(const ElfImage& elf) {
    for (const ElfSymbol& symbol : elf.symbols) {
        if (!symbol.unique || !symbol.defined) continue;
        return Refusal{RefusalCode::GnuUnique, "the GNU-unique symbol", demangled(symbol.name), "none",
                       "it keeps the module in memory, and later generations would run on its statics: compile with "
                       "-fno-gnu-unique, or hide it with weir_add_plugin's version script"};
    }
    return std::nullopt;
}

std::optional<Refusal> checkKeys(const Manifest& manifest) {
    for (std::size_t i = 0; i < manifest.provides.size(); ++i) {
        const Provided& provided = manifest.provides[i];
        if (!isBuiltIn(provided.interface, provided.key)) continue;
        return Refusal{RefusalCode::CoreKey, "provides[" + std::to_string(i) + "]",
                       provided.interface + " '" + provided.key + "', which is built in", "",
                       "give it a key of its own"};
    }
    return std::nullopt;
}

std::optional<Refusal> checkLoading(const ElfImage& elf) {
    if (elf.textRelocations) {
        return Refusal{RefusalCode::TextRelocations, "DT_TEXTREL", "set", "no relocations in code",
                       "the loader would make code writable: compile with -fPIC and link with -z text"};
    }
    if (elf.executableStack) {
        return Refusal{RefusalCode::ExecutableStack, "PT_GNU_STACK", "executable or missing",
                       "a stack that is not executable", "every stack of the gateway would become executable: link "
                       "with -z noexecstack"};
    }
    if (elf.staticTls) {
        return Refusal{RefusalCode::StaticTls, "DF_STATIC_TLS", "set", "thread-local data that can be loaded late",
                       "compile without -ftls-model=initial-exec"};
    }
    return std::nullopt;
}

// Why its code must not go away, though nobody declared it; empty: it may. What it has registered to run when a thread
// ends is called even when it is unmapped.
std::string residentReason(const ElfImage& elf) {
    if (elf.noDelete) return "it is linked with -z nodelete";
    const bool sharedRuntime = contains(elf.needed, "libstdc++.so.6") || contains(elf.needed, "libc++abi.so.1") ||
                               contains(elf.needed, "libc++.so.1");
    bool staticRuntime = false;
    for (const ElfSymbol& symbol : elf.symbols) {
        if (symbol.defined) continue;
        const std::string_view name = symbol.name;
        if (name == "__cxa_thread_atexit" || name == "__cxa_thread_atexit_impl") {
            return "it imports " + std::string(name) + ": it has thread_local objects with destructors";
        }
        if (name == "pthread_key_create" || name == "tss_create") {
            return "it imports " + std::string(name) + ": it has destructors that run when a thread ends";
        }
        // Only a C++ runtime raises exceptions; libgcc's own unwinder asks for the second.
        staticRuntime = staticRuntime || name == "_Unwind_RaiseException" || name == "__pthread_key_create";
    }
    return staticRuntime && !sharedRuntime ? "it carries a C++ runtime of its own, linked statically" : "";
}

}  // namespace

Refusal wrongAbi(std::string found) {
    return {RefusalCode::AbiMismatch, "the module's ABI", std::move(found),
            std::to_string(WEIR_ABI_VERSION) + ", this gateway's", "build it with this gateway's SDK"};
}

Refusal missingSymbol(std::string found) {
    return {RefusalCode::MissingSymbol, WEIR_MODULE_SYMBOL, std::move(found), "an exported table",
            "define it with WEIR_MODULE, and build with weir_add_plugin"};
}

bool isBuiltIn(std::string_view interface, std::string_view key) {
    if (interface == kParameterDataInterface) return contains(kParameterTypes, key);
    if (interface == kPredicateJudgeInterface) return contains(kOperators, key);
    return interface == kMatchStrategyInterface && contains(kMatchModes, key);
}

std::string printable(std::string_view text) {
    std::string out(text.substr(0, 512));
    std::ranges::replace_if(out, [](char c) { return c < ' ' || c > '~'; }, '?');
    return out;
}

std::string demangled(std::string_view symbol) {
    // A long name, or one full of back references, may unfold to more than memory holds.
    const std::string name(symbol);
    if (name.size() > 256 || std::ranges::count(name, '_') > 24) return printable(name);
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                           &std::free);
    return printable(text ? text.get() : name);
}

Result<ModuleFacts, Refusal> checkModule(std::string_view image, const Manifest& manifest, const CheckPolicy& policy) {
    if (manifest.abi != WEIR_ABI_VERSION) return wrongAbi(std::to_string(manifest.abi));
    if (auto refusal = checkKeys(manifest)) return *std::move(refusal);
    auto elf = readElfImage(image);
    if (!elf) return std::move(elf).error();
    if (auto refusal = checkLoading(*elf)) return *std::move(refusal);
    for (const std::string_view library : elf->needed) {
        if (auto refusal = checkLibrary(library, policy)) return *std::move(refusal);
    }
    if (auto refusal = checkExport(*elf)) return *std::move(refusal);

    ModuleFacts facts;
    facts.libraries.assign(elf->needed.begin(), elf->needed.end());
    if (manifest.unload == Unload::Resident) {
        facts.residentReason = "its manifest says so";
        facts.replaceable = false;
    } else {
        if (auto refusal = checkUnique(*elf)) return *std::move(refusal);
        facts.residentReason = residentReason(*elf);
    }
    facts.unload = facts.residentReason.empty() ? Unload::Close : Unload::Resident;
    return facts;
}

}  // namespace weir::module
