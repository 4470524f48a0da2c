#include "config/settings_reader.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <utility>

#include "base/ascii.hpp"
#include "config/messages.hpp"
#include "config/settings_table.hpp"
#include "config/text_file.hpp"

namespace weir::config {

namespace {

using base::Value;

// "WEIR_EXT_PLUGIN_PATH", "WEIR_EXTPLUGIN_PATH" and "extPlugin.path" (behind a WEIR_) are one name.
std::string foldName(std::string_view name) {
    std::string folded;
    for (char c : name) {
        if (c == '_' || c == '.') continue;
        folded += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    }
    return folded;
}

std::optional<std::chrono::milliseconds> toDuration(const Value& value, const Setting& setting) {
    std::string_view text = value.text();
    std::int64_t number = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || number < 0) return std::nullopt;
    std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
    std::int64_t length = unit.empty()   ? setting.plainUnit
                          : unit == "ms" ? 1
                          : unit == "s"  ? 1000
                          : unit == "m"  ? 60000
                          : unit == "h"  ? 3600000
                                         : 0;
    if (length == 0 || number > setting.max / length || number * length < setting.min) return std::nullopt;
    return std::chrono::milliseconds(number * length);
}

bool isToken(std::string_view text) {
    constexpr std::string_view kOther = "!#$%&'*+-.^_`|~";
    for (const char c : text) {
        const bool letter = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
        if (!letter && !(c >= '0' && c <= '9') && kOther.find(c) == kOther.npos) return false;
    }
    return !text.empty();
}

// RFC 9110 5.1, and not one that frames or routes messages, is a secret, or is the gateway's for another reason.
bool isFreeHeaderName(std::string_view name) {
    constexpr std::string_view kTaken[] = {
        "authorization", "connection", "content-length", "content-type", "cookie", "date", "expect", "forwarded",
        "host", "keep-alive", "location", "proxy-authenticate", "proxy-authorization", "proxy-connection", "server",
        "set-cookie", "te", "traceparent", "tracestate", "trailer", "transfer-encoding", "upgrade", "via",
        "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto"};
    const std::string lower = base::toLower(name);
    return isToken(name) && name.size() <= 64 && std::ranges::find(kTaken, lower) == std::end(kTaken);
}

// What can stand in a request line (RFC 9112 3.2.1).
bool isRequestPath(std::string_view text) {
    return text.starts_with('/') &&
           std::ranges::all_of(text, [](char c) { return c > ' ' && c < 0x7f && c != '#'; });
}

class Reader {
public:
    Reader(const Environment& environment, std::vector<std::string>& warnings, std::set<std::string> usedVariables)
        : environment_(environment), warnings_(warnings), usedVariables_(std::move(usedVariables)) {}

    base::Result<void> readFile(const Value& tree, const Value& shenyu, std::string_view fileName) {
        auto done = readTree(shenyu, "", fileName);
        if (!done) return done;
        const Settings before = settings_;
        given_.clear();
        done = readTree(tree, "", fileName);
        for (std::string_view path : changedSettings(before, settings_)) {
            const auto same = [path](const Value::Member& member) { return member.key == path; };
            const auto member = std::ranges::find_if(shenyu.members(), same);
            if (member == shenyu.members().end()) continue;
            warnings_.push_back(place(fileName, member->keyMark) + ": weir." + std::string(path) +
                                " says otherwise and goes before this");
        }
        return done;
    }

    base::Result<void> readEnvironment() {
        directory_.clear();
        for (const auto& [name, text] : environment_) {
            if (!name.starts_with("WEIR_")) continue;
            std::string folded = foldName(std::string_view(name).substr(5));
            auto same = [&](std::string_view path) { return foldName(path) == folded; };
            auto problem = readNamed(same, text);
            if (!problem) {
                unknownVariables_.insert(name);
            } else if (!problem->empty()) {
                return invalid(name, {}, *problem);
            }
        }
        return {};
    }

    base::Result<void> readOverride(const Override& given) {
        directory_.clear();
        auto problem = readNamed([&](std::string_view path) { return path == given.path; }, given.text);
        if (problem && problem->empty()) return {};
        if (problem) return invalid("--" + given.path, {}, *problem);
        std::vector<std::string_view> paths;
        for (const Setting& setting : settingsTable()) paths.push_back(setting.path);
        return invalid("--" + given.path, {}, "no such setting" + didYouMean(given.path, paths));
    }

