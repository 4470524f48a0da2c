#include "data/record_writer.hpp"

#include "base/scalars.hpp"

namespace weir::data {

namespace {

using base::Value;
using base::scalars::flag;
using base::scalars::number;
using base::scalars::text;

// ShenYu's numbers where it has them.
Value matchMode(const std::string& mode) {
    if (mode == "and") return number(0);
    return mode == "or" ? number(1) : text(mode);
}
Value jsonText(const Value& tree) { return tree.isNull() ? Value::null() : text(base::toJson(tree)); }

Value conditionList(const std::vector<ConditionData>& conditions) {
    Value list = Value::array();
    for (const ConditionData& condition : conditions) {
        Value& item = list.append(Value::object());
        item.set("paramType", text(condition.paramType));
        item.set("operator", text(condition.operatorName));
        item.set("paramName", text(condition.paramName));
        item.set("paramValue", text(condition.paramValue));
    }
    return list;
}

}  // namespace

Value toValue(const PluginData& plugin) {
    Value value = Value::object();
    value.set("id", text(plugin.id));
    value.set("name", text(plugin.name));
    value.set("config", jsonText(plugin.config));
    value.set("role", text(plugin.role));
    value.set("enabled", flag(plugin.enabled));
    value.set("sort", plugin.sort ? number(*plugin.sort) : Value::null());
    value.set("namespaceId", text(plugin.namespaceId));
    return value;
}

Value toValue(const SelectorData& selector) {
    Value value = Value::object();
    value.set("id", text(selector.id));
    value.set("pluginId", text(selector.pluginId));
    value.set("pluginName", text(selector.pluginName));
    value.set("name", text(selector.name));
    value.set("matchMode", matchMode(selector.matchMode));
    value.set("type", number(selector.type));
    value.set("sort", number(selector.sort));
    value.set("enabled", flag(selector.enabled));
    value.set("logged", flag(selector.logged));
    value.set("continued", flag(selector.continued));
    value.set("handle", jsonText(selector.handle));
    value.set("conditionList", conditionList(selector.conditions));
    value.set("matchRestful", flag(selector.matchRestful));
    value.set("namespaceId", text(selector.namespaceId));
    return value;
}

Value toValue(const RuleData& rule) {
    Value value = Value::object();
    value.set("id", text(rule.id));
    value.set("name", text(rule.name));
    value.set("pluginName", text(rule.pluginName));
    value.set("selectorId", text(rule.selectorId));
    value.set("matchMode", matchMode(rule.matchMode));
    value.set("sort", number(rule.sort));
    value.set("enabled", flag(rule.enabled));
    value.set("loged", flag(rule.loged));
    value.set("handle", jsonText(rule.handle));
    value.set("conditionDataList", conditionList(rule.conditions));
    value.set("matchRestful", flag(rule.matchRestful));
    value.set("namespaceId", text(rule.namespaceId));
    return value;
}

Value toValue(const MetaData& metaData) {
    Value value = Value::object();
    value.set("id", text(metaData.id));
    value.set("appName", text(metaData.appName));
    value.set("contextPath", text(metaData.contextPath));
    value.set("path", text(metaData.path));
    value.set("rpcType", text(metaData.rpcType));
    value.set("serviceName", text(metaData.serviceName));
    value.set("methodName", text(metaData.methodName));
    value.set("parameterTypes", text(metaData.parameterTypes));
    value.set("rpcExt", jsonText(metaData.rpcExt));
    value.set("enabled", flag(metaData.enabled));
    value.set("namespaceId", text(metaData.namespaceId));
    return value;
}

Value toValue(const AppAuthData& auth, Secrets secrets) {
    Value value = Value::object();
    value.set("appKey", text(auth.appKey));
    if (secrets == Secrets::Written) value.set("appSecret", text(auth.appSecret.reveal()));
    value.set("enabled", flag(auth.enabled));
    value.set("open", flag(auth.open));
    Value& params = value.set("paramDataList", Value::array());
    for (const AuthParamData& param : auth.paramDataList) {
        Value& item = params.append(Value::object());
        item.set("appName", text(param.appName));
        item.set("appParam", text(param.appParam));
    }
    Value& paths = value.set("pathDataList", Value::array());
    for (const AuthPathData& path : auth.pathDataList) {
        Value& item = paths.append(Value::object());
        item.set("appName", text(path.appName));
        item.set("path", text(path.path));
        item.set("enabled", flag(path.enabled));
    }
    value.set("namespaceId", text(auth.namespaceId));
    return value;
}

}  // namespace weir::data
