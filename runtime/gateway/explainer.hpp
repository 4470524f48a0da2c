#pragma once

#include <functional>
#include <memory>

#include "base/result.hpp"
#include "base/value.hpp"
#include "chain/snapshot.hpp"
#include "config/settings.hpp"
#include "manage/explain_control.hpp"

namespace weir::gateway {

// Takes a request that nobody sent through the chain of a snapshot, up to where the upstream would be called, and tells
// of each plugin what its selectors and rules said and why. The plugins run, as they do for a request that is then
// broken off: a balancer picks, a limiter counts. Nothing is sent anywhere.
//
//   {"snapshot":7,"request":{"method","path","query","host","client"},"rpcType":"http","metadata":{...}|null,
//    "plugins":[{"plugin":"divide","outcome":"entered|passed over|no selector|no rule|sent through the chain again",
//                "target": for what it was sent there,"answer":"goes on|waits|...",
//                "uri": what conditions on uri compare, "selector":{"id","name"},"rule":{"id","name"},
//                "selectors":[{"id","name","state","reason","condition":{"number","paramType","operator","paramName",
//                              "paramValue","value"}}],"selectorsTotal":2,"rules":[...],"rulesTotal":1}],
//    "result":"upstream"|"response"|"suspended",
//    "upstream":{"url","path","timeoutMs","retry"},"response":{"status","body"}}
//
// Any thread that is no loop's; blocks for as long as plugins sleep, five seconds at most, or have work offloaded.
// `giveBack` takes the snapshot when it is done with. InvalidConfig: it is no request that the gateway would take.
base::Result<base::Value> explain(const manage::ExplainRequest& request,
                                  std::shared_ptr<const chain::Snapshot> snapshot, const config::Settings& settings,
                                  std::function<void(std::shared_ptr<const chain::Snapshot>)> giveBack);

}  // namespace weir::gateway
