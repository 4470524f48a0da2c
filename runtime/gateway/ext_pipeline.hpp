#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "gateway/data_handler.hpp"
#include "gateway/match_part.hpp"
#include "gateway/plugin_instance.hpp"
#include "gateway/running_loads.hpp"
#include "module/load_ledger.hpp"
#include "module/loaded_module.hpp"
#include "module/module_check.hpp"
#include "module/module_file.hpp"
#include "module/module_trust.hpp"
#include "module/probe_client.hpp"
#include "module/refusal.hpp"
#include "module/staging_directory.hpp"
#include "weir/abi.h"

namespace weir::gateway {

// What the control thread says to a module that wants in: the data its plugins would get, or why it may not come.
struct Admission {
    std::string data;                    // probe_client.hpp says how
    std::vector<std::string> balancers;  // that data may name
};
using Admit = std::function<base::Result<Admission, module::Refusal>(
    const std::filesystem::path& file, const module::Manifest& manifest, const std::string& sha256)>;

// A generation that could serve: checked, tried out, loaded, its plugins created.
struct PreparedModule {
    std::filesystem::path file;
    std::string sha256;
    module::Manifest manifest;
    module::ModuleFacts facts;
    std::shared_ptr<module::LoadedModule> module;
    std::vector<std::shared_ptr<PluginInstance>> plugins;
    std::vector<std::shared_ptr<DataHandler>> handlers;
    std::vector<MatchPart> matching;
    std::filesystem::path kept;  // its bytes, for a roll-back
};

// The way of a module's bytes from a file to a generation, each step before the next: who signed it, who may write
// there, what the bytes are, whether it may come, a private copy, a trial in a process of its own, loading and creating
// with a deadline. What fails leaves nothing behind. No code of the module runs here before the trial was passed.
// Any thread, several at one time; not the control thread, which it asks.
class ExtPipeline {
public:
    struct Policy {
        std::filesystem::path directory;
        module::TrustPolicy trust;
        module::CheckPolicy check;
        std::filesystem::path probe;
        std::chrono::milliseconds probeTimeout;
        std::chrono::milliseconds createTimeout;
    };

    ExtPipeline(Policy policy, module::StagingDirectory& staging, module::LoadLedger& ledger, const weir_host& host)
        : policy_(std::move(policy)), staging_(staging), ledger_(ledger), host_(host) {}

    base::Result<PreparedModule, module::Refusal> prepare(const std::filesystem::path& file, const std::string& sha256,
                                                          const module::ModuleFile& read, const Admit& admit) const;
    // The same for bytes that were prepared before: who signed them was asked then, and their signature may be gone.
    base::Result<PreparedModule, module::Refusal> prepareAgain(const std::filesystem::path& file,
                                                               const std::string& sha256,
                                                               const module::ModuleFile& read,
                                                               const Admit& admit) const;
    // All of it but loading: what prepare() would say now.
    base::Result<module::ProbeReport, module::Refusal> tryOut(const std::filesystem::path& file,
                                                              const std::string& sha256,
                                                              const module::ModuleFile& read,
                                                              const Admit& admit) const;

    // Loads that did not come back within their deadline and still have not: they hold what this class was given.
    std::vector<manage::ModuleStatus> hanging() const { return loads_->hanging(); }
    // From now on nothing is waited for: trials are ended, loads given up.
    void stop() { stop_.request_stop(); }
    bool isStopping() const { return stop_.stop_requested(); }

private:
    struct Tried {
        module::ModuleFacts facts;
        module::ProbeReport report;
        std::filesystem::path staged;
    };

    std::optional<module::Refusal> checkTrust(const std::filesystem::path& file, const std::string& sha256,
                                              const module::ModuleFile& read) const;
    base::Result<Tried, module::Refusal> check(const std::filesystem::path& file, const std::string& sha256,
                                               const module::ModuleFile& read, const Admit& admit) const;
    base::Result<PreparedModule, module::Refusal> load(PreparedModule made, const module::ModuleFile& read) const;
    base::Result<PreparedModule, module::Refusal> loadAndCreate(PreparedModule made,
                                                                const module::ModuleFile& read) const;
    bool waitFor(const std::future<base::Result<PreparedModule, module::Refusal>>& loaded) const;

    const Policy policy_;
    module::StagingDirectory& staging_;
    module::LoadLedger& ledger_;
    const weir_host& host_;
    std::stop_source stop_;
    const std::shared_ptr<RunningLoads> loads_ = std::make_shared<RunningLoads>();
};

}  // namespace weir::gateway
