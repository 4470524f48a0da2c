#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "match/compiled_entry.hpp"
#include "match/huge_page_allocator.hpp"

namespace weir::match {

class RuleSet;

// Finds the first of many entries that holds without asking each. An entry hangs at the anchors of its conditions: an
// `and` at the one it shares with the fewest others, an `or` once for each; what has no anchor is always asked. A
// request yields a few keys, and only entries that hang there are asked, from the best one on: no condition is ever
// asked twice, and so the time is linear in the request and in the entries. Immutable, any thread; all data is in a few
// flat blocks, so that making and freeing one is cheap. With many entries the time goes into waiting for cold memory, so
// a key leads to its entry in one step, and all that the entry points to is fetched at once in a second.
class EntryIndex {
    static constexpr std::uint32_t kNone = 0xffffffff;

public:
    // An entry as a search needs it, so that it goes straight to the conditions.
    struct Entry {
        Entry() = default;  // never matches
        explicit Entry(const CompiledEntry& of)
            : owner(&of), first(of.conditions.list().data()),
              count(static_cast<std::uint32_t>(of.conditions.list().size())), mode(of.conditions.mode()),
              use(of.rules) {}

        bool holds(const Subject& subject, Work* work) const noexcept {
            if (mode == Conditions::Mode::Strategy) return owner->conditions.hold(subject, work);
            return Conditions::hold({first, count}, mode, subject, work);
        }

        const CompiledEntry* owner = nullptr;
        const Condition* first = nullptr;
        // What its owner needs next when it holds. Fetched while its conditions are asked, all at once.
        const RuleSet* rules = nullptr;
        const Condition* firstOfRule = nullptr;  // if there is one rule only
        std::uint32_t count = 0;
        Conditions::Mode mode = Conditions::Mode::And;
        CompiledEntry::Rules use = CompiledEntry::Rules::Tested;

    private:
        friend class EntryIndex;
        std::uint32_t position = 0;  // the lower wins
        std::uint32_t next = kNone;  // in shared_: the next with the same key, which has a higher position
    };

    EntryIndex() = default;
    // The owners must outlive this.
    explicit EntryIndex(std::vector<Entry> entries);

    // The first in the order they came in whose conditions hold, or null.
    const Entry* first(const Subject& subject, Work* work) const noexcept {
        if (only_.owner) return only_.holds(subject, work) ? &only_ : nullptr;
        return firstOfSeveral(subject, work);
    }
    // Whether there is one entry only, and it holds whenever `other` does.
    bool onlyFollowsFrom(const Entry& other) const;
    // The first condition of an only entry; else null.
    const Condition* onlyCondition() const { return only_.first; }

private:
    // A place of the table, one line of the cache.
    struct alignas(64) Bucket {
        std::uint64_t key = 0;  // 0: free
        Entry entry;            // the first that has the key
    };
    static_assert(sizeof(Bucket) == 64);
    // A value that anchors are about; read once per request.
    struct Slot {
        const ValueSource* source;
        bool equal = false;
        std::uint32_t firstLength = 0;  // in lengths_, ascending
        std::uint32_t lengthCount = 0;
    };
    class Builder;
    struct Search;

    const Entry* firstOfSeveral(const Subject& subject, Work* work) const noexcept;
    std::size_t homeOf(std::uint64_t key) const { return (key >> 32) * table_.size() >> 32; }
    std::size_t behind(std::size_t place) const { return place + 1 == table_.size() ? 0 : place + 1; }
    void askPaths(Search& search) const noexcept;
    void askSlot(const Slot& slot, Search& search) const noexcept;
    void askKey(std::uint64_t key, Search& search) const noexcept;
    void ask(const Entry* entry, Search& search) const noexcept;

    Entry only_;                 // in place of all else when there is one
    std::vector<Entry> always_;  // without anchor; all of them when they are too few for a table
    std::vector<Bucket, HugePageAllocator<Bucket>> table_;  // open addressing, at most half full
    std::vector<Entry> shared_;  // those that are not the first with their key
    std::vector<Slot> slots_;
    std::vector<std::uint32_t> lengths_;
    std::vector<std::uint16_t> rawShapes_;  // see PathShape
    std::vector<std::uint16_t> decodedShapes_;
};

}  // namespace weir::match
