#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "cache_store.hpp"
#include "weir/fields.hpp"

namespace weir::cache {

// ShenYu's PluginData.config, with the bounds that its memory variant lacks.
struct CacheConfig {
    std::string cacheType = "memory";
    std::uint64_t maxBytes = 64 << 20;
    std::uint64_t maxBodyBytes = 1 << 20;
    static constexpr auto fields = weir::fields(
        weir::field("cacheType", &CacheConfig::cacheType).oneOf("memory").about("where responses are kept"),
        weir::field("maxBytes", &CacheConfig::maxBytes).range(1, 1e12).about("of all kept responses together"),
        weir::field("maxBodyBytes", &CacheConfig::maxBodyBytes).range(1, 1e9).about("a longer body is not kept"));

    std::unique_ptr<CacheStore> store;  // made when the config is prepared: another config begins with an empty one
};

// The selector's handle has the keys of the config in ShenYu; of these only the kind matters for a memory cache.
struct CacheSelector {
    std::string cacheType = "memory";
    static constexpr auto fields = weir::fields(
        weir::field("cacheType", &CacheSelector::cacheType).oneOf("memory").about("where responses are kept"));
};

struct CacheRule {
    std::uint32_t timeoutSeconds = 60;
    static constexpr auto fields = weir::fields(weir::field("timeoutSeconds", &CacheRule::timeoutSeconds)
                                                    .range(1, 4294967295.0)
                                                    .about("the longest that a response is kept"));
};

}  // namespace weir::cache
