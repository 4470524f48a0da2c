#include "match/plugin_matcher.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace weir::match {
namespace {

constexpr std::size_t kAhead = 16;  // entries lie all over the memory: what is needed soon is fetched ahead

const CompiledRule& compiledOf(const std::shared_ptr<const CompiledRule>& rule) { return *rule; }
const CompiledSelector& compiledOf(const PluginMatcher::Entry& entry) { return *entry.selector; }
const std::string& idOf(const CompiledRule& rule) { return rule.rule.id; }
const std::string& idOf(const CompiledSelector& selector) { return selector.selector.id; }

// Where an entry stands, with all that sorting and indexing need of it: the entries themselves are read once. Ids are
// compared only where keys are equal.
struct Place {
    std::uint64_t key;
    std::uint32_t index;
    CompiledEntry::Rules rules;
    EntryIndex::Entry entry;
};

std::uint64_t orderKey(const CompiledEntry& entry, Order order) {
    const std::uint64_t sort = static_cast<std::uint32_t>(entry.sort) ^ 0x80000000u;
    const std::uint64_t rank = order == Order::Best ? ~entry.rank : 0;
    return rank << 32 | sort;
}

template <class Entry>
std::vector<Place> placesOf(const std::vector<Entry>& entries, Order order) {
    std::vector<Place> places;
    places.reserve(entries.size());
    for (std::size_t i = 0; i < entries.size(); ++i) {
        if (i + kAhead < entries.size()) __builtin_prefetch(&compiledOf(entries[i + kAhead]));
        const CompiledEntry& compiled = compiledOf(entries[i]);
        const bool active = compiled.state == CompiledEntry::State::Active;
        places.push_back({orderKey(compiled, order), static_cast<std::uint32_t>(i), compiled.rules,
                          active ? EntryIndex::Entry(compiled.conditions) : EntryIndex::Entry()});
    }
    return places;
}

// Puts those of equal rank together, best first, and else leaves the order as it is: in linear time, as ranks are few.
void groupByRank(std::vector<Place>& places) {
    std::map<std::uint64_t, std::vector<Place>> groups;
    for (const Place& place : places) groups[place.key >> 32].push_back(place);
    places.clear();
    for (const auto& [rank, group] : groups) places.insert(places.end(), group.begin(), group.end());
}

// Whoever comes first in this order wins against all behind it, so the first match is the best match. Takes linear time
// for entries that come in this order or by (sort, id). Tells whether any moved.
template <class Entry>
bool sortPlaces(std::vector<Place>& places, const std::vector<Entry>& entries) {
    const auto byKey = [](const Place& a, const Place& b) { return a.key < b.key; };
    const auto byId = [&](const Place& a, const Place& b) {
        return idOf(compiledOf(entries[a.index])) < idOf(compiledOf(entries[b.index]));
    };
    bool moved = !std::ranges::is_sorted(places, byKey);
    if (moved) {
        groupByRank(places);
        if (!std::ranges::is_sorted(places, byKey)) std::ranges::stable_sort(places, byKey);
    }
    for (auto begin = places.begin(); begin != places.end();) {
        const auto end = std::find_if(begin, places.end(), [&](const Place& place) { return place.key != begin->key; });
        if (!std::is_sorted(begin, end, byId)) {
            std::stable_sort(begin, end, byId);
            moved = true;
        }
        begin = end;
    }
    return moved;
}

// Sorts the entries; their places stand in the same order.
template <class Entry>
std::vector<Place> arrange(std::vector<Entry>& entries, Order order) {
    std::vector<Place> places = placesOf(entries, order);
    if (sortPlaces(places, entries)) {
        std::vector<Entry> sorted;
        sorted.reserve(entries.size());
        for (const Place& place : places) sorted.push_back(std::move(entries[place.index]));
        entries = std::move(sorted);
    }
    return places;
}

// The last by (sort, id) of rules that are in order.
const CompiledRule* lastOf(const std::vector<std::shared_ptr<const CompiledRule>>& rules, Order order) {
    if (rules.empty()) return nullptr;
    const auto bySort = [](const auto& a, const auto& b) {
        return std::tie(a->sort, a->rule.id) < std::tie(b->sort, b->rule.id);
    };
    if (order == Order::First) return rules.back().get();
    return std::max_element(rules.begin(), rules.end(), bySort)->get();
}

}  // namespace

std::shared_ptr<const RuleSet> RuleSet::build(std::vector<std::shared_ptr<const CompiledRule>> rules, Order order) {
    auto set = std::make_shared<RuleSet>();
    set->rules_ = std::move(rules);
    std::vector<EntryIndex::Entry> indexed;
    indexed.reserve(set->rules_.size());
    for (const Place& place : arrange(set->rules_, order)) indexed.push_back(place.entry);
    set->index_ = EntryIndex(std::move(indexed));
    set->last_ = lastOf(set->rules_, order);
    return set;
}

const CompiledRule* RuleSet::choose(const Subject& subject, Work* work) const noexcept {
    const std::uint32_t position = index_.first(subject, work);
    if (position == EntryIndex::kNone) return nullptr;
    return rules_.size() == 1 ? last_ : rules_[position].get();  // saves a way through memory
}

std::shared_ptr<const PluginMatcher> PluginMatcher::build(std::vector<Entry> entries, Order order) {
    auto matcher = std::make_shared<PluginMatcher>();
    matcher->entries_ = std::move(entries);
    std::vector<EntryIndex::Entry> indexed;
    indexed.reserve(matcher->entries_.size());
    matcher->targets_.reserve(matcher->entries_.size());
    for (const Place& place : arrange(matcher->entries_, order)) {
        const Entry& entry = matcher->entries_[indexed.size()];
        matcher->targets_.push_back({entry.selector.get(), entry.rules.get(), place.rules});
        indexed.push_back(place.entry);
        indexed.back().next = entry.rules.get();
    }
    matcher->index_ = EntryIndex(std::move(indexed));
    return matcher;
}

Choice PluginMatcher::choose(const Subject& subject, Work* work) const noexcept {
    const std::uint32_t position = index_.first(subject, work);
    if (position == EntryIndex::kNone) return {Choice::NoSelector, nullptr, nullptr};
    const Target& target = targets_[position];
    const Selector* selector = &target.selector->selector;
    if (target.use == CompiledEntry::Rules::Unused) return {Choice::Matched, selector, nullptr};
    const CompiledRule* rule = nullptr;
    if (target.rules) {
        rule = target.use == CompiledEntry::Rules::Tested ? target.rules->choose(subject, work) : target.rules->last();
    }
    return {rule ? Choice::Matched : Choice::NoRule, selector, rule ? &rule->rule : nullptr};
}

}  // namespace weir::match
