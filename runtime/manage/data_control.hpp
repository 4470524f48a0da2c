#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "base/result.hpp"
#include "data/data_store.hpp"

namespace weir::manage {

// Selectors and rules that wait for a module which provides what their conditions name: the reason by plugin and id.
struct WaitingEntries {
    using Reasons = std::map<std::pair<std::string, std::string>, std::string>;

    Reasons selectors;
    Reasons rules;
};

// How the management port reads and changes the data in force. All members are called by any of its threads, also at
// one time; the gateway implements it.
class DataControl {
public:
    virtual ~DataControl() = default;

    // Runs `edit` on a copy of the store on the control thread. When it succeeds and the plugins accept the result,
    // every loop has switched to it when this returns; otherwise nothing has changed and the error says why (retryable:
    // the gateway does not take changes at the moment).
    virtual base::Result<void> change(const std::function<base::Result<void>(data::DataStore&)>& edit) = 0;

    // Shows the store in force; nothing of it may be kept.
    virtual void read(const std::function<void(const data::DataStore&)>& look) const = 0;

    // Of the data in force; never null.
    virtual std::shared_ptr<const WaitingEntries> waiting() const = 0;
};

}  // namespace weir::manage
