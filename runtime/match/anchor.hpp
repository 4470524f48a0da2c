#pragma once

#include <cstdint>
#include <string_view>

#include "match/steps.hpp"

namespace weir::match {

// What an index finds a condition by: the condition can only hold for a request that yields `key`. Keys are hashes of
// what is compared and of where it comes from, so two anchors may share one by chance; whoever is found is verified.
struct Anchor {
    enum class Kind : std::uint8_t { None, Equal, Prefix, Path };

    Kind kind = Kind::None;
    bool exact = false;        // Equal, Prefix: no two sources share `slot`
    std::uint16_t shape = 0;   // Path: see PathShape
    std::uint32_t length = 0;  // Prefix: bytes
    std::uint64_t slot = 0;    // Equal, Prefix: hash of the value's source
    std::uint64_t key = 0;
};

// FNV-1a: it can be continued, and so gives the hashes of all prefixes of a text in one pass.
struct Hash {
    std::uint64_t state = 0xcbf29ce484222325;

    void add(char c) {
        countSteps(1);
        state = (state ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    }
    void add(std::string_view text) {
        for (const char c : text) add(c);
    }
    static std::uint64_t of(std::string_view text) {
        Hash hash;
        hash.add(text);
        return hash.state;
    }
};

// Spreads `value`, coming from `where`, over all bits; never 0, which marks a free place in tables.
inline std::uint64_t mixKey(std::uint64_t where, std::uint64_t value) {
    std::uint64_t key = (where ^ 0x9e3779b97f4a7c15) * 0xff51afd7ed558ccd ^ value;
    key = (key ^ (key >> 33)) * 0xff51afd7ed558ccd;
    key = (key ^ (key >> 33)) * 0xc4ceb9fe1a85ec53;
    key ^= key >> 33;
    return key ? key : 1;
}

inline std::uint64_t equalKey(std::uint64_t slot, std::uint64_t hash) { return mixKey(slot, hash); }
inline std::uint64_t prefixKey(std::uint64_t slot, std::uint64_t hash) { return mixKey(~slot, hash); }

}  // namespace weir::match
