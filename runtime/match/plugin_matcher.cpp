#include "match/plugin_matcher.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace weir::match {
namespace {

constexpr std::size_t kAhead = 16;  // entries lie all over the memory: what is needed soon is fetched ahead

void prefetchWhole(const Condition* condition) {
    for (std::size_t at = 0; condition && at < sizeof(Condition); at += 64)
        __builtin_prefetch(reinterpret_cast<const char*>(condition) + at);
}

const CompiledRule& compiledOf(const std::shared_ptr<const CompiledRule>& rule) { return *rule; }
const CompiledSelector& compiledOf(const PluginMatcher::Entry& entry) { return *entry.selector; }
const std::string& idOf(const CompiledRule& rule) { return rule.rule.id; }
const std::string& idOf(const CompiledSelector& selector) { return selector.selector.id; }

// What is sorted in place of an entry. Ids are compared only where keys are equal.
struct Place {
    std::uint64_t key;
    std::uint32_t index;
};

std::uint64_t orderKey(const CompiledEntry& entry, Order order) {
    const std::uint64_t sort = static_cast<std::uint32_t>(entry.sort) ^ 0x80000000u;
    const std::uint64_t rank = order == Order::Best ? ~entry.rank : 0;
    return rank << 32 | sort;
}

// Puts those of equal rank together, best first, and else leaves the order as it is: in linear time, as ranks are few.
void groupByRank(std::vector<Place>& places) {
    std::map<std::uint64_t, std::size_t> groups;  // their sizes, then where their next one goes
    for (const Place& place : places) ++groups[place.key >> 32];
    std::size_t end = 0;
    for (auto& [rank, size] : groups) end += std::exchange(size, end);
    std::vector<Place> grouped(places.size());
    for (const Place& place : places) grouped[groups[place.key >> 32]++] = place;
    places = std::move(grouped);
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

// Puts all in the same order.
template <class Item>
void reorder(std::vector<Item>& items, const std::vector<Place>& places) {
    std::vector<Item> sorted;
    sorted.reserve(items.size());
    for (const Place& place : places) sorted.push_back(std::move(items[place.index]));
    items = std::move(sorted);
}

// Sorts the entries and makes of each what its index needs. Each is read once.
template <class Entry>
std::vector<EntryIndex::Entry> arrange(std::vector<Entry>& entries, Order order) {
    std::vector<Place> places;
    std::vector<EntryIndex::Entry> indexed;
    places.reserve(entries.size());
    indexed.reserve(entries.size());
    for (std::size_t i = 0; i < entries.size(); ++i) {
        if (i + kAhead < entries.size()) __builtin_prefetch(&compiledOf(entries[i + kAhead]));
        const CompiledEntry& compiled = compiledOf(entries[i]);
        const bool active = compiled.state == CompiledEntry::State::Active;
        places.push_back({orderKey(compiled, order), static_cast<std::uint32_t>(i)});
        indexed.push_back(active ? EntryIndex::Entry(compiled) : EntryIndex::Entry());
    }
    if (sortPlaces(places, entries)) {
        reorder(entries, places);
        reorder(indexed, places);
    }
    return indexed;
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
    set->index_ = EntryIndex(arrange(set->rules_, order));
    set->last_ = lastOf(set->rules_, order);
    return set;
}

const CompiledRule* RuleSet::choose(const Subject& subject, Work* work) const noexcept {
    const EntryIndex::Entry* found = index_.first(subject, work);
    return found ? static_cast<const CompiledRule*>(found->owner) : nullptr;
}

std::shared_ptr<const PluginMatcher> PluginMatcher::build(std::vector<Entry> entries, Order order) {
    auto matcher = std::make_shared<PluginMatcher>();
    std::vector<EntryIndex::Entry> indexed = arrange(entries, order);
    for (std::size_t i = 0; i < entries.size(); ++i) {
        if (i + kAhead < entries.size()) __builtin_prefetch(entries[i + kAhead].rules.get());
        if (i + kAhead / 2 < entries.size()) {
            if (const RuleSet* next = entries[i + kAhead / 2].rules.get()) prefetchWhole(next->index_.onlyCondition());
            prefetchWhole(indexed[i + kAhead / 2].first);
        }
        const RuleSet* rules = entries[i].rules.get();
        indexed[i].rules = rules;
        if (!rules) continue;
        indexed[i].firstOfRule = rules->index_.onlyCondition();
        // A rule is often there only to carry a handle, with its selector's conditions: they need not be asked again.
        const bool tested = indexed[i].use == CompiledEntry::Rules::Tested;
        if (tested && rules->index_.onlyFollowsFrom(indexed[i])) indexed[i].use = CompiledEntry::Rules::LastUntested;
    }
    matcher->entries_ = std::move(entries);
    matcher->index_ = EntryIndex(std::move(indexed));
    return matcher;
}

Choice PluginMatcher::choose(const Subject& subject, Work* work) const noexcept {
    const EntryIndex::Entry* found = index_.first(subject, work);
    if (!found) return {Choice::NoSelector, nullptr, nullptr};
    const Selector* selector = &static_cast<const CompiledSelector*>(found->owner)->selector;
    if (found->use == CompiledEntry::Rules::Unused) return {Choice::Matched, selector, nullptr};
    const CompiledRule* rule = nullptr;
    if (found->rules) {
        const bool tested = found->use == CompiledEntry::Rules::Tested;
        rule = tested ? found->rules->choose(subject, work) : found->rules->last();
    }
    return {rule ? Choice::Matched : Choice::NoRule, selector, rule ? &rule->rule : nullptr};
}

}  // namespace weir::match