    // After all sources: a variable may be named by `token: {env: ...}`.
    void warnOfVariables() {
        std::vector<std::string> names;
        for (const Setting& setting : settingsTable()) names.push_back(setting.variable());
        std::vector<std::string_view> known(names.begin(), names.end());
        for (const std::string& name : unknownVariables_) {
            if (usedVariables_.count(name)) continue;
            warnings_.push_back("the environment variable " + name + " means no setting" + didYouMean(name, known));
        }
    }

    Settings take() { return std::move(settings_); }

private:
    base::Result<void> readTree(const Value& tree, const std::string& prefix, std::string_view fileName) {
        if (tree.isNull()) return {};
        if (!tree.isObject()) {
            return invalid(fileName, tree.mark(), sectionName(prefix) + ": expected a map, " + got(tree));
        }
        directory_ = std::filesystem::path(fileName).parent_path();
        for (const Value::Member& member : tree.members()) {
            std::string path = prefix + member.key;
            const Setting* setting = find(path);
            if (!setting && isSection(path)) {
                auto done = readTree(member.value, path + ".", fileName);
                if (!done) return done;
                continue;
            }
            if (!setting) {
                return invalid(fileName, member.keyMark,
                               sectionName(prefix) + ": " + unknownKey(member.key, keysBelow(prefix)));
            }
            const auto [first, fresh] = given_.emplace(path, member.keyMark);
            if (!fresh) {
                return invalid(fileName, member.keyMark,
                               path + " is there twice, first in line " + std::to_string(first->second.line));
            }
            auto problem = read(*setting, member.value);
            if (problem) return invalid(fileName, member.value.mark(), path + ": " + *problem);
        }
        return {};
    }

    static const Setting* find(std::string_view path) {
        for (const Setting& setting : settingsTable()) {
            if (setting.path == path) return &setting;
        }
        return nullptr;
    }

    static bool isSection(const std::string& path) {
        auto below = [&](const Setting& setting) { return setting.path.starts_with(path + "."); };
        return std::ranges::any_of(settingsTable(), below);
    }

    static std::string sectionName(std::string_view prefix) {
        return prefix.empty() ? "weir" : std::string(prefix.substr(0, prefix.size() - 1));
    }

    static std::vector<std::string_view> keysBelow(std::string_view prefix) {
        std::vector<std::string_view> keys;
        for (const Setting& setting : settingsTable()) {
            if (!setting.path.starts_with(prefix)) continue;
            std::string_view rest = setting.path.substr(prefix.size());
            std::string_view key = rest.substr(0, rest.find('.'));
            if (keys.empty() || keys.back() != key) keys.push_back(key);
        }
        return keys;
    }

    // Reads the setting whose path is `same`: nullopt when there is none, else what is wrong, "" for nothing.
    template <class Same>
    std::optional<std::string> readNamed(Same same, const std::string& text) {
        Value value = Value::scalar(text, true);
        for (const Setting& setting : settingsTable()) {
            if (same(setting.path)) return read(setting, value).value_or("");
            if (!setting.isSecret()) continue;
            for (const char* source : {"file", "env"}) {
                if (!same(std::string(setting.path) + "." + source)) continue;
                Value map = Value::object();
                map.set(source, value);
                return read(setting, map).value_or("");
            }
        }
        return std::nullopt;
    }

    // What is wrong with the value; nullopt when it has been taken.
    std::optional<std::string> read(const Setting& setting, const Value& value) {
        Target target = setting.member(settings_);
        return std::visit([&](auto* member) { return readInto(member, setting, value); }, target);
    }

    static std::string complaint(const Setting& setting, const Value& value) {
        return "expected " + setting.expected() + ", " + got(value);
    }

    static std::optional<std::string> readInto(std::string* out, const Setting& setting, const Value& value) {
        if (!value.isScalar() || value.isNull() || value.text().empty()) return complaint(setting, value);
        *out = value.text();
        return std::nullopt;
    }

    static std::optional<std::string> readInto(bool* out, const Setting& setting, const Value& value) {
        auto flag = value.toBool();
        if (!flag) return complaint(setting, value) + didYouMean(value.text(), {"true", "false"});
        *out = *flag;
        return std::nullopt;
    }

    template <class Number>
        requires std::is_same_v<Number, int> || std::is_same_v<Number, std::size_t>
    static std::optional<std::string> readInto(Number* out, const Setting& setting, const Value& value) {
        auto number = value.toInt();
        if (!setting.zeroWord.empty() && value.text() == setting.zeroWord) number = 0;
        if (!number || *number < setting.min || *number > setting.max) return complaint(setting, value);
        *out = static_cast<Number>(*number);
        return std::nullopt;
    }

