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

auto& listFor(DataSet& set, const PluginData&) { return set.plugins.edit(); }
auto& listFor(DataSet& set, const SelectorData&) { return set.selectors.edit(); }
auto& listFor(DataSet& set, const RuleData&) { return set.rules.edit(); }
auto& listFor(DataSet& set, const MetaData&) { return set.metadata.edit(); }
auto& listFor(DataSet& set, const AppAuthData&) { return set.appAuth.edit(); }

// Whether it is the entry of that plugin and id; asked of each of a hundred thousand, so no key is made.
bool is(const PluginData& record, std::string_view, std::string_view id) { return record.name == id; }
bool is(const SelectorData& record, std::string_view plugin, std::string_view id) {
    return record.id == id && record.pluginName == plugin;
}
bool is(const RuleData& record, std::string_view plugin, std::string_view id) {
    return record.id == id && record.pluginName == plugin;
}
bool is(const MetaData& record, std::string_view, std::string_view id) { return record.id == id; }
bool is(const AppAuthData& record, std::string_view, std::string_view id) { return record.appKey == id; }

// Takes the entry out of its list; false: it is not there.
template <class Record>
bool eraseFrom(SharedList<Record>& list, const EntryKey& key) {
    const auto found = std::ranges::find_if(list, [&](const Record& record) { return is(record, key.plugin, key.id); });
    if (found == list.end()) return false;
    const auto position = found - list.begin();
    auto& records = list.edit();
    records.erase(records.begin() + position);
    return true;
}

bool erase(DataSet& set, const EntryKey& key) {
    switch (key.kind) {
        case EntryKind::Plugin: return eraseFrom(set.plugins, key);
        case EntryKind::Selector: return eraseFrom(set.selectors, key);
        case EntryKind::Rule: return eraseFrom(set.rules, key);
        case EntryKind::MetaData: return eraseFrom(set.metadata, key);
        case EntryKind::AppAuth: return eraseFrom(set.appAuth, key);
    }
    return false;
}

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
void DataStore::putRecord(SharedList<Record>& list, Record record) {
    const EntryKey key = keyOf(record);
    eraseFrom(list, key);
    Shared<Record> entry(std::move(record), true);
    auto& records = list.edit();
    const auto place = std::upper_bound(records.begin(), records.end(), entry,
                                        [](const auto& a, const auto& b) { return before(*a, *b); });
    records.insert(place, std::move(entry));
    removed_.erase(key);
}

bool DataStore::remove(const EntryKey& key) {
    if (!erase(data_, key)) return false;
    markRemoved(key);
    return true;
}

void DataStore::cleanPlugin(std::string_view name) {
    auto belongs = [&](const auto& record) {
        const EntryKey key = keyOf(*record);
        if (key.plugin != name) return false;
        markRemoved(key);
        return true;
    };
    std::erase_if(data_.plugins.edit(), belongs);
    std::erase_if(data_.selectors.edit(), belongs);
    std::erase_if(data_.rules.edit(), belongs);
}

void DataStore::removeAllPlugins() { removeAll(data_.plugins); }

void DataStore::cleanAll() {
    removeAll(data_.plugins);
    removeAll(data_.selectors);
    removeAll(data_.rules);
}

template <class Record>
void DataStore::removeAll(SharedList<Record>& list) {
    for (const Record& record : list) markRemoved(keyOf(record));
    list = {};
}

// Only the files could bring the entry back, so only then is there something to remember.
void DataStore::markRemoved(const EntryKey& key) {
    if (fileHashes_->contains(key)) removed_.insert(key);
}

void DataStore::reload(const DataSet& files) {
    const auto hashesBefore = fileHashes_;
    const DataSet dataBefore = std::exchange(data_, {});
    Hashes hashes;
    std::set<EntryKey> overridden;  // by calls, and still so: the files say of these what they said before
    eachList(files, [&](const auto& list) {
        for (const auto& record : list) {
            EntryKey key = keyOf(*record);
            std::string hash = hashOf(*record);
            const auto known = hashesBefore->find(key);
            if (known == hashesBefore->end() || known->second != hash) removed_.erase(key);
            else overridden.insert(key);
            hashes.emplace(std::move(key), std::move(hash));
        }
    });
    // What calls changed stays, unless the files now say something else about it.
    eachList(dataBefore, [&](const auto& list) {
        for (const auto& record : list) {
            if (!record.fromCall()) continue;
            const EntryKey key = keyOf(*record);
            if (overridden.contains(key) || !hashes.contains(key)) listFor(data_, *record).push_back(record);
        }
    });
    std::set<EntryKey> taken;
    eachList(data_, [&](const auto& list) {
        for (const auto& record : list) taken.insert(keyOf(*record));
    });
    eachList(files, [&](const auto& list) {
        for (const auto& record : list) {
            const EntryKey key = keyOf(*record);
            if (!taken.contains(key) && !removed_.contains(key)) listFor(data_, *record).push_back(record);
        }
    });
    // A removal of what is gone from the files as well is over.
    std::erase_if(removed_, [&](const EntryKey& key) { return !hashes.contains(key); });
    fileHashes_ = std::make_shared<const Hashes>(std::move(hashes));
    data_.sortAll();
}

std::vector<SavedChange> DataStore::changes() const {
    std::map<EntryKey, SavedChange> changes;
    const auto add = [&](EntryKey key, SavedChange::Content content) {
        const auto inFiles = fileHashes_->find(key);
        std::string hash = inFiles == fileHashes_->end() ? "" : inFiles->second;
        changes.emplace(key, SavedChange{key, std::move(hash), std::move(content)});
    };
    for (const EntryKey& key : removed_) add(key, {});
    eachList(data_, [&](const auto& list) {
        for (const auto& record : list)
            if (record.fromCall()) add(keyOf(*record), *record);
    });
    std::vector<SavedChange> sorted;
    for (auto& [key, change] : changes) sorted.push_back(std::move(change));
    return sorted;
}

void DataStore::restore(std::vector<SavedChange> saved) {
    std::erase_if(saved, [&](const SavedChange& change) {
        const auto inFiles = fileHashes_->find(change.key);
        if (inFiles != fileHashes_->end()) return inFiles->second != change.fileHash;
        return std::holds_alternative<std::monostate>(change.content);
    });
    std::set<EntryKey> changed;
    for (const SavedChange& change : saved) changed.insert(change.key);
    eachList(data_, [&](auto& list) {
        std::erase_if(list.edit(), [&](const auto& record) { return changed.contains(keyOf(*record)); });
    });
    for (SavedChange& change : saved) {
        std::visit(
            [&](auto& record) {
                if constexpr (std::is_same_v<std::decay_t<decltype(record)>, std::monostate>) {
                    removed_.insert(change.key);
                } else {
                    auto& list = listFor(data_, record);
                    list.emplace_back(std::move(record), true);
                }
            },
            change.content);
    }
    data_.sortAll();
}

}  // namespace weir::data
