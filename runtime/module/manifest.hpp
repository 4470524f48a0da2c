#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/value.hpp"
#include "module/refusal.hpp"

namespace weir::module {

// SPI interfaces of this version, as ShenYu names them. A manifest may name others; nobody asks for them.
inline constexpr std::string_view kPluginInterface = "Plugin";
inline constexpr std::string_view kLoadBalancerInterface = "LoadBalancer";
inline constexpr std::string_view kPluginDataHandlerInterface = "PluginDataHandler";
inline constexpr std::string_view kParameterDataInterface = "ParameterData";
inline constexpr std::string_view kPredicateJudgeInterface = "PredicateJudge";
inline constexpr std::string_view kMatchStrategyInterface = "MatchStrategy";

enum class Unload {
    Close,     // may be unloaded when nothing uses it any more
    Resident,  // stays mapped until the gateway stops
};

enum class Matching {
    None,  // called for every request, no data needed
    Rule,  // called with the selector and rule that matched
};

// What happens when no selector or no rule matches (fact sheet 3.8).
enum class Unmatched {
    Pass,   // the chain goes on
    Error,  // the request ends with ShenYu's "can not find selector/rule"
    Call,   // the plugin is called with what it has
};

// One thing a module offers under (interface, key).
struct Provided {
    std::string interface;
    std::string key;

    // Plugin
    std::int32_t order = 0;             // ascending on the way in
    std::vector<std::string> rpcTypes;  // entered for these only; empty: for all
    Matching matching = Matching::None;
    Unmatched unmatched = Unmatched::Pass;

    // LoadBalancer
    bool weighted = false;              // looks at the upstreams' weights
    bool sticky = false;                // equal clients get the same upstream

    // {"config": [...], "selector": [...], "rule": [...]}, each a list of {"name", "type", ...}; or Null.
    base::Value fields;
};

// What a module says about itself without being loaded; the content of its WEIR note.
struct Manifest {
    std::string id;       // letters, digits, '.', '_' and '-'
    std::string version;
    std::uint32_t abi = 0;
    Unload unload = Unload::Close;
    std::vector<Provided> provides;  // (interface, key) occurs once

    const Provided* find(std::string_view interface, std::string_view key) const;
};

// Every member that this version knows is checked; unknown members are ignored, as the format grows by them. The
// refusal names the member, as in "provides[0].order". A manifest for another ABI is read all the same (checkModule
// refuses it); ABI 0, or none, is an AbiMismatch here.
base::Result<Manifest, Refusal> parseManifest(std::string_view json);

}  // namespace weir::module
