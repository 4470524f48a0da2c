#pragma once

#include <memory>
#include <string>
#include <vector>

#include "upstream/control_error.hpp"
#include "upstream/set_catalog.hpp"
#include "upstream/upstream_set.hpp"

namespace weir::upstream::test {

// A balancer that picks the first upstream it may, or the one wished for, and keeps count of what it is told.
struct CountingBalancer {
    struct Done {
        int index;
        std::uint64_t latencyNs;
        bool failed;
        bool operator==(const Done&) const = default;
    };

    int wish = 0;  // where it begins to look
    int picks = 0;
    std::vector<Done> dones;

    int open() const { return picks - static_cast<int>(dones.size()); }

    // `count` upstreams on ports nobody is asked on. The balancer outlives the set.
    std::unique_ptr<UpstreamSet> makeSet(std::size_t count, ServerRegistry& servers) {
        BalancerRegistry balancers;
        balancers.add({"counting", &table(), reinterpret_cast<const weir_host*>(this), nullptr});
        std::vector<std::string> urls;
        std::vector<weir_upstream> list;
        for (std::size_t i = 0; i < count; ++i) urls.push_back("127.0.0.1:" + std::to_string(i + 1));
        for (const std::string& url : urls) {
            weir_upstream one{};
            one.size = sizeof one;
            one.weight = 50;
            one.status = 1;
            one.url = {url.data(), url.size()};
            list.push_back(one);
        }
        SetCatalog catalog;  // it only looks on
        return std::move(UpstreamSet::make(list, balancers, servers, catalog)).value();
    }

private:
    struct State {
        CountingBalancer* owner;
        int size;
    };

    static const weir_load_balancer& table() {
        static const weir_load_balancer made = [] {
            weir_load_balancer table{};
            table.size = sizeof table;
            table.create = [](const weir_host* host, const weir_upstream*, std::size_t count, void** state,
                              weir_error*) {
                auto* owner = reinterpret_cast<CountingBalancer*>(const_cast<weir_host*>(host));
                *state = new State{owner, static_cast<int>(count)};
                return WEIR_OK;
            };
            table.destroy = [](void* state) { delete static_cast<State*>(state); };
            table.pick = [](void* raw, const weir_pick* pick) -> std::int32_t {
                const State& state = *static_cast<State*>(raw);
                for (int step = 0; step < state.size; ++step) {
                    const int i = (state.owner->wish + step) % state.size;
                    if (pick->excluded && (pick->excluded[i / 64] >> (i % 64) & 1)) continue;
                    ++state.owner->picks;
                    return i;
                }
                return -1;
            };
            table.done = [](void* raw, std::int32_t index, std::uint64_t latencyNs, std::int32_t failed) {
                static_cast<State*>(raw)->owner->dones.push_back({index, latencyNs, failed != 0});
            };
            return table;
        }();
        return made;
    }
};

}  // namespace weir::upstream::test
