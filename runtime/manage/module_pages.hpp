#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/value.hpp"
#include "data/data_set.hpp"
#include "manage/page.hpp"
#include "manage/status_source.hpp"

// What the pages say about modules. Any thread.
namespace weir::manage {

// The stable words of the member "state": "active", "not selected", "refused", "draining"; rows have "waiting" too.
std::string_view toText(ModuleState state);

// The plugins that have data (their own, selectors or rules) which no module takes.
std::set<std::string> waitingPlugins(const data::DataSet& data, const std::vector<ModuleStatus>& modules);

// A row for each key of each module, by interface, order and key; behind them one for each plugin that waits for its
// module and one for each file that is refused (its interface and key are empty). Each has the texts interface, key,
// module, version and state; what else is known: order, file, generation, since, and of a refused one reason, of a
// draining one drainingSeconds.
base::Value moduleRows(const std::vector<ModuleStatus>& modules, const std::set<std::string>& waiting);

// Everything known about the module with that id, else about the module that provides the plugin with that key: the
// generation that serves, or the nearest there is to one, with its "draining" and "refused" companions. 404: neither.
PageReply modulePage(const std::string& id, const std::vector<ModuleStatus>& modules,
                     const std::set<std::string>& waiting, const std::vector<Holder>& holders);

}  // namespace weir::manage
