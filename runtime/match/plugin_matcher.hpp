#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "match/compiled_entry.hpp"
#include "match/entry_index.hpp"
#include "match/explanation.hpp"

namespace weir::match {

// Which of several entries that match wins. Best: the most `and` conditions, then the lowest sort, then the lowest id
// (fact sheet 3.7). First: the lowest sort, then the lowest id, as ShenYu 2.4 (weir.compat.match).
enum class Order { Best, First };

// The rules of one selector, sorted and indexed. Immutable, any thread. Building one costs the more the more rules it
// has, but compiles none: entries are shared with the set it replaces.
class RuleSet {
public:
    // Control thread. Fastest when the rules come sorted by (sort, id).
    static std::shared_ptr<const RuleSet> build(std::vector<std::shared_ptr<const CompiledRule>> rules, Order order);

    // The one that wins; null if none matches.
    const CompiledRule* choose(const Subject& subject, Work* work = nullptr) const noexcept;
    // The last by sort, then id; null if there is none.
    const CompiledRule* last() const { return last_; }
    const std::vector<std::shared_ptr<const CompiledRule>>& rules() const { return rules_; }  // best first

private:
    friend class PluginMatcher;

    EntryIndex index_;
    std::vector<std::shared_ptr<const CompiledRule>> rules_;
    const CompiledRule* last_ = nullptr;
};

// All selectors and rules of one plugin. Immutable; choose() may be called by any thread, takes no lock and allocates
// nothing but for what Condition says. Results live as long as the matcher.
class PluginMatcher {
public:
    struct Entry {
        std::shared_ptr<const CompiledSelector> selector;
        std::shared_ptr<const RuleSet> rules;  // null: none
    };

    // Control thread, as RuleSet::build. `order` is for the selectors.
    static std::shared_ptr<const PluginMatcher> build(std::vector<Entry> entries, Order order);

    // Fact sheet 3.7, steps 2 and 4 to 9. A full flow selector takes every request and its last rule untested, even one
    // that is disabled or waits; a custom flow selector without conditions takes none.
    Choice choose(const Subject& subject, Work* work = nullptr) const noexcept;

    // Why choose() chooses as it does: the first `limit` selectors and rules of the chosen selector, best first, and
    // the winners if they come later. Evaluates each of them; any thread, but not for every request.
    Explanation explain(const Subject& subject, std::size_t limit) const;

    const std::vector<Entry>& entries() const { return entries_; }  // best first

private:
    EntryIndex index_;
    std::vector<Entry> entries_;
};

}  // namespace weir::match
