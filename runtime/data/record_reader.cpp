#include "data/record_reader.hpp"

#include <algorithm>
#include <limits>
#include <variant>

#include "config/messages.hpp"

namespace weir::data {

namespace {

using base::Mark;
using base::Value;

// An integer that ShenYu knows two values of.
struct Choice {
    int* out;
    const char* meaning;
};

// How conditions are combined: ShenYu's 0 and 1, or a strategy's name.
struct MatchMode {
    std::string* out;
};

// Keys that the record's parent reads (selectors, rules), or that mean nothing to Weir.
struct NotHere {};

// A key that was there; aliases count as what they stand for.
struct Given {
    std::string_view key;
    Mark mark;
};

constexpr const char* kType = "0 (every request) or 1 (requests that meet the conditions)";

// The same tree with every mark at `mark`: places inside a JSON text say nothing about the file it stands in.
Value placedAt(const Value& value, Mark mark) {
    switch (value.kind()) {
    case Value::Kind::Null:
        return Value::null(mark);
    case Value::Kind::Scalar:
        return Value::scalar(value.text(), value.quoted(), mark);
    case Value::Kind::Array: {
        Value list = Value::array(mark);
        for (const Value& item : value.items()) list.append(placedAt(item, mark));
        return list;
    }
    case Value::Kind::Object: {
        Value map = Value::object(mark);
        for (const Value::Member& member : value.members()) map.set(member.key, placedAt(member.value, mark), mark);
        return map;
    }
    }
    return {};
}

}  // namespace

struct RecordReader::Field {
    using Target = std::variant<NotHere, std::string*, bool*, int*, std::optional<int>*, Choice, MatchMode, Value*,
                                config::Secret*, std::vector<ConditionData>*, std::vector<AuthParamData>*,
                                std::vector<AuthPathData>*>;

