#include "manage/local_api.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <string>

#include <Poco/Exception.h>
#include <Poco/URI.h>

#include "base/ascii.hpp"
#include "base/digest.hpp"
#include "base/log.hpp"
#include "data/record_writer.hpp"
#include "manage/local_records.hpp"
#include "manage/module_calls.hpp"
#include "manage/secret_text.hpp"
#include "module/upload.hpp"

namespace weir::manage {

namespace {

using base::Result;
using base::Value;
using data::DataStore;
using data::EntryKey;
using data::EntryKind;
using data::RecordReader;
using module::kSignatureField;

constexpr const char* kSuccess = "success";

PageReply text(std::string text) { return {200, std::move(text), {}, {}, {}}; }

// The parameters of a query; the first of a name counts.
class Query {
public:
    static std::optional<Query> read(std::string_view target) {
        try {
            return Query(Poco::URI(std::string(target)).getQueryParameters());
        } catch (const Poco::Exception&) {
            return std::nullopt;  // an escape that is none
        }
    }

    // "" when it is not there.
    std::string get(std::string_view name) const {
        for (const auto& [key, value] : parameters_) {
            if (key == name) return value;
        }
        return "";
    }

private:
    explicit Query(Poco::URI::QueryParameters parameters) : parameters_(std::move(parameters)) {}

    Poco::URI::QueryParameters parameters_;
};

// One call whose key was right.
struct Call {
    const Controls& controls;
    DataControl& control;
    const PageRequest& request;
    Query query;

    // Runs the edit; `done` is the answer when it went well.
    PageReply change(const std::function<Result<void>(DataStore&)>& edit, std::string done = kSuccess) const {
        auto changed = control.change(edit);
        if (changed) return text(std::move(done));
        return errorPage(changed.error().retryable ? 503 : 400, changed.error().text());
    }

    PageReply remove(const EntryKey& key) const {
        return change([&](DataStore& store) -> Result<void> {
            store.remove(key);
            return {};
        });
    }

    // Reads the body as one record (or several) and hands it on.
    template <class Read, class Use>
    PageReply withBody(Read read, Use use, std::size_t limit = LocalApi::kBodyLimit) const {
        const auto body = readBody(request.body, limit);
        if (!body) return errorPage(413, "The body is larger than " + std::to_string(limit) + " bytes.");
        std::vector<std::string> warnings;
        RecordReader reader("request body", RecordReader::Mode::Lenient, warnings);
        auto tree = base::parseJson(*body);
        if (!tree) {
            return errorPage(400, reader.source() + ":" + tree.error().origin + ": " + tree.error().message);
        }
        auto record = read(*tree, reader);
        for (const std::string& warning : warnings) base::logWarning(warning);
        if (!record) return errorPage(400, record.error().text());
        return use(*record);
    }

    // The body's record goes in as it is.
    template <class Read>
    PageReply put(Read read) const {
        return withBody(read, [this](const auto& record) {
            return change([&](DataStore& store) -> Result<void> {
                store.put(record);
                return {};
            });
        });
    }
};

PageReply missing(const char* parameter) {
    return errorPage(400, "The query parameter " + std::string(parameter) + " is missing.");
}

// ---- plugins ----

PageReply cleanAll(const Call& call) {
    return call.change([](DataStore& store) -> Result<void> {
        store.cleanAll();
        return {};
    });
}

PageReply cleanPlugin(const Call& call) {
    const std::string name = call.query.get("name");
    if (name.empty()) return missing("name");
    return call.change([&](DataStore& store) -> Result<void> {
        store.cleanPlugin(name);
        return {};
    });
}

// What a call sends of a module beside the plugin's data; null counts as absent.
struct Sent {
    std::optional<std::string> jar;
    std::optional<std::string> signature;

