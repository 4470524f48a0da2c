#include "gateway/ext_pipeline.hpp"

#include <system_error>
#include <thread>
#include <utility>

#include "base/log.hpp"

namespace weir::gateway {

namespace fs = std::filesystem;
using module::Refusal;
using module::RefusalCode;
template <class T>
using Result = base::Result<T, Refusal>;

namespace {

constexpr const char* kLoading = "loading and creating";
constexpr std::chrono::milliseconds kLookForStop{20};

// Says when the last request has let go of a generation, and whether its code is unmapped then.
std::shared_ptr<module::LoadedModule> announceEnd(std::unique_ptr<module::LoadedModule> module) {
    return {module.release(), [](module::LoadedModule* ending) {
                const std::string name = "module " + ending->manifest().id + " " + ending->manifest().version;
                const fs::path staged = ending->stagedFile();
                delete ending;
                if (module::isMapped(staged)) base::logWarning(name + ": is over, but its code stays mapped");
                else base::logInfo(name + ": unloaded");
            }};
}

// Whoever waits for it gets it. If nobody does any more it is gone when this returns.
void deliver(Result<PreparedModule> loaded, module::LoadLedger& ledger, const std::string& sha256,
             std::promise<Result<PreparedModule>> promise) {
    ledger.done(sha256);
    promise.set_value(std::move(loaded));
}

// Creates what the manifest promises.
Result<PreparedModule> create(PreparedModule made, const weir_host& host) {
    const auto refused = [](const base::Error& error) {
        return Refusal{RefusalCode::CreateFailed, {}, error.message, {}, {}};
    };
    for (const module::Provided& provided : made.manifest.provides) {
        if (provided.interface == module::kPluginDataHandlerInterface) {
            auto handler = DataHandler::create(made.module, provided.key, host);
            if (!handler.ok()) return refused(handler.error());
            made.handlers.push_back(std::move(handler).value());
        } else if (provided.interface == module::kPluginInterface) {
            auto instance = PluginInstance::create(made.module, provided, host);
            if (!instance.ok()) return refused(instance.error());
            made.plugins.push_back(std::move(instance).value());
        } else if (MatchPart::isInterface(provided.interface)) {
            auto part = MatchPart::create(made.module, provided, host);
            if (!part.ok()) return refused(part.error());
            made.matching.push_back(std::move(part).value());
        }
    }
    return made;
}

}  // namespace

std::optional<Refusal> ExtPipeline::checkTrust(const fs::path& file, const std::string& sha256,
                                               const module::ModuleFile& read) const {
    return module::checkTrust(file, read.bytes, sha256, policy_.trust, read.signature);
}

Result<ExtPipeline::Tried> ExtPipeline::check(const fs::path& file, const std::string& sha256,
                                              const module::ModuleFile& read, const Admit& admit) const {
    std::error_code unknown;  // of bytes that came by call there is no file yet: the directory must do
    const bool there = fs::exists(file, unknown);
    if (auto bad = module::checkPath(policy_.directory, there ? file : policy_.directory)) return std::move(*bad);
    if (const auto hangs = loads_->hangsFor(sha256)) {
        return Refusal{RefusalCode::CreateTimeout, kLoading, "hanging since " + std::to_string(hangs->count()) +
                       " s, with the same bytes", {}, "replace the file, or restart the gateway"};
    }
    auto facts = module::checkModule(read.bytes, read.manifest, policy_.check);
    if (!facts.ok()) return std::move(facts).error();
    auto admission = admit(file, read.manifest, sha256);
    if (!admission.ok()) return std::move(admission).error();
    auto staged = staging_.write(read.manifest.id, read.bytes);
    if (!staged.ok()) return std::move(staged).error();
    module::ProbeInput input;
    input.program = policy_.probe;
    input.stagedFile = *staged;
    input.file = file;
    input.dataJson = admission->data;
    input.balancers = admission->balancers;
    input.deadline = policy_.probeTimeout;
    input.stop = stop_.get_token();
    auto report = module::probeModule(input);
    if (!report.ok()) {
        std::error_code ignored;
        fs::remove(*staged, ignored);
        return std::move(report).error();
    }
    return Tried{std::move(facts).value(), std::move(report).value(), std::move(staged).value()};
}

Result<module::ProbeReport> ExtPipeline::tryOut(const fs::path& file, const std::string& sha256,
                                                const module::ModuleFile& read, const Admit& admit) const {
    if (auto bad = checkTrust(file, sha256, read)) return std::move(*bad);
    auto tried = check(file, sha256, read, admit);
    if (!tried.ok()) return std::move(tried).error();
    std::error_code ignored;
    fs::remove(tried->staged, ignored);
    return std::move(tried->report);
}

Result<PreparedModule> ExtPipeline::prepare(const fs::path& file, const std::string& sha256,
                                            const module::ModuleFile& read, const Admit& admit) const {
    if (auto bad = checkTrust(file, sha256, read)) return std::move(*bad);
    return prepareAgain(file, sha256, read, admit);
}

Result<PreparedModule> ExtPipeline::prepareAgain(const fs::path& file, const std::string& sha256,
                                                 const module::ModuleFile& read, const Admit& admit) const {
    auto tried = check(file, sha256, read, admit);
    if (!tried.ok()) return std::move(tried).error();
    PreparedModule made;
    made.file = file;
    made.sha256 = sha256;
    made.manifest = read.manifest;
    made.facts = std::move(tried->facts);
    // What would stay mapped, or has threads that run its code, must not be unloaded under them.
    if (!tried->report.unloads && made.facts.residentReason.empty()) {
        made.facts.unload = module::Unload::Resident;
        made.facts.residentReason = tried->report.stays;
    }
    made.kept = std::move(tried->staged);  // the probe's copy: what is mapped is another one
    const fs::path kept = made.kept;
    auto loaded = load(std::move(made), read);
    std::error_code ignored;
    if (!loaded.ok()) fs::remove(kept, ignored);
    return loaded;
}

// On a thread of its own: what hangs there despite the trial hangs nobody else.
Result<PreparedModule> ExtPipeline::load(PreparedModule made, const module::ModuleFile& read) const {
    std::promise<Result<PreparedModule>> promise;
    auto result = promise.get_future();
    const auto loads = loads_;
    const std::string hash = made.sha256;
    const RunningLoads::Id id = loads->begin(manage::describe(made.manifest, made.file, hash));
    ledger_.begin(hash, made.file);
    std::thread([this, loads, id, hash, promise = std::move(promise), made = std::move(made), read]() mutable {
        deliver(loadAndCreate(std::move(made), read), ledger_, hash, std::move(promise));
        loads->end(id);  // from here on nothing of this gateway is touched
    }).detach();
    if (waitFor(result) || !loads->giveUp(id)) return result.get();
    if (isStopping()) {
        ledger_.served(hash);  // the stop ended the load, not the module: the next start is to try it
        return Refusal{RefusalCode::LoadFailed, kLoading, "given up: the gateway stops", {}, {}};
    }
    return Refusal{RefusalCode::CreateTimeout, kLoading, "not done after " +
                   std::to_string(policy_.createTimeout.count()) + " ms; its thread goes on until the process ends", {},
                   "the trial run passed: look for what it does only when it is not probing"};
}

Result<PreparedModule> ExtPipeline::loadAndCreate(PreparedModule made, const module::ModuleFile& read) const {
    auto loaded = module::LoadedModule::load(made.file, read, made.facts, staging_);
    if (!loaded.ok()) return std::move(loaded).error();
    made.module = announceEnd(std::move(loaded).value());
    return create(std::move(made), host_);
}

bool ExtPipeline::waitFor(const std::future<Result<PreparedModule>>& loaded) const {
    const auto end = std::chrono::steady_clock::now() + policy_.createTimeout;
    while (!isStopping() && std::chrono::steady_clock::now() < end)
        if (loaded.wait_for(kLookForStop) == std::future_status::ready) return true;
    return false;
}

}  // namespace weir::gateway