    std::string_view key;
    Target target = NotHere{};
    bool required = false;
    std::string_view aliasOf = {};  // another key for the same thing
};

RecordReader::RecordReader(std::string source, Mode mode, std::vector<std::string>& warnings)
    : source_(std::move(source)), mode_(mode), warnings_(warnings) {}

base::Result<PluginData> RecordReader::readPlugin(const Value& tree) {
    PluginData plugin;
    plugin.origin = {source_, tree.mark()};
    auto problem = read(tree, "plugin", {
        {"name", &plugin.name, true},
        {"id", &plugin.id},
        {"role", &plugin.role},
        {"enabled", &plugin.enabled},
        {"sort", &plugin.sort},
        {"config", &plugin.config},
        {"selectors"},
        {"namespaceId", &plugin.namespaceId},
        {"pluginJar"},
        {"pluginJarSignature"},
    });
    if (problem) return std::move(*problem);
    for (const char* field : {"pluginJar", "pluginJarSignature"}) {
        const Value* found = tree.find(field);
        if (found && !found->isNull() && !found->text().empty() && mode_ == Mode::Strict)
            warn(found->mark(), "plugin." + std::string(field) + " is taken from calls only");
    }
    return plugin;
}

base::Result<SelectorData> RecordReader::readSelector(const Value& tree) {
    SelectorData selector;
    selector.origin = {source_, tree.mark()};
    auto problem = read(tree, "selector", {
        {"name", &selector.name, mode_ == Mode::Strict},
        {"id", &selector.id},
        {"type", Choice{&selector.type, kType}},
        {"matchMode", MatchMode{&selector.matchMode}},
        {"sort", &selector.sort},
        {"enabled", &selector.enabled},
        {"logged", &selector.logged},
        {"loged", &selector.logged, false, "logged"},
        {"continued", &selector.continued},
        {"matchRestful", &selector.matchRestful},
        {"conditions", &selector.conditions},
        {"conditionList", &selector.conditions, false, "conditions"},
        {"conditionDataList", &selector.conditions, false, "conditions"},
        {"handle", &selector.handle},
        {"rules"},
        {"pluginId", &selector.pluginId},
        {"pluginName", &selector.pluginName},
        {"namespaceId", &selector.namespaceId},
        {"beforeConditionList"},
    });
    if (problem) return std::move(*problem);
    return selector;
}

base::Result<RuleData> RecordReader::readRule(const Value& tree) {
    RuleData rule;
    rule.origin = {source_, tree.mark()};
    auto problem = read(tree, "rule", {
        {"name", &rule.name, mode_ == Mode::Strict},
        {"id", &rule.id},
        {"matchMode", MatchMode{&rule.matchMode}},
        {"sort", &rule.sort},
        {"enabled", &rule.enabled},
        {"loged", &rule.loged},
        {"logged", &rule.loged, false, "loged"},
        {"matchRestful", &rule.matchRestful},
        {"conditions", &rule.conditions},
        {"conditionDataList", &rule.conditions, false, "conditions"},
        {"conditionList", &rule.conditions, false, "conditions"},
        {"handle", &rule.handle},
        {"pluginName", &rule.pluginName},
        {"selectorId", &rule.selectorId},
        {"namespaceId", &rule.namespaceId},
        {"beforeConditionDataList"},
    });
    if (problem) return std::move(*problem);
    return rule;
}

base::Result<MetaData> RecordReader::readMetaData(const Value& tree) {
    MetaData metaData;
    metaData.origin = {source_, tree.mark()};
    auto problem = read(tree, "metadata", {
        {"path", &metaData.path, true},
        {"id", &metaData.id},
        {"appName", &metaData.appName},
        {"contextPath", &metaData.contextPath},
        {"rpcType", &metaData.rpcType},
        {"serviceName", &metaData.serviceName},
        {"methodName", &metaData.methodName},
        {"parameterTypes", &metaData.parameterTypes},
        {"rpcExt", &metaData.rpcExt},
        {"enabled", &metaData.enabled},
        {"namespaceId", &metaData.namespaceId},
    });
    if (problem) return std::move(*problem);
    return metaData;
}

base::Result<AppAuthData> RecordReader::readAppAuth(const Value& tree) {
    AppAuthData auth;
    auth.origin = {source_, tree.mark()};
    auto problem = read(tree, "appAuth", {
        {"appKey", &auth.appKey, true},
        {"appSecret", &auth.appSecret},
        {"enabled", &auth.enabled},
        {"open", &auth.open},
        {"paramDataList", &auth.paramDataList},
        {"pathDataList", &auth.pathDataList},
        {"namespaceId", &auth.namespaceId},
    });
    if (problem) return std::move(*problem);
    return auth;
}

RecordReader::Problem RecordReader::readCondition(const Value& tree, ConditionData& out) {
    out.mark = tree.mark();
    auto problem = read(tree, "condition", {
        {"paramType", &out.paramType, true},
        {"operator", &out.operatorName, true},
        {"paramName", &out.paramName},
        {"paramValue", &out.paramValue},
    });
    if (problem || out.operatorName == "isBlank") return problem;  // the one that compares with nothing
    const Value* compared = tree.find("paramValue");
    if (compared && !compared->isNull()) return std::nullopt;
    return expected("condition.paramValue", "what " + base::jsonQuote(out.operatorName) + " compares with",
                    compared ? *compared : Value::null(tree.mark()));
}

RecordReader::Problem RecordReader::readAuthParam(const Value& tree, AuthParamData& out) {
    return read(tree, "paramData", {{"appName", &out.appName}, {"appParam", &out.appParam}});
}

RecordReader::Problem RecordReader::readAuthPath(const Value& tree, AuthPathData& out) {
    return read(tree, "pathData", {{"path", &out.path, true}, {"appName", &out.appName}, {"enabled", &out.enabled}});
}

RecordReader::Problem RecordReader::read(const Value& tree, std::string_view shape, const std::vector<Field>& fields) {
    if (!tree.isObject()) return expected(std::string(shape), "a map", tree);
    std::vector<Given> given;
    for (const Value::Member& member : tree.members()) {
        auto field = std::ranges::find(fields, member.key, &Field::key);
        if (field == fields.end()) {
            auto problem = readUnknown(shape, fields, member);
            if (problem) return problem;
            continue;
        }
        std::string_view meaning = field->aliasOf.empty() ? field->key : field->aliasOf;
        auto before = std::ranges::find(given, meaning, &Given::key);
        if (before != given.end()) {
            std::string text = std::string(shape) + "." + member.key + " says the same as a key in line ";
            return config::invalid(source_, member.keyMark, text + std::to_string(before->mark.line));
        }
        given.push_back({meaning, member.keyMark});
        auto problem = readField(shape, *field, member.value);
        if (problem) return problem;
    }
    for (const Field& field : fields) {
        if (!field.required || std::ranges::find(given, field.key, &Given::key) != given.end()) continue;
        std::string text = std::string(shape) + ": " + std::string(field.key) + " is missing";
        return config::invalid(source_, tree.mark(), std::move(text));
    }
    return std::nullopt;
}

RecordReader::Problem RecordReader::readUnknown(std::string_view shape, const std::vector<Field>& fields,
                                                const Value::Member& member) {
    std::vector<std::string_view> keys;
    for (const Field& field : fields) {
        if (field.aliasOf.empty()) keys.push_back(field.key);
    }
    std::string message = std::string(shape) + ": " + config::unknownKey(member.key, keys);
    if (mode_ == Mode::Strict) return config::invalid(source_, member.keyMark, std::move(message));
    std::string name = std::string(shape) + "." + member.key;
    if (warned_.insert(name).second) warn(member.keyMark, name + " is not known and ignored");
    return std::nullopt;
}

RecordReader::Problem RecordReader::readField(std::string_view shape, const Field& field, const Value& value) {
    std::string name = std::string(shape) + "." + std::string(field.key);
    if (std::holds_alternative<NotHere>(field.target)) return std::nullopt;
    // A file that writes `enabled:` and nothing behind it means something, but who knows what.
    bool undecided = mode_ == Mode::Strict && std::holds_alternative<bool*>(field.target);
    if (value.isNull() && !field.required && !undecided) return std::nullopt;
    if (auto* text = std::get_if<std::string*>(&field.target)) {
        bool missing = field.required && value.text().empty();
        if (!value.isScalar() || value.isNull() || missing) return expected(name, "a text", value);
        **text = value.text();
    } else if (auto* flag = std::get_if<bool*>(&field.target)) {
        auto read = value.toBool();
        if (!read) {
            return expected(name, "true or false (or yes, no, on, off)", value,
                            config::didYouMean(value.text(), {"true", "false"}));
        }
        **flag = *read;
    } else if (auto* choice = std::get_if<Choice>(&field.target)) {
        auto read = value.toInt();
        if (read != 0 && read != 1 && !(read && mode_ == Mode::Lenient)) return expected(name, choice->meaning, value);
        *choice->out = read == 1 ? 1 : 0;
    } else if (auto* mode = std::get_if<MatchMode>(&field.target)) {
        if (!value.isScalar() || value.text().empty())
            return expected(name, "0 (all conditions), 1 (any of them) or the name of a strategy", value);
        *mode->out = value.text() == "0" ? "and" : value.text() == "1" ? "or" : value.text();
    } else if (auto* tree = std::get_if<Value*>(&field.target)) {
        return readTree(name, value, **tree);
    } else if (auto* secret = std::get_if<config::Secret*>(&field.target)) {
        if (!value.isScalar()) return expected(name, "a text", value);
        **secret = config::Secret(value.text());
    } else if (auto* conditions = std::get_if<std::vector<ConditionData>*>(&field.target)) {
        return readList(name, value, **conditions, &RecordReader::readCondition);
    } else if (auto* params = std::get_if<std::vector<AuthParamData>*>(&field.target)) {
        return readList(name, value, **params, &RecordReader::readAuthParam);
    } else if (auto* paths = std::get_if<std::vector<AuthPathData>*>(&field.target)) {
        return readList(name, value, **paths, &RecordReader::readAuthPath);
    } else {
        auto read = value.toInt();
        using Limits = std::numeric_limits<int>;
        if (!read || *read < Limits::min() || *read > Limits::max()) return expected(name, "a whole number", value);
        auto* number = std::get_if<int*>(&field.target);
        if (number) **number = static_cast<int>(*read);
        else **std::get_if<std::optional<int>*>(&field.target) = static_cast<int>(*read);
    }
    return std::nullopt;
}

template <class Record>
RecordReader::Problem RecordReader::readList(const std::string& name, const Value& value, std::vector<Record>& out,
                                             Problem (RecordReader::*readOne)(const Value&, Record&)) {
    if (!value.isArray()) return expected(name, "a list", value);
    for (const Value& item : value.items()) {
        auto problem = (this->*readOne)(item, out.emplace_back());
        if (problem) return problem;
    }
    return std::nullopt;
}

RecordReader::Problem RecordReader::readTree(const std::string& name, const Value& value, Value& out) {
    if (!value.isScalar()) {
        out = value;
        return std::nullopt;
    }
    if (value.text().find_first_not_of(" \t\r\n") == std::string::npos) return std::nullopt;
    auto parsed = base::parseJson(value.text());
    if (!parsed) {
        return config::invalid(source_, value.mark(),
                               name + ": expected a map, a list or JSON as a text; this text is not JSON at its " +
                                   parsed.error().origin + ": " + parsed.error().message);
    }
    out = placedAt(*parsed, value.mark());
    return std::nullopt;
}

RecordReader::Problem RecordReader::expected(const std::string& name, std::string_view what, const Value& value,
                                             std::string hint) {
    return config::invalid(source_, value.mark(),
                           name + ": expected " + std::string(what) + ", " + config::got(value) + hint);
}

void RecordReader::warn(Mark mark, std::string message) {
    warnings_.push_back(config::place(source_, mark) + ": " + std::move(message));
}

}  // namespace weir::data
