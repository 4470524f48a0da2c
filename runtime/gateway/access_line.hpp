#pragma once

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <string_view>

#include "chain/exchange.hpp"
#include "config/settings.hpp"

namespace weir::gateway {

// What the access log tells of one request. Texts may hold any bytes, are views that the line needs no longer than it
// is written, and empty when not known.
struct AccessRecord {
    std::string_view client;   // address
    std::int64_t beganMs = 0;  // since 1970; 0: now, less the duration
    std::string_view method;   // empty: no whole head came
    std::string_view target;   // as received
    int version = 11;
    int status = 0;  // 0: the client went before a response began; logged as 499, as nginx does
    std::uint64_t bodyBytes = 0;  // of the response's body, as far as it was written
    std::string_view referer;
    std::string_view userAgent;
    std::uint64_t durationUs = 0;
    std::string_view upstream;  // host:port of the last call
    std::uint64_t upstreamUs = 0;
    std::string_view requestId;
    std::string_view traceId;
    std::string_view selector;
    std::string_view rule;
    bool aborted = false;
};

// What the exchange knows: all but beganMs, bodyBytes, durationUs, upstream, upstreamUs, selector, rule and aborted.
// Before the exchange is finished or cancelled; the status is that of a response that has been committed. Referer and
// user agent are the client's, whatever plugins changed.
AccessRecord accessRecord(const chain::Exchange& exchange);

// Writes records as lines. One thread.
//
// Combined is what nginx and Apache write, local time, 0 for no bytes. Control bytes, quotes, backslashes and bytes
// from 0x7f on are written as \xHH: no request can look like two lines or like other fields.
//
// JSON is one object a line, of these keys; texts that are empty and upstreamUs without an upstream are left out:
//   time (UTC, RFC 3339 with milliseconds, when the request began), client, method, target, protocol, status, bytes,
//   referer, userAgent, durationUs, upstream, upstreamUs, requestId, traceId, selector, rule, ended ("ok", "aborted")
// It is UTF-8 whatever came: a byte that is not is written as \xHH in the text. Control characters, also those above
// U+007F, and U+2028 and U+2029 are escaped: they are ends of lines or commands to some readers.
//
// Texts are cut, and then end in "...": target after 2048 bytes, referer 1024, user agent 512, upstream 256, the others
// 128.
class AccessLine {
public:
    explicit AccessLine(config::AccessLogFormat format) : json_(format == config::AccessLogFormat::Json) {}

    // Bytes that write() needs at most; never above kMaxBytes.
    static std::size_t bound(const AccessRecord& record);
    static constexpr std::size_t kMaxBytes = 32768;
    // Writes the line with its end and returns what is behind it.
    char* write(char* to, const AccessRecord& record);

private:
    char* writeCombined(char* to, const AccessRecord& record) const;
    char* writeJson(char* to, const AccessRecord& record) const;
    void formatTime(std::time_t second);

    const bool json_;
    std::time_t second_ = -1;  // that time_ is the text of
    char time_[32];
    std::size_t timeLength_ = 0;
};

}  // namespace weir::gateway
