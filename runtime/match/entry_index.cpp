#include "match/entry_index.hpp"

#include <algorithm>
#include <bit>
#include <unordered_map>
#include <utility>

#include "match/path_anchor.hpp"

namespace weir::match {
namespace {

// Up to so many entries are asked one after the other: cheaper than making keys.
constexpr std::size_t kScanned = 8;

constexpr std::size_t kAhead = 16;  // how many entries before it is needed memory is fetched

constexpr std::size_t kLine = 64;

void prefetch(const void* memory) { __builtin_prefetch(memory); }

// What a request needs of an object: the beginning, wherever it lies in its lines.
void prefetchBoth(const void* object) {
    if (!object) return;
    prefetch(object);
    prefetch(static_cast<const char*>(object) + kLine);
}

}  // namespace

// Goes over many entries that lie all over the memory: what is needed soon is fetched ahead.
class EntryIndex::Builder {
public:
    explicit Builder(EntryIndex& index) : index_(index) {}

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
        std::uint32_t bucket;  // in table_
        std::uint32_t slot;    // in slots_
        std::uint32_t length;
        std::uint16_t shape;
        Anchor::Kind kind;
    };
    static constexpr std::uint32_t kNoSlot = kNone;

    // Makes of an `or` one entry for each condition, so that whoever is found by one is asked only that one. They
    // have the same owner, so it does not matter which of them holds.
    void spread() {
        auto& entries = index_.entries_;
        const auto isOr = [](const Entry& entry) { return entry.mode == Conditions::Mode::Or; };
        if (std::ranges::none_of(entries, isOr)) return;
        std::vector<Entry> spread;
        for (const Entry& entry : entries) {
            if (!isOr(entry)) {
                spread.push_back(entry);
                continue;
            }
            Entry part = entry;
            part.mode = Conditions::Mode::And;
            part.count = 1;
            for (std::uint32_t i = 0; i < entry.count; ++i, ++part.first) spread.push_back(part);
        }
        entries = std::move(spread);
    }

    // Finds or makes a bucket for each anchor and counts who shares it.
    void collect() {
        hooks_.reserve(index_.entries_.size() * 2);
        for (std::uint32_t i = 0; i < index_.entries_.size(); ++i) {
            if (i + kAhead < index_.entries_.size()) prefetchAnchors(index_.entries_[i + kAhead]);
            if (!index_.entries_[i].owner) continue;
            const std::size_t before = hooks_.size();
            addHooks(i);
            if (hooks_.size() == before) index_.always_.push_back(i);
            several_ |= hooks_.size() > before + 1;
        }
        auto& table = index_.table_;
        table.resize(std::bit_ceil(std::max<std::size_t>(hooks_.size() * 2, 16)));
        for (std::size_t i = 0; i < hooks_.size(); ++i) {
            if (i + kAhead < hooks_.size()) prefetch(&table[hooks_[i + kAhead].key & (table.size() - 1)]);
            hooks_[i].bucket = bucketOf(hooks_[i].key);
            ++table[hooks_[i].bucket].count;
        }
    }

    static void prefetchAnchors(const Entry& entry) {
        if (!entry.owner) return;
        prefetch(&entry.owner->anchors.front());
        prefetch(&entry.owner->anchors.back());
    }

    void addHooks(std::uint32_t entry) {
        const Entry& from = index_.entries_[entry];
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
        hooks_.push_back({anchor.key, entry, 0, slot, anchor.length, anchor.shape, anchor.kind});
    }

    std::uint32_t bucketOf(std::uint64_t key) {
        auto& table = index_.table_;
        const std::size_t mask = table.size() - 1;
        std::size_t at = key & mask;
        while (table[at].key != key && table[at].key != 0) at = (at + 1) & mask;
        table[at].key = key;
        return static_cast<std::uint32_t>(at);
    }

    std::uint32_t slotOf(std::uint64_t id, const Condition& condition) {
        if (id == lastSlotId_ && lastSlot_ != kNoSlot) return lastSlot_;
        const auto [place, isNew] = slotIds_.try_emplace(id, static_cast<std::uint32_t>(index_.slots_.size()));
        if (isNew) index_.slots_.push_back({&condition.source()});
        lastSlotId_ = id;
        return lastSlot_ = place->second;
    }

