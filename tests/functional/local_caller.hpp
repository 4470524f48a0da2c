#pragma once

#include <string>
#include <vector>

#include "support/gateway_process.hpp"
#include "support/recording_upstream.hpp"

namespace weir::functional {

// The key of withLocalKey().
inline constexpr const char* kLocalKey = "open sesame";

// The same configuration, with `weir.local.sha512Key` for kLocalKey and other lines under `weir`.
std::string withLocalKey(std::string yaml, const std::string& more = "");

// A gateway whose divide waits for selectors by call; two event loops.
std::string onlyDivide(const std::string& more = "");

// Somebody who changes data by calls to the management port, with ShenYu's paths and JSON; a connection for every call.
class LocalCaller {
public:
    explicit LocalCaller(const support::GatewayProcess& gateway, std::string key = kLocalKey)
        : port_(gateway.managementPort()), key_(std::move(key)) {}

    support::HttpMessage get(const std::string& path) const;
    support::HttpMessage post(const std::string& path, const std::string& json) const;

    // Calls that must succeed; a std::runtime_error with the answer otherwise.
    void selector(const std::string& json) const;
    void rule(const std::string& json) const;
    void deleteSelector(const std::string& plugin, const std::string& id) const;

private:
    std::string head() const;

    int port_;
    std::string key_;
};

inline constexpr const char* kSelectorCall = "/shenyu/plugin/selector/saveOrUpdate";
inline constexpr const char* kRuleCall = "/shenyu/plugin/rule/saveOrUpdate";

// A text as a JSON string.
std::string quoted(const std::string& text);

// The member "code" of an error reply; "" in an answer without one.
std::string errorCode(const support::HttpMessage& answer);

// Upstreams as divide's selector handle has them.
std::string upstreams(const std::string& address);

// An upstream that answers with its name, and keeps nothing of what it got: there may be many requests.
support::RecordingUpstream::Serve named(const std::string& name);

struct Condition {
    std::string paramType;
    std::string operatorName;
    std::string paramName;
    std::string paramValue;
};

Condition uri(const std::string& operatorName, const std::string& value);
Condition method(const std::string& value);

// A selector or rule as a call sends it.
struct Entry {
    std::string id;
    std::vector<Condition> conditions;
    std::string handle = "";       // JSON
    std::string plugin = "divide";
    int sort = 1;
    std::string matchMode = "0";   // JSON
    bool enabled = true;
    std::string more = "";         // members, with a comma in front

    std::string selector() const;  // type 1, unless `more` says otherwise
    std::string rule(const std::string& selectorId) const;
};

}  // namespace weir::functional
