#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace weir::config {

// A text that must not reach a log: it has no operator<< and reveal() is easy to grep for.
class Secret {
public:
    Secret() = default;
    explicit Secret(std::string text) : text_(std::move(text)) {}

    bool empty() const { return text_.empty(); }
    const std::string& reveal() const { return text_; }
    bool operator==(const Secret&) const = default;

private:
    std::string text_;
};

// The name of a header that the gateway writes; empty: none is written.
struct HeaderName {
    std::string text;
    bool operator==(const HeaderName&) const = default;
};

// An RFC 9110 token, or nothing.
struct Token {
    std::string text;
    bool operator==(const Token&) const = default;
};
// A path for a request of the gateway's own, with a query if there is one; empty: no request is made.
struct RequestPath {
    std::string text;
    bool operator==(const RequestPath&) const = default;
};
using TokenList = std::vector<std::string>;
// Each relative to the file that named it, as single paths are.
using PathList = std::vector<std::filesystem::path>;

// An extension that serves a core module's key instead of it.
struct Replacement {
    std::string interface, key, module;
    bool operator==(const Replacement&) const = default;
};
using ReplaceList = std::vector<Replacement>;

enum class AccessLogFormat { Off, Combined, Json };
enum class ErrorStatus { Weir, Shenyu };
// Among selectors (or rules) that match: the one with the most conditions, or the one with the lowest sort.
enum class MatchChoice { Best, First };
enum class LogLevel { Error, Warning, Info, Debug };
// What becomes of spellings that name the same path for some servers and another for others.
enum class DotSegments { Resolve, Reject, Keep };
enum class DoubleSlashes { Keep, Merge, Reject };
enum class EncodedSlashes { Keep, Decode, Reject };
enum class Traceparent { Start, Pass };

// What stands under `weir:`, with its defaults; names are those of the file. A plain number for a time means
// milliseconds, in extPlugin's schedule seconds as in ShenYu; `500ms`, `30s`, `5m` and `1h` say it themselves. Paths
// are absolute or relative to the file that named them (already joined), to the working directory for command line and
// environment.
// Plain data: copy it where it is needed.
struct Settings {
    struct Server {
        std::string address = "127.0.0.1";
        int port = 9195;  // 0: the system chooses
        int threads = 0;  // event loops; 0 (`auto` in the file): one per core
        std::chrono::milliseconds headerTimeout{60000};     // from the first byte of a request to the end of its head
        std::chrono::milliseconds bodyTimeout{60000};       // without a byte of the request body
        std::chrono::milliseconds keepAliveTimeout{60000};  // between two requests of a connection
        std::chrono::milliseconds tunnelTimeout{3600000};   // after an upgrade: without a byte either way
        std::size_t minRate = 240;                          // bytes a second of a client that is waited for; 0: any
        bool halfClose = true;                              // a client that closed its sending side gets its answer
        std::chrono::milliseconds drainTimeout{30000};      // from SIGTERM to the end of what still runs
        std::size_t maxConnections = 20000;                 // of all loops together
        std::size_t maxRequests = 0;                        // running ones, of all loops together; 0: no limit
        std::size_t maxRequestHeaderBytes = 16384;          // request line and fields
        std::size_t maxRequestBodyBytes = 0;                // decoded; 0: no limit
        TokenList methods;                                  // that are served; empty: all but CONNECT and TRACE
        DotSegments dotSegments = DotSegments::Resolve;     // "." and ".." in the path
        DoubleSlashes doubleSlashes = DoubleSlashes::Keep;
        EncodedSlashes encodedSlashes = EncodedSlashes::Keep;  // "%2f" and "%5c"
        Token via;                                          // the gateway's name in Via; empty: none is added
        bool forwarded = false;                             // Forwarded (RFC 7239) for the upstream
        HeaderName requestIdHeader{"X-Request-Id"};         // carries a request's id to upstream and client
        bool trustRequestId = false;                        // a client's own id is taken over
        Traceparent traceparent = Traceparent::Start;       // Start: each request has a valid one; Pass: as it came
    } server;

    struct Management {
        std::string address = "127.0.0.1";
        int port = 9196;
        Secret token;  // empty: calls that change anything are refused
    } management;

    struct Local {
        Secret sha512Key;  // SHA-512 in hex of the `localKey` that opens /shenyu/**; empty: closed
    } local;

