#include "cache_store.hpp"

#include <algorithm>
#include <utility>

namespace weir::cache {

namespace {

constexpr std::size_t kShards = 16;

// As many as leave room for several of the largest in each.
std::size_t shardCount(std::size_t maxBytes, std::size_t maxBodyBytes) {
    return std::clamp<std::size_t>(maxBytes / (4 * std::max<std::size_t>(maxBodyBytes, 1)), 1, kShards);
}

std::size_t bytesOf(std::string_view key, const CachedResponse& response) { return key.size() + response.bytes(); }

bool sameSelection(const CachedResponse& a, const CachedResponse& b) {
    return a.selecting == b.selecting && a.forEveryone == b.forEveryone;
}

}  // namespace

CacheStore::CacheStore(std::size_t maxBytes, std::size_t maxBodyBytes)
    : shards_(shardCount(maxBytes, maxBodyBytes)), shardBytes_(maxBytes / shards_.size()) {}

std::shared_ptr<const CachedResponse> CacheStore::find(std::string_view key, const FieldViews& request,
                                                        bool personal) {
    Shard& shard = shardOf(key);
    const std::unique_lock lock(shard.mutex, std::try_to_lock);
    if (!lock) return nullptr;
    const auto slot = shard.slots.find(key);
    if (slot == shard.slots.end()) return nullptr;
    const auto now = Clock::now();
    for (const auto& response : slot->second.responses) {
        if (response->fresh <= now || (personal && !response->forEveryone) || !response->selects(request)) continue;
        shard.uses.splice(shard.uses.begin(), shard.uses, slot->second.use);
        return response;
    }
    return nullptr;
}

void CacheStore::put(std::string key, std::shared_ptr<const CachedResponse> response, std::uint64_t erases) {
    const std::size_t bytes = bytesOf(key, *response);
    if (bytes > shardBytes_) return;
    Shard& shard = shardOf(key);
    const std::unique_lock lock(shard.mutex, std::try_to_lock);
    if (!lock || shard.erases.load(std::memory_order_relaxed) != erases) return;
    const auto [found, fresh] = shard.slots.try_emplace(std::move(key));
    Slot& slot = found->second;
    if (fresh) slot.use = shard.uses.insert(shard.uses.begin(), found->first);
    else shard.uses.splice(shard.uses.begin(), shard.uses, slot.use);
    const auto now = Clock::now();
    std::erase_if(slot.responses, [&](const auto& old) {
        if (old->fresh > now && !sameSelection(*old, *response)) return false;
        shard.bytes -= bytesOf(found->first, *old);
        return true;
    });
    if (slot.responses.size() == kVariants) {
        shard.bytes -= bytesOf(found->first, *slot.responses.front());
        slot.responses.erase(slot.responses.begin());
    }
    slot.responses.push_back(std::move(response));
    shard.bytes += bytes;
    while (shard.bytes > shardBytes_) drop(shard, shard.uses.back());
}

void CacheStore::erase(std::string_view key) {
    Shard& shard = shardOf(key);
    const std::lock_guard lock(shard.mutex);
    shard.erases.fetch_add(1, std::memory_order_relaxed);
    if (shard.slots.contains(key)) drop(shard, key);
}

void CacheStore::drop(Shard& shard, std::string_view key) {
    const auto slot = shard.slots.find(key);
    for (const auto& response : slot->second.responses) shard.bytes -= bytesOf(key, *response);
    shard.uses.erase(slot->second.use);
    shard.slots.erase(slot);
}

}  // namespace weir::cache
