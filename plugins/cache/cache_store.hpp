#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cached_response.hpp"

namespace weir::cache {

// Responses in memory, by key; those used last stay when there is no more room. All loops share it, none waits for
// another: where a shard is just in use, nothing is found, or kept.
class CacheStore {
public:
    CacheStore(std::size_t maxBytes, std::size_t maxBodyBytes);

    // A fresh response that may answer the request; null: none.
    std::shared_ptr<const CachedResponse> find(std::string_view key, const FieldViews& request, bool personal);
    // Grows with each erase(), of this key or another.
    std::uint64_t erases(std::string_view key) { return shardOf(key).erases.load(std::memory_order_relaxed); }
    // In place of one for the same selecting fields. Nothing when something was erased since `erases`: the response may
    // be from before the change.
    void put(std::string key, std::shared_ptr<const CachedResponse> response, std::uint64_t erases);
    // All responses under the key. It waits for its shard: what is erased must not be served again.
    void erase(std::string_view key);

    static constexpr std::size_t kVariants = 16;  // of one key

private:
    using Responses = std::vector<std::shared_ptr<const CachedResponse>>;
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
    };
    struct Slot {
        Responses responses;
        std::list<std::string_view>::iterator use;
    };
    struct Shard {
        std::mutex mutex;
        std::unordered_map<std::string, Slot, Hash, std::equal_to<>> slots;
        std::list<std::string_view> uses;  // keys, the last used first
        std::size_t bytes = 0;
        std::atomic<std::uint64_t> erases{0};
    };

    Shard& shardOf(std::string_view key) { return shards_[Hash()(key) % shards_.size()]; }
    static void drop(Shard& shard, std::string_view key);

    std::vector<Shard> shards_;
    const std::size_t shardBytes_;
};

}  // namespace weir::cache