    struct ExtPlugin {
        std::filesystem::path path;  // empty: the drop directory that belongs to the program
        bool enabled = true;
        int threads = 1;
        std::chrono::milliseconds scheduleTime{300000};
        std::chrono::milliseconds scheduleDelay{30000};
        std::chrono::milliseconds settle{500};  // `settleMs`: a file that stayed as it was so long is taken as whole
        std::chrono::milliseconds probeTimeout{10000};   // of a module's trial run in a process of its own
        std::chrono::milliseconds createTimeout{10000};  // of loading a module and creating its plugins here
        std::filesystem::path staging;  // where modules are copied to before they are mapped; empty: chosen at start
        std::filesystem::path ledger;   // of the modules being loaded; empty: `.weir-ledger` in the drop directory
        TokenList required;             // ids of modules without which the gateway is not ready
        ReplaceList replace;            // core keys that an extension may have
        std::size_t residentLimit = 8;  // dead generations of a module that may stay in memory
        std::size_t rollbackErrors = 10;  // of a new generation's own, within the time below; 0: never
        std::chrono::milliseconds rollbackWindow{60000};
        TokenList libraries;            // that modules may need beside the C and C++ runtimes, as in DT_NEEDED
        bool upload = false;            // whether calls may bring modules (`pluginJar`)
        // With none of them every module is trusted; else it must be listed, or signed with one of the keys.
        struct Trust {
            TokenList sha256;  // of module files, in hex
            PathList keys;     // PEM files of Ed25519 public keys
        } trust;
    } extPlugin;

    struct Modules {
        std::filesystem::path path;  // of the core modules; empty: the directory that belongs to the program
        std::filesystem::path spi;   // of the SPI index files; empty: `spi` inside `path`
    } modules;

    struct Data {
        std::filesystem::path snapshot;  // keeps what calls changed over a restart; empty: nothing is kept
        bool watch = true;               // changed files are taken by themselves; false: on SIGHUP only
    } data;

    struct Upstream {
        std::chrono::milliseconds connectTimeout{3000};
        std::chrono::milliseconds keepAliveTimeout{60000};  // an idle connection is closed after this
        std::size_t maxIdle = 256;                          // idle connections each loop keeps
        std::chrono::milliseconds bodyTimeout{60000};       // without a byte of the response body
        std::size_t replayBodyBytes = 65536;                // of a request that may be repeated, kept to send it again
        struct Ejection {
            std::size_t failures = 5;                // in a row, without a response head; 0: never
            std::chrono::milliseconds base{10000};   // rest after the first ejection, the n-th time n times as long
            std::chrono::milliseconds max{300000};   // no rest is longer
        } ejection;
        struct RetryBudget {
            std::size_t percent = 20;       // of the calls in flight may be repeated ones
            std::size_t minConcurrent = 3;  // but at least so many
        } retryBudget;
        std::chrono::milliseconds resolveInterval{30000};   // from one lookup of a name to the next
    } upstream;

    // ShenYu's upstreamCheck: whether upstreams are tried apart from requests.
    struct UpstreamCheck {
        bool enabled = false;
        std::chrono::milliseconds interval{5000};  // from the end of one try to the next
        std::chrono::milliseconds timeout{3000};   // of one try
        std::size_t healthyThreshold = 1;          // tries in a row that make an unhealthy upstream usable
        std::size_t unhealthyThreshold = 1;        // failures in a row that take a healthy one out
        std::size_t poolSize = 10;                 // tries at one time
        RequestPath path;                          // a GET of it must answer 2xx or 3xx; empty: a TCP connect is all
        bool printEnabled = false;                 // a line in the log now and then
        std::chrono::milliseconds printInterval{60000};
    } upstreamCheck;

    struct Compat {
        ErrorStatus errorStatus = ErrorStatus::Weir;  // HTTP status of error replies
        MatchChoice match = MatchChoice::Best;        // First: as ShenYu 2.4
    } compat;

    struct Log {
        LogLevel level = LogLevel::Info;
        std::filesystem::path file;  // empty: standard error
    } log;

    struct AccessLog {
        AccessLogFormat format = AccessLogFormat::Off;
        std::filesystem::path file;  // empty: standard output
    } accessLog;
};

}  // namespace weir::config
