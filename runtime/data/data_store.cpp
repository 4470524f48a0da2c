#include "data/data_store.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "base/digest.hpp"
#include "data/record_writer.hpp"

namespace weir::data {

namespace {

template <class Record>
std::string hashOf(const Record& record) {
    if constexpr (std::is_same_v<Record, AppAuthData>) {
        return base::sha256Hex(base::toJson(toValue(record, Secrets::Written)));
    } else {
        return base::sha256Hex(base::toJson(toValue(record)));
    }
}

// Calls `visit` with the list of each kind.
template <class Set, class Visit>
void eachList(Set& set, Visit visit) {
    visit(set.plugins);
    visit(set.selectors);
    visit(set.rules);
    visit(set.metadata);
    visit(set.appAuth);
}

auto hasKey(const EntryKey& key) {
    return [&key](const auto& record) { return keyOf(record) == key; };
}

std::vector<PluginData>& listFor(DataSet& set, const PluginData&) { return set.plugins; }
std::vector<SelectorData>& listFor(DataSet& set, const SelectorData&) { return set.selectors; }
std::vector<RuleData>& listFor(DataSet& set, const RuleData&) { return set.rules; }
std::vector<MetaData>& listFor(DataSet& set, const MetaData&) { return set.metadata; }
std::vector<AppAuthData>& listFor(DataSet& set, const AppAuthData&) { return set.appAuth; }

}  // namespace

EntryKey keyOf(const PluginData& plugin) { return {EntryKind::Plugin, plugin.name, plugin.name}; }
EntryKey keyOf(const SelectorData& selector) { return {EntryKind::Selector, selector.pluginName, selector.id}; }
EntryKey keyOf(const RuleData& rule) { return {EntryKind::Rule, rule.pluginName, rule.id}; }
EntryKey keyOf(const MetaData& metaData) { return {EntryKind::MetaData, "", metaData.id}; }
EntryKey keyOf(const AppAuthData& auth) { return {EntryKind::AppAuth, "", auth.appKey}; }

void DataStore::put(PluginData plugin) { putRecord(data_.plugins, std::move(plugin)); }
void DataStore::put(SelectorData selector) { putRecord(data_.selectors, std::move(selector)); }
void DataStore::put(RuleData rule) { putRecord(data_.rules, std::move(rule)); }
void DataStore::put(MetaData metaData) { putRecord(data_.metadata, std::move(metaData)); }
void DataStore::put(AppAuthData auth) { putRecord(data_.appAuth, std::move(auth)); }

template <class Record>
void DataStore::putRecord(std::vector<Record>& list, Record record) {
    const EntryKey key = keyOf(record);
    std::erase_if(list, hasKey(key));
    auto place = std::upper_bound(list.begin(), list.end(), record,
                                  [](const Record& a, const Record& b) { return before(a, b); });
    list.insert(place, std::move(record));
    changed_.insert(key);
}

bool DataStore::remove(const EntryKey& key) {
    if (!erase(key)) return false;
    markRemoved(key);
    return true;
}

void DataStore::cleanPlugin(std::string_view name) {
    auto belongs = [&](const auto& record) {
        const EntryKey key = keyOf(record);
        if (key.plugin != name) return false;
        markRemoved(key);
        return true;
    };
    std::erase_if(data_.plugins, belongs);
    std::erase_if(data_.selectors, belongs);
    std::erase_if(data_.rules, belongs);
}

void DataStore::removeAllPlugins() { removeAll(data_.plugins); }

void DataStore::cleanAll() {
    removeAll(data_.plugins);
    removeAll(data_.selectors);
    removeAll(data_.rules);
}

template <class Record>
void DataStore::removeAll(std::vector<Record>& list) {
    for (const Record& record : list) markRemoved(keyOf(record));
    list.clear();
}

bool DataStore::erase(const EntryKey& key) {
    std::size_t erased = 0;
    eachList(data_, [&](auto& list) { erased += std::erase_if(list, hasKey(key)); });
    return erased > 0;
}

// Only the files could bring the entry back, so only then is there something to remember.
void DataStore::markRemoved(const EntryKey& key) {
    if (fileHashes_.contains(key)) changed_.insert(key);
    else changed_.erase(key);
}

void DataStore::reload(const DataSet& files) {
    const auto hashesBefore = std::exchange(fileHashes_, {});
    eachList(files, [&](const auto& list) {
        for (const auto& record : list) {
            EntryKey key = keyOf(record);
            std::string hash = hashOf(record);
            auto known = hashesBefore.find(key);
            if (known == hashesBefore.end() || known->second != hash) changed_.erase(key);
            fileHashes_.emplace(std::move(key), std::move(hash));
        }
    });
    // What is in force: the files, and over them what calls changed.
    const DataSet dataBefore = std::exchange(data_, files);
    eachList(data_, [&](auto& list) {
        std::erase_if(list, [&](const auto& record) { return changed_.contains(keyOf(record)); });
    });
    std::set<EntryKey> kept;
    eachList(dataBefore, [&](const auto& list) {
        for (const auto& record : list) {
            EntryKey key = keyOf(record);
            if (!changed_.contains(key)) continue;
            listFor(data_, record).push_back(record);
            kept.insert(std::move(key));
        }
    });
    // A removal of what is gone from the files as well is over.
    std::erase_if(changed_, [&](const EntryKey& key) { return !fileHashes_.contains(key) && !kept.contains(key); });
    data_.sortAll();
}

std::vector<SavedChange> DataStore::changes() const {
    std::map<EntryKey, SavedChange> changes;
    for (const EntryKey& key : changed_) {
        auto inFiles = fileHashes_.find(key);
        changes.emplace(key, SavedChange{key, inFiles == fileHashes_.end() ? "" : inFiles->second, {}});
    }
    eachList(data_, [&](const auto& list) {
        for (const auto& record : list) {
            auto change = changes.find(keyOf(record));
            if (change != changes.end()) change->second.content = record;
        }
    });
    std::vector<SavedChange> sorted;
    for (auto& [key, change] : changes) sorted.push_back(std::move(change));
    return sorted;
}

void DataStore::restore(std::vector<SavedChange> saved) {
    std::erase_if(saved, [&](const SavedChange& change) {
        auto inFiles = fileHashes_.find(change.key);
        if (inFiles != fileHashes_.end()) return inFiles->second != change.fileHash;
        return std::holds_alternative<std::monostate>(change.content);
    });
    for (const SavedChange& change : saved) changed_.insert(change.key);
    eachList(data_, [&](auto& list) {
        std::erase_if(list, [&](const auto& record) { return changed_.contains(keyOf(record)); });
    });
    for (SavedChange& change : saved) {
        std::visit(
            [&](auto& record) {
                if constexpr (!std::is_same_v<std::decay_t<decltype(record)>, std::monostate>) {
                    listFor(data_, record).push_back(std::move(record));
                }
            },
            change.content);
    }
    data_.sortAll();
}

}  // namespace weir::data
