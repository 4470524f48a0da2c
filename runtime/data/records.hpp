#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/value.hpp"
#include "config/settings.hpp"

// ShenYu's synchronised records under their own names; what is optional there has the default Weir's files give it.
// `config`, `handle` and `rpcExt` are trees (a null Value: none), read from YAML or from JSON in a text. The origin is
// where the record begins; its file may also be what else it came in ("request body"); its parts may be empty.
namespace weir::data {

struct Origin {
    std::string file;
    base::Mark mark;
};

struct ConditionData {
    std::string paramType;     // uri, header, query, ...
    std::string operatorName;  // `operator` in files: =, match, pathPattern, ...
    std::string paramName;
    std::string paramValue;
    base::Mark mark;
};

struct PluginData {
    std::string id;
    std::string name;  // the key: which plugin this is the data of
    std::string role;
    std::string namespaceId;
    bool enabled = true;
    std::optional<int> sort;  // place in the chain; none: the plugin's own order
    base::Value config;
    Origin origin;
};

struct SelectorData {
    std::string id;  // unique in its plugin
    std::string name;
    std::string pluginId;
    std::string pluginName;
    std::string namespaceId;
    int type = 1;       // 0: every request, conditions are ignored; 1: requests that meet the conditions
    std::string matchMode = "and";  // ShenYu's 0; `or` is its 1: any condition is enough; else the strategy's name
    int sort = 0;
    bool enabled = true;
    bool logged = false;
    bool continued = true;  // false: no rules, the plugin runs with its default handle
    bool matchRestful = false;
    std::vector<ConditionData> conditions;
    base::Value handle;
    Origin origin;
};

struct RuleData {
    std::string id;  // unique in its plugin
    std::string name;
    std::string pluginName;
    std::string selectorId;
    std::string namespaceId;
    std::string matchMode = "and";
    int sort = 0;
    bool enabled = true;
    bool loged = false;  // ShenYu's spelling
    bool matchRestful = false;
    std::vector<ConditionData> conditions;
    base::Value handle;
    Origin origin;
};

struct MetaData {
    std::string id;
    std::string appName;
    std::string contextPath;
    std::string path;  // Ant pattern
    std::string rpcType;
    std::string serviceName;
    std::string methodName;
    std::string parameterTypes;
    std::string namespaceId;
    bool enabled = true;
    base::Value rpcExt;
    Origin origin;
};

struct AuthParamData {
    std::string appName;
    std::string appParam;
};

struct AuthPathData {
    std::string appName;
    std::string path;  // Ant pattern
    bool enabled = true;
};

struct AppAuthData {
    std::string appKey;  // the key of the entry
    config::Secret appSecret;
    std::string namespaceId;
    bool enabled = true;
    bool open = false;  // true: only the paths of pathDataList
    std::vector<AuthParamData> paramDataList;
    std::vector<AuthPathData> pathDataList;
    Origin origin;
};

}  // namespace weir::data
