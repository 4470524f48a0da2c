#include "config/settings_table.hpp"

#include <limits>

#include "config/settings_reader.hpp"

namespace weir::config {

namespace {

constexpr std::int64_t kSecond = 1000;
constexpr std::int64_t kDay = 86400 * kSecond;
constexpr std::int64_t kMany = 1000000;

using S = Settings;

constexpr Setting kSettings[] = {
    {"server.address", [](S& s) -> Target { return &s.server.address; }, "Address the gateway listens on."},
    {"server.port", [](S& s) -> Target { return &s.server.port; }, "Port of the gateway; 0: the system chooses.", 0,
     65535},
    {"server.threads", [](S& s) -> Target { return &s.server.threads; }, "Event loops; auto: one per core.", 0, 1024, 1,
     "auto"},
    {"server.headerTimeout", [](S& s) -> Target { return &s.server.headerTimeout; },
     "Time for a request's head, from its first byte.", 1, kDay},
    {"server.bodyTimeout", [](S& s) -> Target { return &s.server.bodyTimeout; },
     "Longest pause between bytes of a request body.", 1, kDay},
    {"server.keepAliveTimeout", [](S& s) -> Target { return &s.server.keepAliveTimeout; },
     "Longest pause between two requests of a connection.", 1, kDay},
    {"server.tunnelTimeout", [](S& s) -> Target { return &s.server.tunnelTimeout; },
     "Longest silence of both sides after an upgrade (WebSocket).", 1, kDay},
    {"server.minRate", [](S& s) -> Target { return &s.server.minRate; },
     "Bytes a second a client must send or take while it is waited for, after a grace of bodyTimeout; 0: any.", 0,
     kMany},
    {"server.halfClose", [](S& s) -> Target { return &s.server.halfClose; },
     "Whether a client that has closed its sending side gets its answer; if not, it counts as gone."},
    {"server.drainTimeout", [](S& s) -> Target { return &s.server.drainTimeout; },
     "Time for running requests to end after SIGTERM.", 0, kDay},
    {"server.maxConnections", [](S& s) -> Target { return &s.server.maxConnections; },
     "Client connections at one time.", 1, kMany},
    {"server.maxRequests", [](S& s) -> Target { return &s.server.maxRequests; },
     "Requests running at one time, shared evenly by the event loops; more are answered 503.", 0, kMany, 1, "none"},
    {"server.maxRequestHeaderBytes", [](S& s) -> Target { return &s.server.maxRequestHeaderBytes; },
     "Largest request head in bytes.", 1024, 16384},
    {"server.maxRequestBodyBytes", [](S& s) -> Target { return &s.server.maxRequestBodyBytes; },
     "Largest request body in bytes, chunked ones as they are decoded; more is 413.", 0,
     std::numeric_limits<std::int64_t>::max(), 1, "none"},
    {"server.methods", [](S& s) -> Target { return &s.server.methods; },
     "Methods that are served, others are 501; none: all but CONNECT and TRACE."},
    {"server.dotSegments", [](S& s) -> Target { return &s.server.dotSegments; },
     "What becomes of '.' and '..' in a path before it is matched and forwarded."},
    {"server.doubleSlashes", [](S& s) -> Target { return &s.server.doubleSlashes; },
     "What becomes of '//' in a path."},
    {"server.encodedSlashes", [](S& s) -> Target { return &s.server.encodedSlashes; },
     "What becomes of '%2f' and '%5c' in a path."},
    {"server.via", [](S& s) -> Target { return &s.server.via; },
     "The gateway's name in the Via header of requests and responses; none: no Via."},
    {"server.forwarded", [](S& s) -> Target { return &s.server.forwarded; },
     "Whether upstreams get Forwarded (RFC 7239) beside the X-Forwarded headers."},
    {"server.requestIdHeader", [](S& s) -> Target { return &s.server.requestIdHeader; },
     "Header with the request's id, for the upstream and the client."},
    {"server.trustRequestId", [](S& s) -> Target { return &s.server.trustRequestId; },
     "Whether a client's own id is taken over: 1 to 128 of the characters A-Z, a-z, 0-9, '.', '_' and '-'."},
    {"server.traceparent", [](S& s) -> Target { return &s.server.traceparent; },
     "W3C trace context: start one where there is no valid one, or leave the headers alone."},

    {"management.address", [](S& s) -> Target { return &s.management.address; }, "Address of the management port."},
    {"management.port", [](S& s) -> Target { return &s.management.port; },
     "Management port; 0: the system chooses.", 0, 65535},
    {"management.token", [](S& s) -> Target { return &s.management.token; },
     "Token for calls that change something; a file's or variable's content with .file or .env behind the name."},

    {"local.sha512Key", [](S& s) -> Target { return &s.local.sha512Key; },
     "SHA-512, in hex, of the localKey that opens /shenyu/** on the management port; .file and .env as above.",
     128, 128},

    {"extPlugin.path", [](S& s) -> Target { return &s.extPlugin.path; }, "Directory of extension modules."},
    {"extPlugin.enabled", [](S& s) -> Target { return &s.extPlugin.enabled; }, "Whether that directory is used."},
    {"extPlugin.threads", [](S& s) -> Target { return &s.extPlugin.threads; }, "Modules probed at one time.", 1, 64},
    {"extPlugin.scheduleTime", [](S& s) -> Target { return &s.extPlugin.scheduleTime; },
     "Time between two periodic scans.", kSecond, 365 * kDay, kSecond},
    {"extPlugin.scheduleDelay", [](S& s) -> Target { return &s.extPlugin.scheduleDelay; },
     "Time before the first periodic scan.", 0, 365 * kDay, kSecond},
    {"extPlugin.settleMs", [](S& s) -> Target { return &s.extPlugin.settle; },
     "How long a module file must stay as it is to be taken as whole.", 0, kDay},
    {"extPlugin.probeTimeout", [](S& s) -> Target { return &s.extPlugin.probeTimeout; },
     "Time for a module's trial run in a process of its own.", 100, kDay, kSecond},
    {"extPlugin.createTimeout", [](S& s) -> Target { return &s.extPlugin.createTimeout; },
     "Time for loading a module and creating its plugins.", 100, kDay, kSecond},
    {"extPlugin.staging", [](S& s) -> Target { return &s.extPlugin.staging; },
     "Directory for the private copies that are mapped; none: $XDG_RUNTIME_DIR, /tmp or /var/tmp."},
    {"extPlugin.ledger", [](S& s) -> Target { return &s.extPlugin.ledger; },
     "File that says which modules were being loaded when a gateway died; none: .weir-ledger in extPlugin.path."},
    {"extPlugin.libraries", [](S& s) -> Target { return &s.extPlugin.libraries; },
     "Shared libraries that modules may need beside the C and C++ runtimes, such as libz.so.1."},
    {"extPlugin.upload", [](S& s) -> Target { return &s.extPlugin.upload; },
     "Whether a call may bring a module in the field pluginJar of plugin data."},
    {"extPlugin.trust.sha256", [](S& s) -> Target { return &s.extPlugin.trust.sha256; },
     "SHA-256, in hex, of the module files that may be loaded."},
    {"extPlugin.trust.keys", [](S& s) -> Target { return &s.extPlugin.trust.keys; },
     "PEM files of Ed25519 public keys; a module is loaded when its .sig beside it is of one of them."},

    {"extPlugin.required", [](S& s) -> Target { return &s.extPlugin.required; },
     "Ids of modules without which the gateway is not ready."},
    {"extPlugin.replace", [](S& s) -> Target { return &s.extPlugin.replace; },
     "Keys of core modules that an extension may have instead."},
    {"extPlugin.residentLimit", [](S& s) -> Target { return &s.extPlugin.residentLimit; },
     "Replaced generations of a module that may stay in memory, where its code can not be unloaded.", 0, 1000},
    {"extPlugin.rollbackErrors", [](S& s) -> Target { return &s.extPlugin.rollbackErrors; },
     "Requests that a new generation may fail by its own errors before it is rolled back; 0: any number.", 0, kMany},
    {"extPlugin.rollbackWindow", [](S& s) -> Target { return &s.extPlugin.rollbackWindow; },
     "How long after it came they are counted.", 0, kDay},

    {"modules.path", [](S& s) -> Target { return &s.modules.path; }, "Directory of the core modules."},
    {"modules.spi", [](S& s) -> Target { return &s.modules.spi; }, "Directory of the SPI index files."},

    {"data.snapshot", [](S& s) -> Target { return &s.data.snapshot; },
     "File that keeps what calls changed over a restart; none: it is lost."},
    {"data.watch", [](S& s) -> Target { return &s.data.watch; },
     "Whether changed configuration files are taken by themselves, or on SIGHUP only."},

    {"upstream.connectTimeout", [](S& s) -> Target { return &s.upstream.connectTimeout; },
     "Time to connect to an upstream.", 1, kDay},
    {"upstream.keepAliveTimeout", [](S& s) -> Target { return &s.upstream.keepAliveTimeout; },
     "Longest time an upstream connection stays idle.", 1, kDay},
    {"upstream.maxIdle", [](S& s) -> Target { return &s.upstream.maxIdle; },
     "Idle upstream connections each event loop keeps.", 0, kMany},
    {"upstream.bodyTimeout", [](S& s) -> Target { return &s.upstream.bodyTimeout; },
     "Longest pause between bytes of a response body.", 1, kDay},
    {"upstream.replayBodyBytes", [](S& s) -> Target { return &s.upstream.replayBodyBytes; },
     "Largest request body that is kept while it is sent, for a repeat; only PUT, DELETE and the like need it.", 0,
     64 * kMany},
    {"upstream.ejection.failures", [](S& s) -> Target { return &s.upstream.ejection.failures; },
     "Calls of an upstream that fail in a row until it is left out for a while; 0: never.", 0, kMany},
    {"upstream.ejection.base", [](S& s) -> Target { return &s.upstream.ejection.base; },
     "How long it is left out the first time; the n-th time in a row n times as long.", 1, kDay},
    {"upstream.ejection.max", [](S& s) -> Target { return &s.upstream.ejection.max; },
     "The longest an upstream is left out at once.", 1, kDay},
    {"upstream.retryBudget.percent", [](S& s) -> Target { return &s.upstream.retryBudget.percent; },
     "Of the calls in flight to the upstreams of a selector, how many percent may be repeated ones.", 0, 100},
    {"upstream.retryBudget.minConcurrent", [](S& s) -> Target { return &s.upstream.retryBudget.minConcurrent; },
     "How many calls to them may be repeated at one time in any case.", 0, kMany},
    {"upstream.resolveInterval", [](S& s) -> Target { return &s.upstream.resolveInterval; },
     "Time between two lookups of an upstream's name; what it found last serves while it does not resolve.", 100, kDay},

    {"upstreamCheck.enabled", [](S& s) -> Target { return &s.upstreamCheck.enabled; },
     "Whether upstreams are tried, and those that fail get no requests until they answer again."},
    {"upstreamCheck.interval", [](S& s) -> Target { return &s.upstreamCheck.interval; },
     "Time from the end of one try of an upstream to the next.", 10, kDay},
    {"upstreamCheck.timeout", [](S& s) -> Target { return &s.upstreamCheck.timeout; }, "Time for one try.", 1, kDay},
    {"upstreamCheck.healthyThreshold", [](S& s) -> Target { return &s.upstreamCheck.healthyThreshold; },
     "Successes in a row after which an unhealthy upstream is used again.", 1, 1000},
    {"upstreamCheck.unhealthyThreshold", [](S& s) -> Target { return &s.upstreamCheck.unhealthyThreshold; },
     "Failures in a row after which a healthy upstream is not used any more.", 1, 1000},
    {"upstreamCheck.poolSize", [](S& s) -> Target { return &s.upstreamCheck.poolSize; },
     "Upstreams tried at one time.", 1, 10000},
    {"upstreamCheck.path", [](S& s) -> Target { return &s.upstreamCheck.path; },
     "A GET of this path must answer 2xx or 3xx; none: an upstream that takes a connection is healthy."},
    {"upstreamCheck.printEnabled", [](S& s) -> Target { return &s.upstreamCheck.printEnabled; },
     "Whether the log says now and then which upstreams are unhealthy."},
    {"upstreamCheck.printInterval", [](S& s) -> Target { return &s.upstreamCheck.printInterval; },
     "Time between two such lines.", 100, kDay},

    {"compat.errorStatus", [](S& s) -> Target { return &s.compat.errorStatus; },
     "HTTP status of error replies: the fitting one, or ShenYu's."},
    {"compat.match", [](S& s) -> Target { return &s.compat.match; },
     "Which of the selectors or rules that match is taken: the one with the most conditions, or as in ShenYu 2.4 the "
     "first by sort."},

    {"log.level", [](S& s) -> Target { return &s.log.level; }, "What is logged, with all that is graver."},
    {"log.file", [](S& s) -> Target { return &s.log.file; }, "Log file; none: standard error."},

    {"accessLog.format", [](S& s) -> Target { return &s.accessLog.format; }, "A line for each request, or none."},
    {"accessLog.file", [](S& s) -> Target { return &s.accessLog.file; }, "Access log; none: standard output."},
};

constexpr Named<AccessLogFormat> kAccessLogFormats[] = {
    {"combined", AccessLogFormat::Combined},
    {"json", AccessLogFormat::Json},
    {"off", AccessLogFormat::Off},
};

constexpr Named<LogLevel> kLevels[] = {
    {"error", LogLevel::Error},
    {"warning", LogLevel::Warning},
    {"info", LogLevel::Info},
    {"debug", LogLevel::Debug},
};

constexpr Named<ErrorStatus> kStatuses[] = {
    {"weir", ErrorStatus::Weir},
    {"shenyu", ErrorStatus::Shenyu},
};

constexpr Named<MatchChoice> kMatchChoices[] = {
    {"best", MatchChoice::Best},
    {"first", MatchChoice::First},
};

constexpr Named<Traceparent> kTraceparents[] = {
    {"start", Traceparent::Start},
    {"pass", Traceparent::Pass},
};

constexpr Named<DotSegments> kDotSegments[] = {
    {"resolve", DotSegments::Resolve},
    {"reject", DotSegments::Reject},
    {"keep", DotSegments::Keep},
};

constexpr Named<DoubleSlashes> kDoubleSlashes[] = {
    {"keep", DoubleSlashes::Keep},
    {"merge", DoubleSlashes::Merge},
    {"reject", DoubleSlashes::Reject},
};

constexpr Named<EncodedSlashes> kEncodedSlashes[] = {
    {"keep", EncodedSlashes::Keep},
    {"decode", EncodedSlashes::Decode},
    {"reject", EncodedSlashes::Reject},
};

template <class Enum>
std::string alternatives() {
    const std::span<const Named<Enum>> named = namesOf<Enum>();
    std::string text;
    for (std::size_t i = 0; i < named.size(); ++i) {
        if (i > 0) text += i + 1 == named.size() ? " or " : ", ";
        text += named[i].name;
    }
    return text;
}

// A setting's value as text for --help; "" for none.
struct ValueText {
    std::string operator()(const std::string* text) const { return *text; }
    std::string operator()(const bool* flag) const { return *flag ? "true" : "false"; }
    std::string operator()(const int* number) const { return std::to_string(*number); }
    std::string operator()(const std::size_t* number) const { return std::to_string(*number); }
    std::string operator()(const std::chrono::milliseconds* time) const { return durationText(*time); }
    std::string operator()(const std::filesystem::path* path) const { return path->string(); }
    std::string operator()(const Secret*) const { return ""; }
    std::string operator()(const HeaderName* name) const { return name->text; }
    std::string operator()(const Token* token) const { return token->text; }
    std::string operator()(const RequestPath* path) const { return path->text; }
    std::string operator()(const TokenList*) const { return ""; }
    std::string operator()(const ReplaceList*) const { return ""; }
    std::string operator()(const PathList*) const { return ""; }
    template <class Enum>
    std::string operator()(const Enum* value) const {
        for (const Named<Enum>& row : namesOf<Enum>()) {
            if (row.value == *value) return std::string(row.name);
        }
        return "";
    }
};

struct ExpectedText {
    const Setting& setting;