    static std::optional<std::string> readInto(std::chrono::milliseconds* out, const Setting& setting,
                                               const Value& value) {
        auto time = toDuration(value, setting);
        if (!time) return complaint(setting, value);
        *out = *time;
        return std::nullopt;
    }

    // A path left empty is the default, as in ShenYu's own `extPlugin: {path: }`.
    std::optional<std::string> readInto(std::filesystem::path* out, const Setting& setting, const Value& value) const {
        if (value.isNull() || (value.isScalar() && value.text().empty())) return out->clear(), std::nullopt;
        if (!value.isScalar()) return complaint(setting, value);
        *out = (directory_ / value.text()).lexically_normal();
        return std::nullopt;
    }

    // A text is one path: commas may be part of it.
    std::optional<std::string> readInto(PathList* out, const Setting& setting, const Value& value) const {
        out->clear();
        if (value.isNull() || (value.isScalar() && value.text().empty())) return std::nullopt;
        if (!value.isArray() && !value.isScalar()) return complaint(setting, value);
        const std::vector<Value> one = {value};
        for (const Value& item : value.isArray() ? value.items() : one) {
            if (!item.isScalar() || item.isNull() || item.text().empty()) return complaint(setting, item);
            out->push_back((directory_ / item.text()).lexically_normal());
        }
        return std::nullopt;
    }

    static std::optional<std::string> readInto(HeaderName* out, const Setting& setting, const Value& value) {
        if (value.isNull() || (value.isScalar() && value.text().empty())) return out->text.clear(), std::nullopt;
        if (!value.isScalar() || !isFreeHeaderName(value.text())) return complaint(setting, value);
        out->text = value.text();
        return std::nullopt;
    }

    static std::optional<std::string> readInto(Token* out, const Setting& setting, const Value& value) {
        if (value.isNull() || (value.isScalar() && value.text().empty())) return out->text.clear(), std::nullopt;
        if (!value.isScalar() || !isToken(value.text())) return complaint(setting, value);
        out->text = value.text();
        return std::nullopt;
    }

    static std::optional<std::string> readInto(RequestPath* out, const Setting& setting, const Value& value) {
        if (value.isNull() || (value.isScalar() && value.text().empty())) return out->text.clear(), std::nullopt;
        if (!value.isScalar() || !isRequestPath(value.text())) return complaint(setting, value);
        out->text = value.text();
        return std::nullopt;
    }

    static std::optional<std::string> readInto(ReplaceList* out, const Setting& setting, const Value& value) {
        out->clear();
        if (value.isNull() || (value.isScalar() && value.text().empty())) return std::nullopt;
        if (value.isScalar()) {
            for (std::string_view rest = value.text(); !rest.empty();) {
                const std::string_view each = rest.substr(0, rest.find(','));
                rest = each.size() < rest.size() ? rest.substr(each.size() + 1) : std::string_view();
                const std::size_t equals = each.find('=');
                if (equals == each.npos || !isToken(each.substr(0, equals)) || !isToken(each.substr(equals + 1)))
                    return complaint(setting, value);
                out->push_back({"Plugin", std::string(each.substr(0, equals)), std::string(each.substr(equals + 1))});
            }
            return std::nullopt;
        }
        if (!value.isArray()) return complaint(setting, value);
        for (const Value& item : value.items()) {
            const Value* interface = item.isObject() ? item.find("interface") : nullptr;
            const Value* key = item.isObject() ? item.find("key") : nullptr;
            const Value* module = item.isObject() ? item.find("module") : nullptr;
            const bool whole = key && module && isToken(key->text()) && isToken(module->text());
            const bool plugin = !interface || interface->text() == "Plugin" || interface->text() == "PluginDataHandler";
            if (!whole || !plugin || item.members().size() > 3) return complaint(setting, item);
            out->push_back({interface ? interface->text() : "Plugin", key->text(), module->text()});
        }
        return std::nullopt;
    }

    static std::optional<std::string> readInto(TokenList* out, const Setting& setting, const Value& value) {
        out->clear();
        if (value.isNull()) return std::nullopt;
        if (value.isArray()) {
            for (const Value& item : value.items()) {
                if (!item.isScalar() || !isToken(item.text())) return complaint(setting, item);
                out->push_back(item.text());
            }
            return std::nullopt;
        }
        if (!value.isScalar()) return complaint(setting, value);
        std::string text;
        for (const char c : value.text() + ",") {
            if (c == ' ') continue;
            if (c != ',') {
                text += c;
                continue;
            }
            if (!isToken(text)) return complaint(setting, value);
            out->push_back(std::exchange(text, {}));
        }
        return std::nullopt;
    }

