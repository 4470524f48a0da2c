#include "hash_balancer.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "md5.hpp"

namespace weir::balance {

namespace {

constexpr int kPlacesEach = 5;

std::uint32_t hash(std::string_view text) noexcept {
    const auto digest = md5(text);
    return digest[0] | std::uint32_t{digest[1]} << 8 | std::uint32_t{digest[2]} << 16 | std::uint32_t{digest[3]} << 24;
}

}  // namespace

HashBalancer::HashBalancer(const std::vector<Upstream>& upstreams) {
    // ShenYu puts the places into a map, so of two equal ones the later stays: hence from the back, keeping the first.
    for (std::size_t i = upstreams.size(); i-- > 0;) {
        for (int place = kPlacesEach; place-- > 0;) {
            const std::string text = "SHENYU-" + upstreams[i].url + "-HASH-" + std::to_string(place);
            ring_.push_back({hash(text), static_cast<std::uint32_t>(i)});
        }
    }
    std::stable_sort(ring_.begin(), ring_.end(), [](const Place& a, const Place& b) { return a.hash < b.hash; });
    const auto same = [](const Place& a, const Place& b) { return a.hash == b.hash; };
    ring_.erase(std::unique(ring_.begin(), ring_.end(), same), ring_.end());
}

int HashBalancer::pick(const PickRequest& request) noexcept {
    const std::uint32_t key = hash(request.clientAddress);
    const auto first = std::lower_bound(ring_.begin(), ring_.end(), key,
                                        [](const Place& place, std::uint32_t wanted) { return place.hash < wanted; });
    const auto start = static_cast<std::size_t>(first - ring_.begin());
    for (std::size_t step = 0; step < ring_.size(); ++step) {
        const std::uint32_t index = ring_[(start + step) % ring_.size()].index;
        if (!request.isExcluded(index)) return static_cast<int>(index);
    }
    return -1;
}

}  // namespace weir::balance