    explicit Sent(const Value& plugin) : jar(textOf(plugin, "pluginJar")), signature(textOf(plugin, kSignatureField)) {}

private:
    static std::optional<std::string> textOf(const Value& plugin, std::string_view field) {
        const Value* found = plugin.isObject() ? plugin.find(field) : nullptr;
        if (!found || found->isNull()) return std::nullopt;
        return found->text();
    }
};

// The module that comes along serves first: its plugin may be what the data is for.
std::optional<PageReply> install(const Call& call, const Sent& sent) {
    if (!sent.jar) return errorPage(400, std::string(kSignatureField) + " is there without pluginJar.");
    auto bytes = module::decodeModule(*sent.jar);
    if (!bytes.ok()) return refusalPage(bytes.error());
    std::optional<std::string> signature;
    if (sent.signature) {
        auto decoded = module::decodeSignature(*sent.signature);
        if (!decoded.ok()) return refusalPage(decoded.error());
        signature = std::move(decoded).value();
    }
    const auto installed = call.controls.modules->install(std::move(bytes).value(), std::move(signature));
    if (!installed.ok()) {
        module::Refusal refusal = installed.error();
        if (refusal.code == module::RefusalCode::Untrusted && !sent.signature)
            refusal.remedy += "; by a key of extPlugin.trust.keys also in pluginJarSignature";
        return refusalPage(refusal);
    }
    base::logInfo("module " + *installed + " was uploaded by call");
    return std::nullopt;
}

PageReply savePlugin(const Call& call) {
    const bool upload = call.controls.upload && call.controls.modules;
    std::optional<Sent> sent;
    const auto read = [&](const Value& tree, RecordReader& reader) {
        sent.emplace(tree);
        return pluginFrom(tree, reader);
    };
    const auto use = [&](const data::PluginData& plugin) {
        if (upload && (sent->jar || sent->signature)) {
            if (auto refused = install(call, *sent)) return *refused;
        } else if (sent->jar && !sent->jar->empty()) {
            base::logWarning("plugin '" + plugin.name + "': pluginJar is ignored: extPlugin.upload is false");
        }
        return call.change([&](DataStore& store) -> Result<void> {
            store.put(plugin);
            return {};
        });
    };
    return call.withBody(read, use, upload ? LocalApi::kUploadLimit : LocalApi::kBodyLimit);
}

PageReply deletePlugin(const Call& call) {
    const std::string name = call.query.get("name");
    if (name.empty()) return missing("name");
    return call.remove({EntryKind::Plugin, name, name});
}

PageReply deleteAllPlugins(const Call& call) {
    return call.change([](DataStore& store) -> Result<void> {
        store.removeAllPlugins();
        return {};
    });
}

PageReply findPlugin(const Call& call) {
    const std::string name = call.query.get("name");
    if (name.empty()) return missing("name");
    std::string found = "can not find this plugin : " + name;
    call.control.read([&](const DataStore& store) {
        const data::PluginData* plugin = store.data().plugin(name);
        if (plugin) found = base::toJson(data::toValue(*plugin));
    });
    return text(std::move(found));
}

// ---- selectors ----

PageReply saveSelector(const Call& call) {
    return call.withBody(selectorFrom, [&](const data::SelectorData& selector) {
        if (selector.pluginName.empty()) return text("Error: please add pluginName!");
        return call.change(
            [&](DataStore& store) -> Result<void> {
                store.put(selector);
                return {};
            },
            selector.id);
    });
}

PageReply deleteSelector(const Call& call) {
    const std::string plugin = call.query.get("pluginName");
    const std::string id = call.query.get("id");
    if (plugin.empty()) return missing("pluginName");
    if (id.empty()) return missing("id");
    return call.remove({EntryKind::Selector, plugin, id});
}

PageReply findSelectors(const Call& call) {
    const std::string plugin = call.query.get("pluginName");
    const std::string id = call.query.get("id");
    if (plugin.empty()) return missing("pluginName");
    std::string found = "Error: can not find selector data by pluginName :" + plugin;
    call.control.read([&](const DataStore& store) {
        const auto selectors = store.data().selectorsOf(plugin);
        if (selectors.empty()) return;
        Value list = Value::array();
        for (const data::SelectorData& selector : selectors) {
            if (id.empty() || selector.id == id) list.append(data::toValue(selector));
        }
        found = base::toJson(list);
    });
    return text(std::move(found));
}

PageReply saveCombined(const Call& call, Result<SelectorWithRules> (*read)(const Value&, RecordReader&)) {
    return call.withBody(read, [&](const SelectorWithRules& combined) {
        if (combined.selector.pluginName.empty()) return text("Error: please add pluginName!");
        return call.change([&](DataStore& store) -> Result<void> {
            store.put(combined.selector);
            for (const data::RuleData& rule : combined.rules) store.put(rule);
            return {};
        });
    });
}

PageReply saveSelectorAndRule(const Call& call) { return saveCombined(call, selectorAndRuleFrom); }
PageReply saveSelectorAndRules(const Call& call) { return saveCombined(call, selectorAndRulesFrom); }

// ---- rules ----

// ShenYu keeps rules by their selector alone, here they belong to a plugin: found where the caller left it out.
template <class Record>
Result<std::string> onlyPlugin(const data::SharedList<Record>& records, std::string Record::*name,
                               const std::string& id, const char* kind) {
    const Record* found = nullptr;
    for (const Record& record : records) {
        if (record.*name != id) continue;
        if (found && found->pluginName != record.pluginName) {
            return base::Error{base::ErrorCode::InvalidConfig, "",
                               "pluginName is missing, and more than one plugin has a " + std::string(kind) + " " + id};
        }
        found = &record;
    }
    if (found) return found->pluginName;
    return base::Error{base::ErrorCode::NotFound, "",
                       "pluginName is missing, and no plugin has a " + std::string(kind) + " " + id};
}

PageReply saveRule(const Call& call) {
    return call.withBody(ruleFrom, [&](const data::RuleData& read) {
        if (read.selectorId.empty()) return text("Error: please add selectorId!");
        return call.change(
            [&](DataStore& store) -> Result<void> {
                data::RuleData rule = read;
                if (rule.pluginName.empty()) {
                    auto plugin = onlyPlugin(store.data().selectors, &data::SelectorData::id, rule.selectorId,
                                             "selector");
                    if (!plugin) return plugin.error();
                    rule.pluginName = *plugin;
                }
                store.put(std::move(rule));
                return {};
            },
            read.id);
    });
}

PageReply deleteRule(const Call& call) {
    const std::string selector = call.query.get("selectorId");
    const std::string id = call.query.get("id");
    const std::string plugin = call.query.get("pluginName");
    if (selector.empty()) return missing("selectorId");
    if (id.empty()) return missing("id");
    return call.change([&](DataStore& store) -> Result<void> {
        std::vector<EntryKey> keys;
        for (const data::RuleData& rule : store.data().rules) {
            const bool named = plugin.empty() || rule.pluginName == plugin;
            if (named && rule.selectorId == selector && rule.id == id) keys.push_back(keyOf(rule));
        }
        for (const EntryKey& key : keys) store.remove(key);
        return {};
    });
}

PageReply findRules(const Call& call) {
    const std::string selector = call.query.get("selectorId");
    const std::string id = call.query.get("id");
    if (selector.empty()) return missing("selectorId");
    std::string found = "Error: can not find rule data by selector id :" + selector;
    call.control.read([&](const DataStore& store) {
        Value list = Value::array();
        bool any = false;
        for (const data::RuleData& rule : store.data().rules) {
            if (rule.selectorId != selector) continue;
            any = true;
            if (id.empty() || rule.id == id) list.append(data::toValue(rule));
        }
        if (any) found = base::toJson(list);
    });
    return text(std::move(found));
}

// ---- app auth and metadata ----

PageReply saveAuth(const Call& call) {
    return call.put([](const Value& body, RecordReader& reader) { return reader.readAppAuth(body); });
}

PageReply deleteAuth(const Call& call) {
    const std::string key = call.query.get("appKey");
    if (key.empty()) return missing("appKey");
    return call.remove({EntryKind::AppAuth, "", key});
}

PageReply saveMetaData(const Call& call) { return call.put(metaDataFrom); }

// By its id; else by what ShenYu knows it by.
PageReply deleteMetaData(const Call& call) {
    const std::string id = call.query.get("id");
    const std::string path = call.query.get("path");
    const std::string rpcType = call.query.get("rpcType");
    if (!id.empty()) return call.remove({EntryKind::MetaData, "", id});
    if (path.empty()) return missing("id or path");
    if (rpcType.empty()) return missing("rpcType");
    return call.change([&](DataStore& store) -> Result<void> {
        std::vector<EntryKey> keys;
        for (const data::MetaData& metaData : store.data().metadata) {
            if (metaData.path == path && metaData.rpcType == rpcType) keys.push_back(keyOf(metaData));
        }
        for (const EntryKey& key : keys) store.remove(key);
        return {};
    });
}

struct Route {
    std::string_view method;
    std::string_view path;
    PageReply (*answer)(const Call&);
};

constexpr Route kRoutes[] = {
    {"GET", "/shenyu/cleanAll", cleanAll},
    {"GET", "/shenyu/cleanPlugin", cleanPlugin},
    {"POST", "/shenyu/plugin/saveOrUpdate", savePlugin},
    {"GET", "/shenyu/plugin/delete", deletePlugin},
    {"GET", "/shenyu/plugin/deleteAll", deleteAllPlugins},
    {"GET", "/shenyu/plugin/findByName", findPlugin},
    {"POST", "/shenyu/plugin/selector/saveOrUpdate", saveSelector},
    {"GET", "/shenyu/plugin/selector/delete", deleteSelector},
    {"GET", "/shenyu/plugin/selector/findList", findSelectors},
    {"POST", "/shenyu/plugin/selectorAndRule", saveSelectorAndRule},
    {"POST", "/shenyu/plugin/selectorAndRules", saveSelectorAndRules},
    {"POST", "/shenyu/plugin/rule/saveOrUpdate", saveRule},
    {"GET", "/shenyu/plugin/rule/delete", deleteRule},
    {"GET", "/shenyu/plugin/rule/findList", findRules},
    {"POST", "/shenyu/auth/saveOrUpdate", saveAuth},
    {"GET", "/shenyu/auth/delete", deleteAuth},
    {"POST", "/shenyu/meta/saveOrUpdate", saveMetaData},
    {"GET", "/shenyu/meta/delete", deleteMetaData},
};

}  // namespace

LocalApi::LocalApi(const Controls& controls, const config::Secret& sha512Key)
    : controls_(controls), sha512Key_(base::toLower(sha512Key.reveal())) {}

PageReply LocalApi::answer(const PageRequest& request) const {
    if (sha512Key_.empty()) {
        return errorPage(403, "These calls are closed: set weir.local.sha512Key to the SHA-512 of a key, in hex.");
    }
    if (!sameSecret(base::sha512Hex(request.localKey), sha512Key_.reveal())) {
        return errorPage(403, "The key is not correct.");
    }
    const std::string_view path = request.target.substr(0, request.target.find('?'));
    const auto* route = std::ranges::find(kRoutes, path, &Route::path);
    if (route == std::end(kRoutes)) return errorPage(404, "There is no such call.");
    if (request.method != route->method) {
        return wrongMethod(route->method, "This call takes " + std::string(route->method) + ".");
    }
    auto query = Query::read(request.target);
    if (!query) return errorPage(400, "The query cannot be read.");
    return route->answer(Call{controls_, *controls_.data, request, std::move(*query)});
}

}  // namespace weir::manage