    template <class Enum>
        requires std::is_enum_v<Enum>
    static std::optional<std::string> readInto(Enum* out, const Setting& setting, const Value& value) {
        std::vector<std::string_view> names;
        for (const Named<Enum>& row : namesOf<Enum>()) {
            if (value.text() == row.name) return *out = row.value, std::nullopt;
            names.push_back(row.name);
        }
        return complaint(setting, value) + didYouMean(value.text(), names);
    }

    // Messages never show the value.
    std::optional<std::string> readInto(Secret* out, const Setting& setting, const Value& value) {
        auto problem = readSecret(*out, setting, value);
        if (problem || out->empty() || setting.max == 0) return problem;
        const std::string& text = out->reveal();
        const auto size = static_cast<std::int64_t>(text.size());
        const bool hex = text.find_first_not_of("0123456789abcdefABCDEF") == text.npos;
        if (!hex || size < setting.min || size > setting.max) return "expected " + setting.expected();
        return std::nullopt;
    }

    std::optional<std::string> readSecret(Secret& out, const Setting& setting, const Value& value) {
        if (value.isNull()) return out = Secret(), std::nullopt;
        if (value.isScalar()) return out = Secret(value.text()), std::nullopt;
        bool one = value.isObject() && value.members().size() == 1;
        const Value* source = one ? &value.members()[0].value : nullptr;
        if (!source || !source->isScalar() || source->isNull()) return "expected " + setting.expected();
        if (value.members()[0].key == "file") return readSecretFile(out, directory_ / source->text());
        if (value.members()[0].key == "env") return readSecretVariable(out, source->text());
        return "expected " + setting.expected();
    }

    static std::optional<std::string> readSecretFile(Secret& out, const std::filesystem::path& path) {
        auto read = readTextFile(path);
        if (!read) return read.error().text();
        std::string text = std::move(*read);
        while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
        if (text.empty()) return "the file " + path.string() + " is empty";
        out = Secret(std::move(text));
        return std::nullopt;
    }

    std::optional<std::string> readSecretVariable(Secret& out, const std::string& name) {
        usedVariables_.insert(name);
        auto found = environment_.find(name);
        if (found == environment_.end()) return "the environment variable " + name + " is not set";
        if (found->second.empty()) return "the environment variable " + name + " is empty";
        out = Secret(found->second);
        return std::nullopt;
    }

    const Environment& environment_;
    std::vector<std::string>& warnings_;
    Settings settings_;
    std::filesystem::path directory_;  // base of relative paths: the file's, or the working directory
    std::map<std::string, base::Mark> given_;  // paths in the tree that is being read
    std::set<std::string> unknownVariables_;
    std::set<std::string> usedVariables_;
};

}  // namespace

Environment readEnvironment(const char* const* variables) {
    Environment environment;
    for (; *variables; ++variables) {
        std::string_view entry = *variables;
        std::size_t equals = entry.find('=');
        if (equals == entry.npos) continue;
        environment.emplace(entry.substr(0, equals), entry.substr(equals + 1));
    }
    return environment;
}

base::Result<Override> parseOverride(std::string_view argument) {
    std::size_t equals = argument.find('=');
    if (!argument.starts_with("--") || equals == argument.npos || equals == 2) {
        return base::Error{base::ErrorCode::InvalidConfig, std::string(argument.substr(0, equals)),
                           "expected a setting such as --server.port=9195"};
    }
    return Override{std::string(argument.substr(2, equals - 2)), std::string(argument.substr(equals + 1))};
}

base::Result<Settings> readSettings(const base::Value& tree, std::string_view fileName,
                                    const std::vector<Override>& overrides, const Environment& environment,
                                    std::vector<std::string>& warnings, const base::Value& shenyu,
                                    const std::set<std::string>& usedVariables) {
    Reader reader(environment, warnings, usedVariables);
    auto done = reader.readFile(tree, shenyu, fileName);
    if (!done) return done.error();
    done = reader.readEnvironment();
    if (!done) return done.error();
    for (const Override& given : overrides) {
        done = reader.readOverride(given);
        if (!done) return done.error();
    }
    reader.warnOfVariables();
    return reader.take();
}

}  // namespace weir::config
