#include "gateway/ext_loader.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

#include "base/digest.hpp"
#include "base/log.hpp"
#include "module/place_module.hpp"

namespace weir::gateway {

namespace fs = std::filesystem;
using module::Refusal;
using module::RefusalCode;

base::Result<ExtLoader::Settings> ExtLoader::settingsFor(const config::Settings& settings, fs::path directory) {
    const config::Settings::ExtPlugin& from = settings.extPlugin;
    auto trust = module::TrustPolicy::make(from.trust.sha256, from.trust.keys);
    if (!trust.ok()) return std::move(trust).error();
    ExtPipeline::Policy policy;
    policy.directory = directory;
    policy.trust = std::move(trust).value();
    policy.check.libraries = from.libraries;
    policy.probe = module::defaultProbeProgram();
    policy.probeTimeout = from.probeTimeout;
    policy.createTimeout = from.createTimeout;
    return ExtLoader::Settings{std::move(directory), from.settle, from.threads, std::move(policy)};
}

ExtLoader::ExtLoader(Settings settings, ControlPlane& plane, OnControl onControl)
    : threads_(settings.threads),
      plane_(plane),
      run_(std::move(onControl)),
      directory_(std::move(settings.directory), settings.settle),
      pipeline_(std::move(settings.policy), plane.staging(), plane.ledger(), plane.host()) {}

Admit ExtLoader::admit(bool rollingBack) {
    return [this, rollingBack](const fs::path& file, const module::Manifest& manifest, const std::string& sha256) {
        return onControl([&] { return plane_.admit(file, manifest, sha256, rollingBack); });
    };
}

bool ExtLoader::scan() {
    module::ExtDirectory::Changes changes = directory_.scan();
    FoundModules found;
    found.alarm = changes.alarm;
    found.gone = std::move(changes.gone);
    found.present = std::move(changes.present);
    for (module::ExtDirectory::Refused& bad : changes.refused) {
        manage::ModuleStatus status;
        status.id = bad.file.filename().string();
        status.file = bad.file.string();
        found.bad.push_back({bad.file, std::move(status), std::move(bad.refusal)});
    }
    // Other bytes may have come and gone again. A file that a call wants anew is loaded anew.
    std::erase_if(changes.changed, [&](const module::ExtDirectory::Changed& each) {
        if (forced_.erase(each.file) > 0) return false;
        return onControl([&] { return plane_.extensions().serves(each.file, each.hash); });
    });
    prepareAll(std::move(changes.changed), found);
    if (pipeline_.isStopping()) return false;
    const bool unsettled = !changes.unsettled.empty() || !found.alarm.empty();
    run_([&] { plane_.apply(std::move(found)); });
    return unsettled;
}

// As many at one time as the settings say, in the order of their names.
void ExtLoader::prepareAll(std::vector<module::ExtDirectory::Changed> changed, FoundModules& found) {
    std::vector<std::optional<base::Result<PreparedModule, Refusal>>> results(changed.size());
    std::atomic<std::size_t> next{0};
    const auto work = [&] {
        for (std::size_t i = next++; i < changed.size() && !pipeline_.isStopping(); i = next++) {
            const module::ExtDirectory::Changed& each = changed[i];
            results[i].emplace(pipeline_.prepare(each.file, each.hash, each.module, admit(false)));
        }
    };
    std::vector<std::thread> helpers;
    for (int i = 1; i < threads_ && static_cast<std::size_t>(i) < changed.size(); ++i) helpers.emplace_back(work);
    work();
    for (std::thread& helper : helpers) helper.join();
    if (pipeline_.isStopping()) return;
    for (std::size_t i = 0; i < changed.size(); ++i) {
        const module::ExtDirectory::Changed& each = changed[i];
        if (results[i]->ok()) found.prepared.push_back(std::move(*results[i]).value());
        else found.bad.push_back({each.file, manage::describe(each.module.manifest, each.file, each.hash),
                                  std::move(*results[i]).error()});
    }
}

// ---- Calls ----

base::Result<void> ExtLoader::lookAgain(const base::Result<fs::path>& file) {
    if (!file.ok()) return file.error();
    directory_.forget(*file);
    forced_.insert(*file);
    scan();
    if (auto refusal = refusalOf(*file)) return refusal->error(file->string());
    return {};
}

std::optional<Refusal> ExtLoader::refusalOf(const fs::path& file) const {
    for (const manage::ModuleStatus& status : plane_.modules())
        if (status.file == file.string() && status.refusal) return status.refusal;
    return std::nullopt;
}

base::Result<void> ExtLoader::reload(const std::string& id) {
    return lookAgain(onControl([&] { return plane_.extensions().fileOf(id); }));
}

base::Result<void> ExtLoader::disable(const std::string& id) {
    return onControl([&] { return plane_.disable(id); });
}

base::Result<void> ExtLoader::enable(const std::string& id) {
    return lookAgain(onControl([&] { return plane_.extensions().enable(id); }));
}

base::Result<void> ExtLoader::clear(const std::string& id) {
    return lookAgain(onControl([&] { return plane_.extensions().clear(id); }));
}

base::Result<void> ExtLoader::rollBack(const std::string& id, const std::string& reason) {
    const auto backward = onControl([&] { return plane_.extensions().backward(id); });
    if (!backward.ok()) return backward.error();
    const auto done = goBack(*backward, reason);
    if (done.ok()) return {};
    // What a stop has ended was not refused.
    if (!pipeline_.isStopping()) run_([&] { plane_.refuseRollBack(id, reason, done.error()); });
    return done.error().error("the generation before of " + backward->file.string());
}

base::Result<void, Refusal> ExtLoader::goBack(const ExtModules::Backward& to, const std::string& reason) {
    const auto read = module::readModuleFile(to.kept);
    if (!read.ok()) return read.error();
    auto prepared = pipeline_.prepareAgain(to.file, to.sha256, *read, admit(true));
    if (!prepared.ok()) return std::move(prepared).error();
    return onControl([&] { return plane_.rollBack(std::move(prepared).value(), reason); });
}

void ExtLoader::mendFailing() {
    const std::vector<std::string> failing = onControl([&] {
        plane_.extensions().confirm();
        plane_.refreshModules();
        return plane_.extensions().failing();
    });
    for (const std::string& id : failing) {
        const std::string reason = "its own errors passed extPlugin.rollbackErrors";
        const auto back = rollBack(id, reason);
        if (back.ok() || back.error().code != base::ErrorCode::NotFound) continue;
        const auto done = onControl([&] { return plane_.withdraw(id, reason); });
        if (!done.ok()) base::logError("module " + id + ": " + done.error().text());
    }
}

base::Result<module::ProbeReport, Refusal> ExtLoader::validate(const std::string& bytes) {
    auto read = module::parseModule(bytes);
    if (!read.ok()) return std::move(read).error();
    const fs::path file = directory() / (read->manifest.id + ".so");
    return pipeline_.tryOut(file, base::sha256Hex(bytes), *read, admit(false));
}

base::Result<ExtLoader::Checked, Refusal> ExtLoader::check(const fs::path& file) {
    auto read = module::readModuleFile(file);
    if (!read.ok()) return std::move(read).error();
    auto report = pipeline_.tryOut(file, base::sha256Hex(read->bytes), *read, admit(false));
    if (!report.ok()) return std::move(report).error();
    return Checked{std::move(read).value(), std::move(report).value()};
}

base::Result<std::string, Refusal> ExtLoader::install(std::string bytes, std::optional<std::string> signature) {
    auto read = module::parseModule(std::move(bytes));
    if (!read.ok()) return std::move(read).error();
    read->signature = std::move(signature);
    const std::string id = read->manifest.id;
    fs::path file = directory() / (id + ".so");
    if (const auto serves = onControl([&] { return plane_.extensions().fileOf(id); }); serves.ok()) file = *serves;
    const auto tried = pipeline_.tryOut(file, base::sha256Hex(read->bytes), *read, admit(false));
    if (!tried.ok()) return tried.error();
    const auto before = module::placeModule(file, *read);
    if (!before.ok())
        return Refusal{RefusalCode::StagingFailed, file.string(), before.error().text(), {},
                       "see that the gateway may read and write in extPlugin.path"};
    directory_.forget(file);
    scan();
    auto refusal = refusalOf(file);
    if (!refusal) return id;
    if (const auto back = module::putBack(file, *before); !back.ok()) {
        refusal->remedy = "what was in the directory before could not be put back: " + back.error().text();
        base::logError("module " + file.string() + ": " + refusal->remedy);
    }
    scan();  // what was there is not what was refused
    return std::move(*refusal);
}

}  // namespace weir::gateway
