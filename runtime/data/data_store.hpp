#pragma once

#include <compare>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "data/data_set.hpp"

namespace weir::data {

enum class EntryKind { Plugin, Selector, Rule, MetaData, AppAuth };

// What an entry is known by: selectors and rules by plugin and id, plugins by their name (as `plugin` and as `id`),
// metadata by id, app auth by appKey (`plugin` is empty).
struct EntryKey {
    EntryKind kind = EntryKind::Plugin;
    std::string plugin;
    std::string id;

    auto operator<=>(const EntryKey&) const = default;
};

EntryKey keyOf(const PluginData& plugin);
EntryKey keyOf(const SelectorData& selector);
EntryKey keyOf(const RuleData& rule);
EntryKey keyOf(const MetaData& metaData);
EntryKey keyOf(const AppAuthData& auth);

// One thing that a call changed, as it is kept over a restart.
struct SavedChange {
    // No record: the call removed the entry.
    using Content = std::variant<std::monostate, PluginData, SelectorData, RuleData, MetaData, AppAuthData>;

    EntryKey key;
    std::string fileHash;  // of the entry's text in the files then; empty: it was not in them
    Content content;
};

// The data in force and where each entry came from: the files, or a call (from management or sync) since. Between the
// two the last change wins: a call overrides the file's entry, a file's entry whose text changes overrides the call.
// Entries are compared as record_writer writes them, so lines that only moved change nothing. Copyable: edit a copy,
// see whether the plugins take it, keep it or not; copies share what is the same. Control thread.
class DataStore {
public:
    const DataSet& data() const { return data_; }

    // ---- what calls change; an entry that is there is replaced as a whole ----
    void put(PluginData plugin);
    void put(SelectorData selector);
    void put(RuleData rule);
    void put(MetaData metaData);
    void put(AppAuthData auth);
    // Only this entry, as in ShenYu: a selector's rules stay, and serve again when it is back. False: it is not there.
    bool remove(const EntryKey& key);
    void cleanPlugin(std::string_view name);  // with its selectors and rules
    void removeAllPlugins();                  // their own entries only
    void cleanAll();                          // all plugins, selectors and rules; not metadata and app auth

    // ---- what the files say ----
    // A new version of the files (the first one too). Applies entries whose text is not that of the version before;
    // removes entries that are no longer in the files, unless a call changed them since.
    void reload(const DataSet& files);

    // ---- over a restart ----
    // What calls changed and no file overrode since.
    std::vector<SavedChange> changes() const;
    // At start, after reload(): the saved changes over the files, except entries whose file text is another than then.
    void restore(std::vector<SavedChange> saved);

private:
    using Hashes = std::map<EntryKey, std::string>;

    template <class Record>
    void putRecord(SharedList<Record>& list, Record record);
    template <class Record>
    void removeAll(SharedList<Record>& list);
    void markRemoved(const EntryKey& key);

    DataSet data_;
    std::shared_ptr<const Hashes> fileHashes_ = std::make_shared<const Hashes>();  // of every entry in the files
    std::set<EntryKey> removed_;  // by calls, of the entries in the files
};

}  // namespace weir::data
