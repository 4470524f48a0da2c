#include "module/manifest.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "module/module_check.hpp"

namespace weir::module {
namespace {

using base::Result;
using base::Value;

constexpr std::int64_t kSchema = 1;
constexpr std::size_t kMaxText = 128;

bool isIdentifierByte(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool isId(std::string_view text) {
    return !text.empty() && text.size() <= kMaxText && isIdentifierByte(text.front()) &&
           std::ranges::all_of(text, [](char c) { return isIdentifierByte(c) || c == '.' || c == '_' || c == '-'; });
}

// Interfaces name files under spi/.
bool isInterface(std::string_view text) {
    return !text.empty() && text.size() <= kMaxText && std::ranges::all_of(text, isIdentifierByte);
}

// Keys stand on the left of "key = module" lines; ShenYu has keys such as "=".
bool isKey(std::string_view text) {
    return !text.empty() && text.size() <= kMaxText && text.front() != '#' &&
           std::ranges::all_of(text, [](char c) { return c > ' ' && c < 0x7f; });
}

bool isVersion(std::string_view text) {
    return isKey(text) && text.front() >= '0' && text.front() <= '9';
}

// Reads members of the manifest; keeps the first error and answers defaults from then on.
class Reader {
public:
    const std::optional<Refusal>& refusal() const { return refusal_; }

    void fail(Refusal refusal) {
        if (!refusal_) refusal_ = std::move(refusal);
    }
    // `path` "" is the whole.
    void expect(const std::string& path, std::string_view expected, const Value* found) {
        fail({RefusalCode::BadManifest, path.empty() ? "the manifest" : path,
              found == nullptr ? "missing" : spell(*found), std::string(expected), ""});
    }

    std::string text(const Value& object, const std::string& path, std::string_view key,
                     bool (*valid)(std::string_view), std::string_view expected) {
        const Value* value = object.find(key);
        if (value != nullptr && value->isScalar() && value->quoted() && valid(value->text())) return value->text();
        expect(join(path, key), expected, value);
        return {};
    }

    std::int64_t integer(const Value& object, const std::string& path, std::string_view key, std::int64_t min,
                         std::int64_t max) {
        const Value* value = object.find(key);
        const auto number = value != nullptr && value->isScalar() && !value->quoted() ? value->toInt() : std::nullopt;
        if (number && *number >= min && *number <= max) return *number;
        expect(join(path, key), "a whole number from " + std::to_string(min) + " to " + std::to_string(max), value);
        return min;
    }

    bool boolean(const Value& object, const std::string& path, std::string_view key) {
        const Value* value = object.find(key);
        if (value == nullptr) return false;
        if (value->isScalar() && !value->quoted() && (value->text() == "true" || value->text() == "false")) {
            return value->text() == "true";
        }
        expect(join(path, key), "true or false", value);
        return false;
    }

    template <class Enum>
    Enum choice(const Value& object, const std::string& path, std::string_view key,
                const std::vector<std::pair<std::string_view, Enum>>& choices) {  // the first is the default
        const Value* value = object.find(key);
        if (value == nullptr) return choices.front().second;
        std::string expected;
        for (const auto& [name, result] : choices) {
            if (value->isScalar() && value->quoted() && value->text() == name) return result;
            expected += (expected.empty() ? "\"" : " or \"") + std::string(name) + '"';
        }
        expect(join(path, key), expected, value);
        return choices.front().second;
    }

    // The items of an optional list.
    const std::vector<Value>& list(const Value& object, const std::string& path, std::string_view key) {
        static const std::vector<Value> kNone;
        const Value* value = object.find(key);
        if (value == nullptr) return kNone;
        if (!value->isArray()) expect(join(path, key), "a list", value);
        return value->items();
    }

    static std::string join(const std::string& path, std::string_view key) {
        return path.empty() ? std::string(key) : path + "." + std::string(key);
    }

private:
    static std::string spell(const Value& value) {
        if (!value.isScalar()) return std::string(value.describe());
        std::string text = value.text().substr(0, kMaxText);
        return value.quoted() ? base::jsonQuote(text) : text;
    }

    std::optional<Refusal> refusal_;
};

std::string itemPath(const std::string& list, std::size_t index) { return list + "[" + std::to_string(index) + "]"; }

void checkFields(Reader& read, const Value& fields, const std::string& path) {
    if (!fields.isObject()) return read.expect(path, "a map of config, selector and rule", &fields);
    for (const Value::Member& scope : fields.members()) {
        const auto& items = read.list(fields, path, scope.key);
        for (std::size_t i = 0; i < items.size(); ++i) {
            const std::string at = itemPath(Reader::join(path, scope.key), i);
            read.text(items[i], at, "name", isKey, "a field's name");
            read.text(items[i], at, "type", isId, "a type's name");
        }
    }
}

Provided readProvided(Reader& read, const Value& value, const std::string& path) {
    Provided out;
    out.interface = read.text(value, path, "interface", isInterface, "an interface's name (letters and digits)");
    out.key = read.text(value, path, "key", isKey, "1 to 128 printable characters without blanks, not starting with #");
    if (out.interface == kPluginInterface) {
        using Limits = std::numeric_limits<std::int32_t>;
        out.order = static_cast<std::int32_t>(read.integer(value, path, "order", Limits::min(), Limits::max()));
        const auto& rpcTypes = read.list(value, path, "rpcTypes");
        for (std::size_t i = 0; i < rpcTypes.size(); ++i) {
            if (rpcTypes[i].isScalar() && rpcTypes[i].quoted() && isId(rpcTypes[i].text())) {
                out.rpcTypes.push_back(rpcTypes[i].text());
            } else {
                read.expect(itemPath(path + ".rpcTypes", i), "a type's name", &rpcTypes[i]);
            }
        }
        out.matching =
            read.choice<Matching>(value, path, "matching", {{"none", Matching::None}, {"rule", Matching::Rule}});
        out.unmatched = read.choice<Unmatched>(
            value, path, "unmatched",
            {{"pass", Unmatched::Pass}, {"error", Unmatched::Error}, {"call", Unmatched::Call}});
    } else if (out.interface == kLoadBalancerInterface) {
        out.weighted = read.boolean(value, path, "weighted");
        out.sticky = read.boolean(value, path, "sticky");
    }
    if (const Value* fields = value.find("fields"); fields != nullptr && !fields->isNull()) {
        checkFields(read, *fields, path + ".fields");
        out.fields = *fields;
    }
    return out;
}

}  // namespace

const Provided* Manifest::find(std::string_view interface, std::string_view key) const {
    const auto it = std::ranges::find_if(
        provides, [&](const Provided& each) { return each.interface == interface && each.key == key; });
    return it == provides.end() ? nullptr : &*it;
}

Result<Manifest, Refusal> parseManifest(std::string_view json) {
    const auto parsed = base::parseJson(json);
    if (!parsed) {
        return Refusal{RefusalCode::BadManifest, "the manifest", "no JSON (" + parsed.error().text() + ")", "JSON", ""};
    }
    Reader read;
    if (!parsed->isObject()) read.expect("", "a map", &*parsed);

    // The schema comes first: nothing else can be judged in one we do not know.
    read.integer(*parsed, "", "schema", kSchema, kSchema);
    Manifest out;
    out.id = read.text(*parsed, "", "id", isId, "1 to 128 letters, digits, '.', '_' or '-'");
    out.version = read.text(*parsed, "", "version", isVersion, "a version such as \"1.2.0\"");
    if (parsed->find("abi") == nullptr) read.fail(wrongAbi("missing"));
    constexpr std::int64_t kMaxAbi = std::numeric_limits<std::uint32_t>::max();
    out.abi = static_cast<std::uint32_t>(read.integer(*parsed, "", "abi", 0, kMaxAbi));
    if (out.abi == 0) read.fail(wrongAbi("0"));
    out.unload = read.choice<Unload>(*parsed, "", "unload", {{"close", Unload::Close}, {"resident", Unload::Resident}});

    const auto& provides = read.list(*parsed, "", "provides");
    if (provides.empty()) {
        read.fail({RefusalCode::BadManifest, "provides", parsed->find("provides") != nullptr ? "empty" : "missing",
                   "a list with at least one item", ""});
    }
    for (std::size_t i = 0; i < provides.size() && !read.refusal(); ++i) {
        Provided item = readProvided(read, provides[i], itemPath("provides", i));
        if (out.find(item.interface, item.key) != nullptr) {
            read.fail({RefusalCode::BadManifest, itemPath("provides", i),
                       item.interface + " \"" + item.key + "\" a second time", "each key once", ""});
        }
        out.provides.push_back(std::move(item));
    }
    if (read.refusal()) return *read.refusal();
    return out;
}

}  // namespace weir::module
