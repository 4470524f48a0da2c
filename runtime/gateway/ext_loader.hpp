#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "gateway/control_plane.hpp"
#include "gateway/ext_pipeline.hpp"
#include "module/ext_directory.hpp"

namespace weir::gateway {

// Brings modules from the ext directory, and what calls want of them, through the pipeline to the control plane. One
// thread, which may block for as long as copies settle and trials run: neither requests nor changes of data wait for
// it.
class ExtLoader {
public:
    // Runs a function on the control thread and returns when it is done.
    using OnControl = std::function<void(const std::function<void()>&)>;

    struct Settings {
        std::filesystem::path directory;
        std::chrono::milliseconds settle;
        int threads;  // modules tried out at one time
        ExtPipeline::Policy policy;
    };
    static base::Result<Settings> settingsFor(const config::Settings& settings, std::filesystem::path directory);
    ExtLoader(Settings settings, ControlPlane& plane, OnControl onControl);

    // One look at the ext directory, and what it brings goes into force. true: something is being written, look again
    // soon.
    bool scan();

    // ---- calls, by a module's id; each is done when it returns ----
    base::Result<void> reload(const std::string& id);
    base::Result<void> disable(const std::string& id);
    base::Result<void> enable(const std::string& id);
    base::Result<void> clear(const std::string& id);
    // An older generation that is refused now leaves everything as it is.
    base::Result<void> rollBack(const std::string& id, const std::string& reason);
    // What the pipeline would say to these bytes, without loading them.
    base::Result<module::ProbeReport, module::Refusal> validate(const std::string& bytes);
    // The same for a file, wherever it is.
    struct Checked {
        module::ModuleFile read;
        module::ProbeReport report;
    };
    base::Result<Checked, module::Refusal> check(const std::filesystem::path& file);
    // Checks the bytes, puts them, and the signature if one came along, into the directory as <id>.so and has them
    // serve; if they are refused, what was there before is there again. Answers the id.
    base::Result<std::string, module::Refusal> install(std::string bytes, std::optional<std::string> signature);

    // To be called every now and then: notes who has served long enough and what was failed, and rolls failing modules
    // back. One without anything to go back to is taken out.
    void mendFailing();

    const std::filesystem::path& directory() const { return directory_.path(); }
    // Loads that hang: a module's code runs in a thread that can not be ended. Any thread.
    std::vector<manage::ModuleStatus> hanging() const { return pipeline_.hanging(); }
    // What runs on the loader's thread comes to its end soon, and changes nothing more. Any thread.
    void stop() { pipeline_.stop(); }

private:
    Admit admit(bool rollingBack);
    void prepareAll(std::vector<module::ExtDirectory::Changed> changed, FoundModules& found);
    base::Result<void, module::Refusal> goBack(const ExtModules::Backward& to, const std::string& reason);
    base::Result<void> lookAgain(const base::Result<std::filesystem::path>& file);
    std::optional<module::Refusal> refusalOf(const std::filesystem::path& file) const;
    template <class F>
    auto onControl(F function) {
        std::optional<decltype(function())> result;
        run_([&] { result.emplace(function()); });
        return std::move(*result);
    }

    const int threads_;
    ControlPlane& plane_;
    const OnControl run_;
    module::ExtDirectory directory_;
    std::set<std::filesystem::path> forced_;
    ExtPipeline pipeline_;
};

}  // namespace weir::gateway
