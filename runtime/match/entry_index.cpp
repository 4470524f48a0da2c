#include "match/entry_index.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <unordered_map>
#include <utility>

#include "match/path_anchor.hpp"

namespace weir::match {
namespace {

// Up to so many entries are asked one after the other: cheaper than making keys.
constexpr std::size_t kScanned = 8;

constexpr std::size_t kRoom = 2;  // places of the table for each entry

constexpr std::size_t kAhead = 16;  // how many entries before it is needed memory is fetched

constexpr std::size_t kLine = 64;

void prefetch(const void* memory) { __builtin_prefetch(memory); }

// What a request needs of an object: the beginning, wherever it lies in its lines.
void prefetchBoth(const void* object) {
    if (!object) return;
    prefetch(object);
    prefetch(static_cast<const char*>(object) + kLine);
}

// How many hooks have a key.
class KeyCounts {
public:
    explicit KeyCounts(std::size_t keys) : table_(std::bit_ceil(keys * 2)) {}

    void expect(std::uint64_t key) const { prefetch(&table_[key & mask()]); }
    std::uint32_t& of(std::uint64_t key) {
        std::size_t at = key & mask();
        while (table_[at].key != key && table_[at].key != 0) at = (at + 1) & mask();
        table_[at].key = key;
        return table_[at].count;
    }

private:
    struct Place {
        std::uint64_t key = 0;  // 0: free
        std::uint32_t count = 0;
    };
    std::size_t mask() const { return table_.size() - 1; }

    std::vector<Place> table_;
};

}  // namespace

// Goes over many entries that lie all over the memory: what is needed soon is fetched ahead.
class EntryIndex::Builder {
public:
    Builder(EntryIndex& index, std::vector<Entry> entries) : index_(index), entries_(std::move(entries)) {}

    void build() {
        spread();
        collect();
        if (several_) hang();
        fill();
        finishSlots();
    }

private:
    // An anchor of an entry, in the order of the entries.
    struct Hook {
        std::uint64_t key;
        std::uint32_t entry;
        std::uint32_t slot;  // in slots_
        std::uint32_t length;
        std::uint16_t shape;
        Anchor::Kind kind;
    };
    static constexpr std::uint32_t kNoSlot = kNone;

    // Makes of an `or` one entry for each condition, so that whoever is found by one is asked only that one. They
    // have the same owner, so it does not matter which of them holds.
    void spread() {
        const auto isOr = [](const Entry& entry) { return entry.mode == Conditions::Mode::Or; };
        if (std::ranges::none_of(entries_, isOr)) return;
        std::vector<Entry> spread;
        for (const Entry& entry : entries_) {
            if (!isOr(entry)) {
                spread.push_back(entry);
                continue;
            }
            Entry part = entry;
            part.mode = Conditions::Mode::And;
            part.count = 1;
            for (std::uint32_t i = 0; i < entry.count; ++i, ++part.first) spread.push_back(part);
        }
        entries_ = std::move(spread);
    }

    void collect() {
        hooks_.reserve(entries_.size());
        for (std::uint32_t i = 0; i < entries_.size(); ++i) {
            if (i + kAhead < entries_.size()) prefetchAnchors(entries_[i + kAhead]);
            if (!entries_[i].owner) continue;
            entries_[i].position = i;
            const std::size_t before = hooks_.size();
            addHooks(i);
            if (hooks_.size() == before) index_.always_.push_back(entries_[i]);
            several_ |= hooks_.size() > before + 1;
        }
    }

    static void prefetchAnchors(const Entry& entry) {
        if (!entry.owner) return;
        prefetch(&entry.owner->anchors.front());
        prefetch(&entry.owner->anchors.back());
    }

    void addHooks(std::uint32_t entry) {
        const Entry& from = entries_[entry];
        if (from.mode != Conditions::Mode::And) return;
        const auto& inlined = from.owner->anchors;
        const auto before = static_cast<std::size_t>(from.first - from.owner->conditions.list().data());
        for (std::uint32_t i = 0; i < from.count; ++i) {
            const bool isInlined = before + i < inlined.size();
            addHook(entry, isInlined ? inlined[before + i] : from.first[i].anchor(), from.first[i]);
        }
    }

