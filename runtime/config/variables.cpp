#include "config/variables.hpp"

#include <algorithm>
#include <optional>

#include "base/utf8.hpp"
#include "config/messages.hpp"

namespace weir::config {

namespace {

using base::Mark;
using base::Value;

constexpr int kMaxDepth = 16;  // of defaults within defaults
constexpr const char* kEscape = "\"$${\" stands for \"${\"";

// Values that plugins read: a tree, or JSON as a text.
bool isPluginsOwn(std::string_view key) { return key == "handle" || key == "config" || key == "rpcExt"; }

std::size_t nameLength(std::string_view text, bool capitals) {
    const auto part = [capitals](char c) {
        if ((c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_') return true;
        return !capitals && ((c >= 'a' && c <= 'z') || c == '.' || c == '-');
    };
    const bool starts = !text.empty() && part(text[0]) && std::string_view("0123456789.-").find(text[0]) == text.npos;
    return starts ? static_cast<std::size_t>(std::ranges::find_if_not(text, part) - text.begin()) : 0;
}

// The first `}` that closes none of the text's own braces; npos: there is none.
std::size_t closingBrace(std::string_view text) {
    int open = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '{') ++open;
        if (text[i] == '}' && open-- == 0) return i;
    }
    return text.npos;
}

// `${NAME}` or `${NAME:default}` and nothing else.
bool isWholePlaceholder(std::string_view text) {
    return text.starts_with("${") && closingBrace(text.substr(2)) == text.size() - 3;
}

bool isUtf8(std::string_view text) {
    while (!text.empty()) {
        const std::size_t length = base::utf8Length(text);
        if (length == 0) return false;
        text.remove_prefix(length);
    }
    return true;
}

}  // namespace

struct Variables::Scope {
    std::string_view file;
    bool pluginsOwn = false;
    std::optional<Mark> place = {};  // of the text that the tree was in; none: each value has its own
    Mark scalar = {};                // that is being expanded
};

base::Result<Value> Variables::expand(const Value& tree, std::string_view fileName) {
    fault_.reset();
    Value expanded = expandValue(tree, {fileName});
    if (fault_) return std::move(*fault_);
    return expanded;
}

bool Variables::needed(const Value& tree) {
    if (tree.isScalar()) return tree.text().find("${") != std::string::npos;
    return std::ranges::any_of(tree.items(), needed) ||
           std::ranges::any_of(tree.members(), [](const Value::Member& member) { return needed(member.value); });
}

Value Variables::expandValue(const Value& value, const Scope& scope) {
    const Mark mark = scope.place.value_or(value.mark());
    if (value.isScalar()) return expandScalar(value, {scope.file, scope.pluginsOwn, scope.place, mark});
    if (value.isArray()) {
        Value list = Value::array(mark);
        for (const Value& item : value.items()) list.append(expandValue(item, scope));
        return list;
    }
    if (!value.isObject()) return Value::null(mark);
    Value map = Value::object(mark);
    for (const Value::Member& member : value.members()) {
        Value inside = !scope.pluginsOwn && isPluginsOwn(member.key) ? expandPluginsOwn(member.value, scope)
                                                                     : expandValue(member.value, scope);
        map.set(member.key, std::move(inside), scope.place.value_or(member.keyMark));
    }
    return map;
}

Value Variables::expandPluginsOwn(const Value& value, const Scope& scope) {
    const Scope inside{scope.file, true};
    if (!value.isScalar() || !needed(value)) return expandValue(value, inside);
    const auto json = base::parseJson(value.text());
    if (json) return expandValue(*json, {scope.file, true, value.mark()});
    // Outside of JSON's strings a variable would be read as JSON: the text stays and is refused where it is read.
    return isWholePlaceholder(value.text()) ? expandValue(value, inside) : value;
}

Value Variables::expandScalar(const Value& value, const Scope& scope) {
    if (!needed(value)) return Value::scalar(value.text(), value.quoted(), scope.scalar);
    std::string text = expandText(value.text(), scope, 0);
    const bool null = Value::scalar(text, value.quoted()).isNull();  // the word, not nothing
    return Value::scalar(std::move(text), value.quoted() || null, scope.scalar);
}

std::string Variables::expandText(std::string_view text, const Scope& scope, int depth) {
    if (depth > kMaxDepth) return fail(scope, "defaults of variables are nested deeper than 16 levels");
    std::string out;
    while (!text.empty()) {
        const std::size_t length = text.starts_with("${") ? nameLength(text.substr(2), scope.pluginsOwn) : 0;
        const std::string_view behind = text.substr(length > 0 ? 2 + length : 0);
        if (length > 0 && (behind.empty() || behind[0] == '}' || behind[0] == ':')) {
            const std::string name(text.substr(2, length));
            const std::size_t close = closingBrace(behind);
            if (close == behind.npos) return fail(scope, "\"${" + name + "\" is never closed with \"}\"; " + kEscape);
            std::optional<std::string_view> standard;
            if (close > 0) standard = behind.substr(1, close - 1);
            out += valueOf(name, standard, scope, depth);
            text = behind.substr(close + 1);
            continue;
        }
        const bool escaped = text.starts_with("$${");
        out += escaped ? "${" : text.substr(0, 1);
        text.remove_prefix(escaped ? 3 : 1);
    }
    return out;
}

std::string Variables::valueOf(const std::string& name, std::optional<std::string_view> standard, const Scope& scope,
                               int depth) {
    used_.insert(name);
    const auto found = environment_.find(name);
    if (found == environment_.end()) {
        if (standard) return expandText(*standard, scope, depth + 1);
        return fail(scope, "the environment variable " + name + " is not set and \"${" + name +
                               "}\" has no default, as \"${" + name + ":default}\" has; " + kEscape);
    }
    if (!isUtf8(found->second)) return fail(scope, "what the environment variable " + name + " holds is not UTF-8");
    return found->second;
}

std::string Variables::fail(const Scope& scope, std::string message) {
    if (!fault_) fault_ = invalid(scope.file, scope.scalar, std::move(message));
    return {};
}

}  // namespace weir::config
