#pragma once

#include "base/loop_counter.hpp"

namespace weir::chain {

// What became of a plugin's part in the requests of one loop. Each time it is entered ends in one of the four that
// follow; those that have not yet are entered less the others.
struct alignas(64) PluginCounters {
    base::LoopCounter entered;
    base::LoopCounter forwarded;  // the request went on, and it left the response to others
    base::LoopCounter replied;    // the response is its own
    base::LoopCounter failed;     // it failed, or broke the contract
    base::LoopCounter dropped;    // the client went, or a deadline passed, while it waited
    base::LoopCounter unmatched;  // it was not entered, and that ended the request (-107 or -102)
};

}  // namespace weir::chain
