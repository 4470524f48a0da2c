#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/data_set.hpp"

namespace weir::gateway {

// Walks two versions of a sorted list side by side. `same(i, j)`: record i of `now` is record j of `before`, the very
// same; `came(i)` and `went(j)`: all others. Records are looked into only where the lists differ.
template <class Record, class Same, class Came, class Went>
void compareLists(std::span<const data::Shared<Record>> before, std::span<const data::Shared<Record>> now, Same same,
                  Came came, Went went) {
    std::size_t i = 0;
    std::size_t j = 0;
    while (i < now.size() || j < before.size()) {
        if (i == now.size()) {
            went(j++);
        } else if (j == before.size()) {
            came(i++);
        } else if (now[i].pointer() == before[j].pointer()) {
            same(i++, j++);
        } else if (data::before(*now[i], *before[j])) {
            came(i++);
        } else {
            went(j++);
        }
    }
}

// What was made of a record before, for each record of now.
template <class Block>
struct Pair {
    const std::shared_ptr<const Block>* before = nullptr;  // of the record with the same id; null: there was none
    bool same = false;                                     // the very same record
};

// `blocks`: what was made of each record of `before`.
template <class Block, class Record>
std::vector<Pair<Block>> pairUp(std::span<const data::Shared<Record>> before,
                                const std::vector<std::shared_ptr<const Block>>& blocks,
                                std::span<const data::Shared<Record>> now) {
    std::vector<Pair<Block>> pairs(now.size());
    std::map<std::string_view, std::size_t> gone;
    std::vector<std::size_t> fresh;
    compareLists(
        before, now, [&](std::size_t i, std::size_t j) { pairs[i] = {&blocks[j], true}; },
        [&](std::size_t i) { fresh.push_back(i); }, [&](std::size_t j) { gone.emplace(before[j]->id, j); });
    for (const std::size_t i : fresh) {
        const auto found = gone.find(now[i]->id);
        if (found != gone.end()) pairs[i].before = &blocks[found->second];
    }
    return pairs;
}

}  // namespace weir::gateway
