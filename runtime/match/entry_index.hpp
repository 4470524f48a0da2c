#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "match/compiled_entry.hpp"

namespace weir::match {

class RuleSet;

// Finds the first of many entries that holds without asking each. An entry hangs at the anchors of its conditions: an
// `and` at the one it shares with the fewest others, an `or` once for each; what has no anchor is always asked. A
// request yields a few keys, and only entries that hang there are asked, from the best one on: no condition is ever
// asked twice, and so the time is linear in the request and in the entries. Immutable, any thread; all data is in a few
// flat blocks, so that making and freeing one is cheap.
class EntryIndex {
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
        std::uint32_t count = 0;
        Conditions::Mode mode = Conditions::Mode::And;
        // What its owner needs next when it holds. Fetched while its conditions are asked, all at once.
        CompiledEntry::Rules use = CompiledEntry::Rules::Tested;
        const RuleSet* rules = nullptr;
        const Condition* firstOfRule = nullptr;  // if there is one rule only
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
    struct Bucket {
        std::uint64_t key = 0;    // 0: free
        std::uint32_t count = 0;
        std::uint32_t begin = 0;  // in positions_; of a single entry its position itself
    };
    // A value that anchors are about; read once per request.
    struct Slot {
        const ValueSource* source;
        bool equal = false;
        std::uint32_t firstLength = 0;  // in lengths_, ascending
        std::uint32_t lengthCount = 0;
    };
    class Builder;
    struct Search;
    static constexpr std::uint32_t kNone = 0xffffffff;

    const Entry* firstOfSeveral(const Subject& subject, Work* work) const noexcept;
    bool scansAll() const { return table_.empty(); }
    void askPaths(Search& search) const noexcept;
    void askSlot(const Slot& slot, Search& search) const noexcept;
    void askKey(std::uint64_t key, Search& search) const noexcept;
    void ask(std::span<const std::uint32_t> positions, Search& search) const noexcept;

    Entry only_;  // in place of entries_ when there is one
    std::vector<Entry> entries_;
    std::vector<Bucket> table_;  // open addressing, a power of two; empty: too few entries for an index
    std::vector<std::uint32_t> positions_;  // of all buckets, ascending in each
    std::vector<std::uint32_t> always_;     // entries without anchor
    std::vector<Slot> slots_;
    std::vector<std::uint32_t> lengths_;
    std::vector<std::uint16_t> rawShapes_;      // see PathShape
    std::vector<std::uint16_t> decodedShapes_;
};

}  // namespace weir::match
