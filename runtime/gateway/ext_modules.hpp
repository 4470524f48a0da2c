#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gateway/ext_pipeline.hpp"
#include "manage/status_source.hpp"
#include "module/load_ledger.hpp"

namespace weir::gateway {

// What a look at the ext directory, or a call, has brought.
struct FoundModules {
    struct Bad {
        std::filesystem::path file;
        manage::ModuleStatus status;  // what is known of it
        module::Refusal refusal;
    };

    std::vector<PreparedModule> prepared;
    std::vector<std::filesystem::path> gone;
    std::vector<Bad> bad;
    std::set<std::filesystem::path> present;  // all module files; meaningless with an alarm
    std::string alarm;                        // the directory is not to be trusted: nothing is gone
};

// The extension modules that there are: the generation of each file that serves, what it could be rolled back to, why
// others do not, and what drains. Control thread.
class ExtModules {
public:
    struct Limits {
        std::size_t resident = 8;            // dead generations of one module that may stay mapped
        std::uint64_t rollbackErrors = 10;   // of a new generation's own, within the time below; 0: never
        std::chrono::milliseconds rollbackWindow{60000};
    };
    // What the generations that serve give to the chain.
    struct Parts {
        std::vector<std::shared_ptr<PluginInstance>> plugins;
        std::vector<MatchPart> matching;
    };
    // Whether the chain can be built with these; the error is why not.
    using Try = std::function<base::Result<void>(const Parts& parts)>;

    ExtModules(Limits limits, module::LoadLedger& ledger) : limits_(limits), ledger_(ledger) {}
    ~ExtModules();

    // What core modules serve; no extension may, but `unless` (a module's id).
    void reserve(const std::string& interface, const std::string& key, const std::string& module,
                 const std::string& unless);

    // Whether a module may come, before anything of it runs. rollingBack: its bytes served before.
    std::optional<module::Refusal> admit(const std::filesystem::path& file, const module::Manifest& manifest,
                                         const std::string& sha256, bool rollingBack) const;
    // Whether the file's generation has these bytes already: it serves on, whatever was there meanwhile.
    bool serves(const std::filesystem::path& file, const std::string& sha256);
    // Takes what was found. A module that `accept` does not take leaves everything as it was. true: parts() or
    // handlers() are others now.
    bool apply(FoundModules found, const Try& accept);

    // ---- calls; the error says what is missing ----
    // Takes a module out until enable(), whatever its file does. Both answer whether parts() changed.
    base::Result<bool> disable(const std::string& id);
    // Its file, to be looked at again.
    base::Result<std::filesystem::path> enable(const std::string& id);
    // Forgets why these bytes were set aside. Its file, to be looked at again.
    base::Result<std::filesystem::path> clear(const std::string& id);
    base::Result<std::filesystem::path> fileOf(const std::string& id) const;
    // What served before, to be prepared again; with the hash that is set aside when that serves.
    struct Backward {
        std::filesystem::path file;
        std::string sha256;  // of the one to go back to
        std::filesystem::path kept;
    };
    base::Result<Backward> backward(const std::string& id) const;
    // Puts `prepared`, of the bytes of backward(), in place of what serves, which is set aside with the reason. When it
    // does not take the data in force, nothing changes.
    base::Result<void, module::Refusal> rollBack(PreparedModule prepared, const std::string& reason,
                                                 const Try& accept);
    // What serves could not be rolled back, for which there was the reason: it serves on, and shows so.
    void refuseRollBack(const std::string& id, const std::string& reason, const module::Refusal& refusal);
    // Takes a failing module out that has nothing to go back to.
    base::Result<void> withdraw(const std::string& id, const std::string& reason);

    // Modules whose own errors have passed the limit since they came, each told once.
    std::vector<std::string> failing();
    // When a module has served long enough not to be suspected at the next start.
    void confirm();

    // Of the generations that serve now.
    const Parts& parts() const { return parts_; }
    std::vector<std::shared_ptr<DataHandler>> handlers() const;
    // Core plugins whose key an extension serves.
    std::set<std::string> replacedKeys() const;

    // A generation that was replaced or removed. It drains until nothing refers to the module: its requests are over.
    struct Draining {
        manage::ModuleStatus status;
        std::weak_ptr<const module::LoadedModule> module;  // any thread may ask whether it expired, none may lock it
    };
    // What serves, is refused or disabled; what drains.
    std::vector<manage::ModuleStatus> modules() const;
    const std::vector<Draining>& draining();
    // What happened to each module, by id, the last of it.
    const std::map<std::string, std::deque<manage::ModuleEvent>>& history() const { return history_; }
    // The version of the snapshot in force.
    void setSnapshot(std::uint64_t version) { snapshot_ = version; }

private:
    struct Generation {
        manage::ModuleStatus status;
        std::vector<std::shared_ptr<PluginInstance>> plugins;
        std::vector<std::shared_ptr<DataHandler>> handlers;
        std::vector<MatchPart> matching;
        std::weak_ptr<const module::LoadedModule> module;
        std::filesystem::path kept;
        bool resident = false;  // its code stays mapped when it is over
        bool confirmed = false;
        bool told = false;      // as failing
        std::uint64_t failures() const;
    };
    struct Previous {
        std::string sha256;
        std::filesystem::path kept;
    };
    using Generations = std::map<std::filesystem::path, Generation>;

    const Generation* serving(const std::string& id) const;
    static Parts partsOf(const Generations& generations);
    static Generation generationOf(PreparedModule prepared);
    void takeGone(const std::filesystem::path& file, bool& changed);
    bool take(PreparedModule prepared, const Try& accept);
    base::Result<void> put(PreparedModule& prepared, const Try& accept, std::string_view event);
    void refuse(const std::filesystem::path& file, manage::ModuleStatus status, const module::Refusal& refusal);
    void drain(const std::filesystem::path& file, bool forget);
    void note(const manage::ModuleStatus& status, std::string_view what, std::string detail = {});

    const Limits limits_;
    module::LoadLedger& ledger_;
    struct Reserved {
        std::string module;
        std::string unless;
    };
    std::map<std::pair<std::string, std::string>, Reserved> reserved_;  // (interface, key)
    std::set<std::string> coreIds_;
    Generations serving_;
    std::map<std::filesystem::path, Previous> previous_;
    std::map<std::filesystem::path, manage::ModuleStatus> out_;  // refused or disabled
    std::map<std::string, std::filesystem::path> disabled_;      // by id
    std::vector<Draining> draining_;
    std::map<std::string, std::uint64_t> generations_;  // module id -> the last one's number
    std::map<std::string, std::size_t> resident_;       // module id -> its generations that stay mapped
    std::map<std::string, std::deque<manage::ModuleEvent>> history_;
    std::uint64_t snapshot_ = 0;
    std::string alarm_;  // said once while it lasts
    Parts parts_;
};

}  // namespace weir::gateway
