#include "least_active_balancer.hpp"

#include "least.hpp"

namespace weir::balance {

int LeastActiveBalancer::pick(const PickRequest& request) noexcept {
    const auto cost = [this](std::size_t i) { return static_cast<double>(inFlightWithThis(i)); };
    const int index = leastOf(size(), request, cost, [](std::size_t) { return std::uint64_t{1}; });
    return index < 0 ? -1 : begin(static_cast<std::size_t>(index), now());
}

}  // namespace weir::balance
