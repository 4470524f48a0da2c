#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "match/compiled_entry.hpp"

namespace weir::match {

// Finds the first of many entries that holds without asking each. An entry hangs at the anchors of its conditions: an
// `and` at the one it shares with the fewest others, an `or` at all; what has no anchor is always asked. A request
// yields a few keys, and only entries that hang there are asked, from the best one on. Immutable, any thread; all data
// is in a few flat blocks, so that making and freeing one is cheap.
class EntryIndex {
public:
    static constexpr std::uint32_t kNone = 0xffffffff;

    // An entry as a search needs it, so that it goes straight to the conditions.
    struct Entry {
        Entry() = default;  // never matches
        explicit Entry(const Conditions& of)
            : conditions(&of), first(of.list().data()), count(static_cast<std::uint32_t>(of.list().size())),
              mode(of.mode()) {}

        bool holds(const Subject& subject, Work* work) const noexcept {
            if (mode == Conditions::Mode::Strategy) return conditions->hold(subject, work);
            return Conditions::hold({first, count}, mode, subject, work);
        }

        const Conditions* conditions = nullptr;
        const Condition* first = nullptr;
        std::uint32_t count = 0;
        Conditions::Mode mode = Conditions::Mode::And;
        const void* next = nullptr;  // memory that is needed when it holds: fetched while its conditions are asked
    };

    EntryIndex() = default;
    // Positions are those in `entries`. The conditions must outlive this.
    explicit EntryIndex(std::vector<Entry> entries);

    // The smallest position whose conditions hold, or kNone.
    std::uint32_t first(const Subject& subject, Work* work) const noexcept;

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