    // Keeps of each entry's hooks the one it is found by.
    void hang() {
        std::size_t kept = 0;
        for (std::size_t i = 0; i < hooks_.size();) {
            std::size_t end = i;
            std::size_t best = i;
            while (end < hooks_.size() && hooks_[end].entry == hooks_[i].entry) {
                prefetchBucket(end + kAhead);
                if (shared(hooks_[end]) < shared(hooks_[best])) best = end;
                ++end;
            }
            hooks_[kept++] = hooks_[best];
            i = end;
        }
        hooks_.resize(kept);
        for (auto& bucket : index_.table_) bucket.count = 0;
        for (std::size_t i = 0; i < hooks_.size(); ++i) {
            prefetchBucket(i + kAhead);
            ++index_.table_[hooks_[i].bucket].count;
        }
    }

    void prefetchBucket(std::size_t hook) const {
        if (hook < hooks_.size()) prefetch(&index_.table_[hooks_[hook].bucket]);
    }
    std::uint32_t shared(const Hook& hook) const { return index_.table_[hook.bucket].count; }

    void fill() {
        auto& table = index_.table_;
        std::uint32_t end = 0;
        for (auto& bucket : table) {
            bucket.begin = end;
            if (bucket.count > 1) end += bucket.count;
        }
        index_.positions_.resize(end);
        for (std::size_t i = 0; i < hooks_.size(); ++i) {
            prefetchBucket(i + kAhead);
            Bucket& bucket = table[hooks_[i].bucket];
            if (bucket.count == 1) bucket.begin = hooks_[i].entry;
            else index_.positions_[bucket.begin++] = hooks_[i].entry;  // put back below
        }
        for (auto& bucket : table) {
            if (bucket.count > 1) bucket.begin -= bucket.count;
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
    std::vector<Hook> hooks_;
    std::unordered_map<std::uint64_t, std::uint32_t> slotIds_;
    std::uint64_t lastSlotId_ = 0;
    std::uint32_t lastSlot_ = kNoSlot;
    bool several_ = false;  // some entry has more than one anchor
};

struct EntryIndex::Search {
    const Subject& subject;
    Work* work;
    std::uint32_t best = kNone;
};

EntryIndex::EntryIndex(std::vector<Entry> entries) {
    if (entries.size() == 1) {
        only_ = entries.front();
        return;
    }
    entries_ = std::move(entries);
    if (entries_.size() > kScanned) Builder(*this).build();
}

bool EntryIndex::onlyFollowsFrom(const Entry& other) const {
    if (!only_.owner || only_.mode != Conditions::Mode::And || other.mode != Conditions::Mode::And) return false;
    const std::span<const Condition> given(other.first, other.count);
    return std::ranges::all_of(std::span(only_.first, only_.count), [&](const Condition& condition) {
        return std::ranges::any_of(given, [&](const Condition& one) { return one.sameAs(condition); });
    });
}

const EntryIndex::Entry* EntryIndex::firstOfSeveral(const Subject& subject, Work* work) const noexcept {
    if (scansAll()) {
        for (const Entry& entry : entries_) {
            if (entry.owner && entry.holds(subject, work)) return &entry;
        }
        return nullptr;
    }
    Search search{subject, work};
    askPaths(search);
    for (const auto& slot : slots_) askSlot(slot, search);
    ask(always_, search);
    return search.best == kNone ? nullptr : &entries_[search.best];
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
    const std::size_t mask = table_.size() - 1;
    for (std::size_t at = key & mask; table_[at].key != 0; at = (at + 1) & mask) {
        countSteps(1);
        const Bucket& bucket = table_[at];
        if (bucket.key != key) continue;
        const std::uint32_t* positions = bucket.count == 1 ? &bucket.begin : positions_.data() + bucket.begin;
        return ask({positions, bucket.count}, search);
    }
}

void EntryIndex::ask(std::span<const std::uint32_t> positions, Search& search) const noexcept {
    for (const std::uint32_t position : positions) {
        countSteps(1);
        if (position >= search.best) return;
        const Entry& entry = entries_[position];
        prefetchBoth(entry.first);
        prefetchBoth(entry.rules);
        prefetchBoth(entry.firstOfRule);
        if (entry.holds(search.subject, search.work)) search.best = position;
    }
}

}  // namespace weir::match