    void addHook(std::uint32_t entry, const Anchor& anchor, const Condition& condition) {
        if (anchor.kind == Anchor::Kind::None) return;
        std::uint32_t slot = kNoSlot;
        if (anchor.kind != Anchor::Kind::Path) {
            slot = slotOf(anchor.slot, condition);
            if (!anchor.exact && !index_.slots_[slot].source->sameAs(condition.source())) return;
        }
        hooks_.push_back({anchor.key, entry, slot, anchor.length, anchor.shape, anchor.kind});
    }

    std::uint32_t slotOf(std::uint64_t id, const Condition& condition) {
        if (id == lastSlotId_ && lastSlot_ != kNoSlot) return lastSlot_;
        const auto [place, isNew] = slotIds_.try_emplace(id, static_cast<std::uint32_t>(index_.slots_.size()));
        if (isNew) index_.slots_.push_back({&condition.source()});
        lastSlotId_ = id;
        return lastSlot_ = place->second;
    }

    // Keeps of each entry's hooks the one that it shares with the fewest.
    void hang() {
        KeyCounts counts(hooks_.size());
        for (std::size_t i = 0; i < hooks_.size(); ++i) {
            if (i + kAhead < hooks_.size()) counts.expect(hooks_[i + kAhead].key);
            ++counts.of(hooks_[i].key);
        }
        std::size_t kept = 0;
        std::uint32_t fewest = 0;
        for (std::size_t i = 0; i < hooks_.size(); ++i) {
            if (i + kAhead < hooks_.size()) counts.expect(hooks_[i + kAhead].key);
            const Hook& hook = hooks_[i];
            const std::uint32_t sharing = counts.of(hook.key);
            const bool isNext = kept == 0 || hooks_[kept - 1].entry != hook.entry;
            if (!isNext && sharing >= fewest) continue;
            fewest = sharing;
            hooks_[isNext ? kept++ : kept - 1] = hook;
        }
        hooks_.resize(kept);
    }

    // From the last to the first, so that each comes before those that have the same key.
    void fill() {
        auto& table = index_.table_;
        table.resize(hooks_.size() * kRoom + 1);
        for (std::size_t i = hooks_.size(); i-- > 0;) {
            if (i >= kAhead) prefetchBoth(&table[index_.homeOf(hooks_[i - kAhead].key)]);
            std::size_t at = index_.homeOf(hooks_[i].key);
            while (table[at].key != hooks_[i].key && table[at].key != 0) at = index_.behind(at);
            Entry& entry = entries_[hooks_[i].entry];
            if (table[at].key) {
                entry.next = static_cast<std::uint32_t>(index_.shared_.size());
                index_.shared_.push_back(table[at].entry);
            }
            table[at].key = hooks_[i].key;
            table[at].entry = entry;
        }
    }

    // Notes which values, prefixes and path shapes a request is looked up by.
    void finishSlots() {
        std::vector<std::pair<std::uint32_t, std::uint32_t>> lengths;  // of slots
        std::vector<bool> shapes(0x2000);
        for (const auto& hook : hooks_) {
            if (hook.kind == Anchor::Kind::Equal) {
                index_.slots_[hook.slot].equal = true;
            } else if (hook.kind == Anchor::Kind::Prefix) {
                const std::pair length{hook.slot, hook.length};
                if (lengths.empty() || lengths.back() != length) lengths.push_back(length);
            } else if (!shapes[hook.shape]) {
                shapes[hook.shape] = true;
                auto& list = PathShape::from(hook.shape).decoded ? index_.decodedShapes_ : index_.rawShapes_;
                list.push_back(hook.shape);
            }
        }
        std::ranges::sort(lengths);
        lengths.erase(std::unique(lengths.begin(), lengths.end()), lengths.end());
        for (const auto& [slot, length] : lengths) {
            Slot& of = index_.slots_[slot];
            if (of.lengthCount++ == 0) of.firstLength = static_cast<std::uint32_t>(index_.lengths_.size());
            index_.lengths_.push_back(length);
        }
        std::erase_if(index_.slots_, [](const Slot& slot) { return !slot.equal && slot.lengthCount == 0; });
    }

