#include "upstream/server_state.hpp"

#include <algorithm>

namespace weir::upstream {

namespace {
constexpr auto kRelaxed = std::memory_order_relaxed;
constexpr std::int64_t kSmoothing = 8;  // a call moves the latency by an eighth of the difference
}  // namespace

ServerState::~ServerState() {
    setUnhealthy(false);
    if (ejected()) out->fetch_sub(1, kRelaxed);
}

void ServerState::setUnhealthy(bool now) {
    if (unhealthy.exchange(now, kRelaxed) == now) return;
    if (now) out->fetch_add(1, kRelaxed);
    else out->fetch_sub(1, kRelaxed);
}

void ServerState::callBegan() {
    inFlight.fetch_add(1, kRelaxed);
    calls.fetch_add(1, kRelaxed);
}

void ServerState::callEnded() { inFlight.fetch_sub(1, kRelaxed); }

// Two loops may smooth at a time; then one of the two calls goes unseen.
bool ServerState::callAnswered(std::uint64_t tookNs, std::uint64_t nowNs) {
    const auto before = static_cast<std::int64_t>(latencyNs.load(kRelaxed));
    const std::int64_t change = static_cast<std::int64_t>(tookNs) - before;
    latencyNs.store(before ? static_cast<std::uint64_t>(before + change / kSmoothing) : tookNs, kRelaxed);
    if (failuresInRow.load(kRelaxed)) failuresInRow.store(0, kRelaxed);
    if (!ejected() || ejectedUntilNs.exchange(0, kRelaxed) == 0) return false;
    returnedNs_.store(nowNs, kRelaxed);
    out->fetch_sub(1, kRelaxed);
    return true;
}

std::chrono::nanoseconds ServerState::callFailed(std::uint64_t nowNs, const EjectionPolicy& policy) {
    failures.fetch_add(1, kRelaxed);
    const std::uint32_t inRow = failuresInRow.fetch_add(1, kRelaxed) + 1;
    if (policy.failures == 0) return {};
    const std::uint64_t until = ejectedUntilNs.load(kRelaxed);
    // Calls that began before the ejection, and those made because nobody else was left, do not make the rest longer.
    const bool due = until ? onTrial_.exchange(false, kRelaxed) : inRow >= policy.failures;
    return due ? eject(until, nowNs, policy) : std::chrono::nanoseconds{};
}

// `since` is what ejectedUntilNs was when that was decided: if another loop was faster, its decision stands.
std::chrono::nanoseconds ServerState::eject(std::uint64_t since, std::uint64_t nowNs, const EjectionPolicy& policy) {
    const auto max = static_cast<std::uint64_t>(policy.max.count());
    const bool anew = !since && nowNs >= returnedNs_.load(kRelaxed) + max;  // another loop's time may be later
    const std::uint32_t times = anew ? 1 : ejections_.load(kRelaxed) + 1;
    const std::uint64_t rest = std::min(static_cast<std::uint64_t>(policy.base.count()) * times, max);
    if (!ejectedUntilNs.compare_exchange_strong(since, nowNs + rest, kRelaxed)) return {};
    ejections_.store(times, kRelaxed);
    restNs_.store(rest, kRelaxed);
    if (!since) {
        onTrial_.store(false, kRelaxed);
        out->fetch_add(1, kRelaxed);
    }
    return std::chrono::nanoseconds(rest);
}

void ServerState::callDropped(std::uint64_t nowNs) {
    std::uint64_t until = ejectedUntilNs.load(kRelaxed);
    if (until && onTrial_.exchange(false, kRelaxed)) ejectedUntilNs.compare_exchange_strong(until, nowNs, kRelaxed);
}

bool ServerState::takeTrial(std::uint64_t nowNs) {
    std::uint64_t until = ejectedUntilNs.load(kRelaxed);
    if (!until || until > nowNs) return false;
    if (!ejectedUntilNs.compare_exchange_strong(until, nowNs + restNs_.load(kRelaxed), kRelaxed)) return false;
    onTrial_.store(true, kRelaxed);
    return true;
}

}  // namespace weir::upstream