    std::string number() const {
        std::string range = "a number from " + std::to_string(setting.min) + " to " + std::to_string(setting.max);
        return setting.zeroWord.empty() ? range : std::string(setting.zeroWord) + " or " + range;
    }
    std::string operator()(const std::string*) const { return "a text"; }
    std::string operator()(const bool*) const { return "true or false (or yes, no, on, off)"; }
    std::string operator()(const int*) const { return number(); }
    std::string operator()(const std::size_t*) const { return number(); }
    std::string operator()(const std::chrono::milliseconds*) const {
        return "a time from " + durationText(std::chrono::milliseconds(setting.min)) + " to " +
               durationText(std::chrono::milliseconds(setting.max)) + " such as 30s or 500ms (a plain number is in " +
               (setting.plainUnit == kSecond ? "seconds)" : "milliseconds)");
    }
    std::string operator()(const std::filesystem::path*) const { return "a path"; }
    std::string operator()(const Secret*) const {
        const std::string text = setting.max > 0 ? std::to_string(setting.max) + " hex digits" : "a text";
        return text + ", or a map with either file or env";
    }
    std::string operator()(const HeaderName*) const {
        return "the name of a header that nothing else depends on, or nothing";
    }
    std::string operator()(const Token*) const { return "a token (RFC 9110 5.6.2), or nothing"; }
    std::string operator()(const ReplaceList*) const {
        return "a list of {interface: Plugin, key: KEY, module: ID}, or KEY=ID separated by commas";
    }
    std::string operator()(const RequestPath*) const {
        return "a path that begins with / and has no blanks, perhaps with a query, or nothing";
    }
    std::string operator()(const TokenList*) const { return "tokens (RFC 9110 5.6.2), as a list or separated by commas"; }
    std::string operator()(const PathList*) const { return "paths, as a list or one alone"; }
    template <class Enum>
    std::string operator()(const Enum*) const { return alternatives<Enum>(); }
};

bool sameValue(const Target& a, const Target& b) {
    const auto same = [&b]<class T>(T* value) { return *value == *std::get<T*>(b); };
    return std::visit(same, a);
}

}  // namespace

// Before their first use.
template <>
std::span<const Named<AccessLogFormat>> namesOf() { return kAccessLogFormats; }
template <>
std::span<const Named<DotSegments>> namesOf() { return kDotSegments; }
template <>
std::span<const Named<DoubleSlashes>> namesOf() { return kDoubleSlashes; }
template <>
std::span<const Named<EncodedSlashes>> namesOf() { return kEncodedSlashes; }
template <>
std::span<const Named<ErrorStatus>> namesOf() { return kStatuses; }
template <>
std::span<const Named<LogLevel>> namesOf() { return kLevels; }
template <>
std::span<const Named<MatchChoice>> namesOf() { return kMatchChoices; }
template <>
std::span<const Named<Traceparent>> namesOf() { return kTraceparents; }

bool Setting::isSecret() const {
    Settings settings;
    return std::holds_alternative<Secret*>(member(settings));
}

std::string Setting::expected() const {
    Settings settings;
    return std::visit(ExpectedText{*this}, member(settings));
}

std::string Setting::variable() const {
    std::string name = "WEIR_";
    for (char c : path) {
        if (c == '.') {
            name += '_';
        } else if (c >= 'A' && c <= 'Z') {
            name += '_';
            name += c;
        } else {
            name += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
        }
    }
    return name;
}

std::span<const Setting> settingsTable() { return kSettings; }

std::vector<std::string_view> changedSettings(Settings before, Settings after) {
    std::vector<std::string_view> changed;
    for (const Setting& setting : kSettings) {
        if (!sameValue(setting.member(before), setting.member(after))) changed.push_back(setting.path);
    }
    return changed;
}

std::string durationText(std::chrono::milliseconds time) {
    struct Unit { std::int64_t length; const char* name; };
    constexpr Unit units[] = {{3600000, "h"}, {60000, "m"}, {1000, "s"}, {1, "ms"}};
    for (const Unit& unit : units) {
        if (time.count() % unit.length == 0) return std::to_string(time.count() / unit.length) + unit.name;
    }
    return "";
}

std::string describeSettings() {
    std::string text;
    Settings defaults;
    for (const Setting& setting : kSettings) {
        std::string value = std::visit(ValueText{}, setting.member(defaults));
        if (!setting.zeroWord.empty() && value == "0") value = setting.zeroWord;
        text += "  --" + std::string(setting.path) + "=" + value + "  (" + setting.variable() + ")\n";
        text += "      " + std::string(setting.help) + " Takes " + setting.expected() + ".\n";
    }
    return text;
}

}  // namespace weir::config
