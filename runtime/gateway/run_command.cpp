#include <signal.h>
#include <sys/resource.h>
#include <sysexits.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <string>

#include <Poco/Util/ServerApplication.h>

#include "base/log.hpp"
#include "data/configuration.hpp"
#include "gateway/access_log.hpp"
#include "gateway/commands.hpp"
#include "gateway/gateway.hpp"
#include "gateway/log_output.hpp"
#include "gateway/signals.hpp"
#include "manage/management_server.hpp"

namespace weir::gateway {

namespace {

// Poco's applications catch crashes to turn them into exceptions, which they are not: a core dump and the sanitizers'
// reports would be lost. Puts back what was there.
class CrashSignals {
public:
    CrashSignals() {
        for (std::size_t i = 0; i < kNumbers.size(); ++i) sigaction(kNumbers[i], nullptr, &before_[i]);
    }
    void restore() const {
        for (std::size_t i = 0; i < kNumbers.size(); ++i) sigaction(kNumbers[i], &before_[i], nullptr);
    }

private:
    static constexpr std::array kNumbers = {SIGILL, SIGBUS, SIGSEGV, SIGSYS};
    std::array<struct sigaction, kNumbers.size()> before_;
};

// What the management port tells, taken from the gateway.
class GatewayStatus final : public manage::StatusSource {
public:
    explicit GatewayStatus(const Gateway& gateway) : gateway_(gateway) {}

    manage::ServingState state() const override {
        switch (gateway_.state()) {
            case Gateway::State::Starting: return manage::ServingState::Starting;
            case Gateway::State::Up: return manage::ServingState::Up;
            case Gateway::State::Draining: return manage::ServingState::Draining;
        }
        return manage::ServingState::Starting;
    }
    std::string serverAddress() const override { return gateway_.settings().server.address; }
    std::uint16_t serverPort() const override { return gateway_.port(); }
    std::vector<manage::ModuleStatus> modules() const override { return gateway_.modules(); }
    std::vector<std::string> missingModules() const override { return gateway_.missingModules(); }
    std::vector<manage::Holder> holders() const override { return gateway_.holders(); }
    manage::Traffic traffic() const override { return gateway_.traffic(); }

private:
    const Gateway& gateway_;
};

// A connection may need two descriptors: the client's and the upstream's.
void raiseFileLimit(std::size_t maxConnections) {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0) getrlimit(RLIMIT_NOFILE, &limit);
    const std::size_t wanted = 2 * maxConnections;
    if (limit.rlim_cur >= wanted) return;
    base::logWarning("at most " + std::to_string(limit.rlim_cur) + " files can be open, server.maxConnections: " +
                     std::to_string(maxConnections) + " may need " + std::to_string(wanted) +
                     "; raise the limit (ulimit -Hn, LimitNOFILE) or lower the setting");
}

class RunApplication final : public Poco::Util::ServerApplication {
public:
    RunApplication(const Arguments& arguments, const Signals& signals) : arguments_(arguments), signals_(signals) {}

    const std::string& problem() const { return problem_; }

private:
    int main(const std::vector<std::string>&) override {
        data::SourceFiles read;
        auto configuration = load(read);
        if (!configuration) return refuse(EX_CONFIG, configuration.error());
        auto log = LogOutput::open(configuration->settings.log);
        if (!log) return refuse(EX_CONFIG, log.error());
        logsToFile_ = !configuration->settings.log.file.empty();
        auto accessLog = AccessLog::open(configuration->settings.accessLog);
        if (!accessLog) return refuse(EX_CONFIG, accessLog.error());
        accessLog_ = std::move(*accessLog);
        const int exitCode = serve(std::move(*configuration), std::move(read), **log);
        accessLog_.reset();  // what it could not write is a line in the log
        return exitCode;
    }

    base::Result<data::Configuration> load(data::SourceFiles& read) const {
        return data::loadConfiguration(arguments_.file, arguments_.overrides, config::readEnvironment(environ), &read);
    }

    int serve(data::Configuration configuration, data::SourceFiles read, LogOutput& log) {
        raiseFileLimit(configuration.settings.server.maxConnections);
        auto prepared = Gateway::prepare(std::move(configuration));
        if (!prepared) return refuse(EX_CONFIG, prepared.error());
        Gateway& gateway = **prepared;
        gateway.reloadBy([this](data::SourceFiles& files) { return load(files); }, std::move(read));
        for (const std::string& warning : gateway.takeWarnings()) base::logWarning(warning);

        const GatewayStatus status(gateway);
        const config::Settings& settings = gateway.settings();
        manage::ManagementServer management(
            settings.management, status, {&gateway, &gateway, settings.extPlugin.upload, &gateway, &gateway},
            settings.local.sha512Key);
        if (auto started = management.start(); !started) return refuseAddress(started.error());
        base::logInfo("management on " + management.address());
        if (auto started = gateway.start(accessLog_.get()); !started) return refuseAddress(started.error());
        waitForEnd(gateway, log);
        drain(gateway, log);
        if (gateway.hasHungLoad()) endAtOnce(log);
        return EX_OK;
    }

    void waitForEnd(Gateway& gateway, LogOutput& log) {
        for (;;) {
            const int number = signals_.wait();
            if (Signals::ends(number)) return;
            if (number == SIGHUP) gateway.reload();
            else handleOther(number, log);
        }
    }

    void handleOther(int number, LogOutput& log) {
        if (number == SIGHUP) return;  // it drains: nothing to take a change for
        log.reopen();
        if (accessLog_) accessLog_->reopen();
        base::logInfo("SIGUSR1: the logs are opened again");
    }

    void drain(Gateway& gateway, LogOutput& log) {
        const SignalThread impatient(signals_, [this, &log](int number) {
            if (!Signals::ends(number)) return handleOther(number, log);
            base::logWarning("a second signal: ending at once");
            log.flush();
            _exit(128 + number);
        });
        base::logInfo("draining; a second signal ends at once");
        gateway.stop();
        base::logInfo("stopped");
    }

    // Without taking the gateway apart, of which what hangs there uses parts.
    [[noreturn]] void endAtOnce(LogOutput& log) {
        base::logWarning("a module that was being loaded still hangs: ending at once");
        accessLog_.reset();  // the loops have ended, and handed their lines over
        log.flush();
        _exit(EX_OK);
    }

    // A text that is no address is a mistake in the settings, one that is taken is not.
    int refuseAddress(const base::Error& error) {
        return refuse(error.code == base::ErrorCode::InvalidConfig ? EX_CONFIG : EX_UNAVAILABLE, error);
    }

    // Said on standard error, where whoever starts a gateway looks, and in the log when that is elsewhere.
    int refuse(int exitCode, const base::Error& error) {
        problem_ = error.text();
        if (logsToFile_) base::logError(problem_);
        return exitCode;
    }

    const Arguments& arguments_;
    const Signals& signals_;
    bool logsToFile_ = false;
    std::unique_ptr<AccessLog> accessLog_;  // null: off
    std::string problem_;
};

}  // namespace

int runCommand(const Arguments& arguments) {
    const Signals signals;
    ::signal(SIGPIPE, SIG_IGN);  // a log that nobody reads any more
    const CrashSignals crashSignals;
    RunApplication application(arguments, signals);
    crashSignals.restore();
    // The name alone, and not our own arguments.
    std::string name = "weir";
    char* words[] = {name.data(), nullptr};
    const int exitCode = application.run(1, words);
    return application.problem().empty() ? exitCode : fail(exitCode, application.problem());
}

}  // namespace weir::gateway
