#pragma once

#include <cstdint>
#include <string_view>

#include "weir/host.hpp"

namespace weir {

// The conditions of one selector or rule, to be asked for one request. Valid until match() returns.
class Conditions {
public:
    explicit Conditions(const weir_conditions* raw) : raw_(raw) {}

    std::uint32_t size() const noexcept { return raw_->count; }
    // Whether condition `index` holds; false for one that there is not. Each call judges it anew: ask once.
    bool holds(std::uint32_t index) const noexcept { return raw_->holds(raw_, index) != 0; }

private:
    const weir_conditions* raw_;
};

// A match mode: what the conditions have to say for their selector or rule to match (ShenYu's MatchStrategy). T is
// default constructed, once, on the control thread.
class MatchStrategy {
public:
    virtual ~MatchStrategy() = default;
    // Any loop's thread, several at once. Must not block. An exception is logged, and nothing matches.
    virtual bool match(const Conditions& conditions) const = 0;

protected:
    MatchStrategy() = default;
    Host host() const { return Host(); }
};

namespace detail {

// The C table of a match mode's class.
class MatchStrategyTable {
public:
    template <class T>
    static weir_match_strategy make(std::string_view key) {
        return {sizeof(weir_match_strategy), 0, str(key), &create<T>, &destroy, &match};
    }

private:
    template <class T>
    static weir_status create(const weir_host* host, void** state, weir_error* error) noexcept {
        if (const weir_status adopted = adoptHost(host, error); adopted != WEIR_OK) return adopted;
        return guarded(error, [&] {
            *state = static_cast<MatchStrategy*>(new T);
            return WEIR_OK;
        });
    }
    static void destroy(void* state) noexcept { delete static_cast<MatchStrategy*>(state); }
    static std::int32_t match(void* state, const weir_conditions* conditions) noexcept {
        const auto* strategy = static_cast<const MatchStrategy*>(state);
        return answerOr(false, "match", [&] { return strategy->match(Conditions(conditions)); });
    }
};

}  // namespace detail

}  // namespace weir