    EntryIndex& index_;
    std::vector<Entry> entries_;
    std::vector<Hook> hooks_;
    std::unordered_map<std::uint64_t, std::uint32_t> slotIds_;
    std::uint64_t lastSlotId_ = 0;
    std::uint32_t lastSlot_ = kNoSlot;
    bool several_ = false;  // some entry has more than one anchor
};

struct EntryIndex::Search {
    const Subject& subject;
    Work* work;
    const Entry* best = nullptr;
    std::uint32_t limit = kNone;  // only lower positions are better
};

EntryIndex::EntryIndex(std::vector<Entry> entries) {
    if (entries.size() == 1) {
        only_ = entries.front();
    } else if (entries.size() > kScanned) {
        Builder(*this, std::move(entries)).build();
    } else {
        std::ranges::copy_if(entries, std::back_inserter(always_), [](const Entry& entry) { return entry.owner; });
    }
}

bool EntryIndex::onlyFollowsFrom(const Entry& other) const {
    if (!only_.owner || only_.mode != Conditions::Mode::And || other.mode != Conditions::Mode::And) return false;
    const std::span<const Condition> given(other.first, other.count);
    return std::ranges::all_of(std::span(only_.first, only_.count), [&](const Condition& condition) {
        return std::ranges::any_of(given, [&](const Condition& one) { return one.sameAs(condition); });
    });
}

const EntryIndex::Entry* EntryIndex::firstOfSeveral(const Subject& subject, Work* work) const noexcept {
    Search search{subject, work};
    if (!table_.empty()) {
        askPaths(search);
        for (const auto& slot : slots_) askSlot(slot, search);
    }
    for (const Entry& entry : always_) {
        countSteps(1);
        if (entry.position >= search.limit) break;
        if (entry.holds(subject, work)) return &entry;
    }
    return search.best;
}

void EntryIndex::askPaths(Search& search) const noexcept {
    const auto askShapes = [&](const std::vector<std::uint16_t>& shapes, const PathHashes& hashes) {
        for (const std::uint16_t code : shapes) {
            countSteps(1);
            const PathShape shape = PathShape::from(code);
            if (shape.size <= hashes.size) askKey(hashes.key(shape), search);
        }
    };
    if (!rawShapes_.empty()) askShapes(rawShapes_, PathHashes::ofRaw(search.subject.uri()));
    if (!decodedShapes_.empty()) askShapes(decodedShapes_, PathHashes::ofDecoded(search.subject.uri()));
}

void EntryIndex::askSlot(const Slot& slot, Search& search) const noexcept {
    DecodeBuffer buffer;
    const std::string_view value = slot.source->read(search.subject, buffer);
    if (isBlank(value)) return;
    const std::uint64_t id = slot.source->slot();
    Hash hash;
    std::size_t hashed = 0;
    const auto hashUpTo = [&](std::size_t end) {
        hash.add(value.substr(hashed, end - hashed));
        hashed = end;
        return hash.state;
    };
    for (std::uint32_t i = 0; i < slot.lengthCount; ++i) {
        const std::uint32_t length = lengths_[slot.firstLength + i];
        if (length > value.size()) break;
        askKey(prefixKey(id, hashUpTo(length)), search);
    }
    if (slot.equal) askKey(equalKey(id, hashUpTo(value.size())), search);
}

void EntryIndex::askKey(std::uint64_t key, Search& search) const noexcept {
    countSteps(1);
    if (search.work) ++search.work->probes;
    std::size_t at = homeOf(key);
    prefetchBoth(&table_[at]);  // with the next place, as one key in four is not at home
    for (; table_[at].key != 0; at = behind(at)) {
        countSteps(1);
        if (table_[at].key == key) return ask(&table_[at].entry, search);
    }
}

void EntryIndex::ask(const Entry* entry, Search& search) const noexcept {
    while (entry->position < search.limit) {
        countSteps(1);
        prefetchBoth(entry->first);
        prefetchBoth(entry->rules);
        prefetchBoth(entry->firstOfRule);
        if (entry->holds(search.subject, search.work)) {
            search.best = entry;
            search.limit = entry->position;
            return;
        }
        if (entry->next == kNone) return;
        entry = &shared_[entry->next];
    }
}

}  // namespace weir::match
