// weir plugin check, why and install: what a running gateway would do with a module's file, by the same code.
#include <sysexits.h>

#include <cstdio>
#include <filesystem>
#include <string>

#include "gateway/commands.hpp"
#include "gateway/ext_loader.hpp"
#include "gateway/log_output.hpp"
#include "module/elf_image.hpp"
#include "module/module_file.hpp"
#include "module/module_trust.hpp"
#include "module/place_module.hpp"

namespace weir::gateway {

namespace fs = std::filesystem;

namespace {

constexpr int kRefused = EX_DATAERR;

// A control plane with the core modules and the data, as a gateway has it, and a loader beside it.
struct Bench {
    std::unique_ptr<ControlPlane> plane;
    std::unique_ptr<ExtLoader> loader;
    fs::path extensions;
};

base::Result<Bench> prepare(const Arguments& arguments) {
    auto configuration = readConfiguration(arguments);
    if (!configuration) return configuration.error();
    Bench bench;
    bench.extensions = ModulePaths(configuration->settings).extensions;
    auto plane = ControlPlane::prepare(*configuration);
    if (!plane) return plane.error();
    bench.plane = std::move(*plane);
    auto settings = ExtLoader::settingsFor(configuration->settings, fs::absolute(arguments.module).parent_path());
    if (!settings) return settings.error();
    bench.loader = std::make_unique<ExtLoader>(std::move(*settings), *bench.plane,
                                               [](const std::function<void()>& function) { function(); });
    return bench;
}

void print(const char* title, const std::string& text) { std::printf("  %-9s %s\n", title, text.c_str()); }

void describe(const module::Manifest& manifest) {
    print("module", manifest.id + " " + manifest.version + ", ABI " + std::to_string(manifest.abi));
    for (const module::Provided& provided : manifest.provides) {
        std::string text = provided.interface + " " + provided.key;
        if (provided.interface == module::kPluginInterface) text += ", order " + std::to_string(provided.order);
        print("provides", text);
    }
    print("unload", manifest.unload == module::Unload::Resident ? "resident" : "close");
}

void describe(const module::Refusal& refusal) {
    print("code", std::string(module::toText(refusal.code)));
    if (!refusal.field.empty()) print("looked at", refusal.field);
    if (!refusal.found.empty()) print("found", refusal.found);
    if (!refusal.wanted.empty()) print("expected", refusal.wanted);
    if (!refusal.remedy.empty()) print("do", refusal.remedy);
}

void describe(const module::ProbeReport& report) {
    print("trial", "passed in " + std::to_string(report.took.count() / 1000) + " ms");
    if (!report.unloads) print("stays", report.stays.empty() ? "in memory when it is over" : report.stays);
}

}  // namespace

int pluginCheckCommand(const Arguments& arguments) {
    logToTerminal();
    auto bench = prepare(arguments);
    if (!bench) return fail(EX_CONFIG, bench.error().text());
    const auto checked = bench->loader->check(arguments.module);
    if (!checked.ok()) return fail(kRefused, arguments.module.string() + ": " + checked.error().text());
    const module::Manifest& manifest = checked->read.manifest;
    std::printf("%s is good: module %s %s\n", arguments.module.c_str(), manifest.id.c_str(), manifest.version.c_str());
    return EX_OK;
}

int pluginWhyCommand(const Arguments& arguments) {
    logToTerminal();
    auto bench = prepare(arguments);
    if (!bench) return fail(EX_CONFIG, bench.error().text());
    const auto read = module::readModuleFile(arguments.module);
    const auto checked = bench->loader->check(arguments.module);
    std::printf("%s %s\n", arguments.module.c_str(), checked.ok() ? "would be taken" : "would be refused");
    if (read.ok()) {
        describe(read->manifest);
        const auto image = module::readElfImage(read->bytes);
        if (image.ok())
            for (const std::string_view library : image->needed) print("needs", std::string(library));
    }
    if (checked.ok()) describe(checked->report);
    else describe(checked.error());
    return EX_OK;
}

int pluginInstallCommand(const Arguments& arguments) {
    logToTerminal();
    auto bench = prepare(arguments);
    if (!bench) return fail(EX_CONFIG, bench.error().text());
    const auto checked = bench->loader->check(arguments.module);
    if (!checked.ok()) return fail(kRefused, arguments.module.string() + ": " + checked.error().text());
    module::ModuleFile read = checked->read;  // what was checked, whatever the file is by now
    read.signature = module::signatureBeside(arguments.module);
    const module::Manifest& manifest = read.manifest;
    std::error_code failure;
    fs::create_directories(bench->extensions, failure);
    const fs::path to = bench->extensions / (manifest.id + ".so");
    if (const auto done = module::placeModule(to, read); !done) return fail(EX_CANTCREAT, done.error().text());
    std::printf("%s: module %s %s\n", to.c_str(), manifest.id.c_str(), manifest.version.c_str());
    return EX_OK;
}

}  // namespace weir::gateway
