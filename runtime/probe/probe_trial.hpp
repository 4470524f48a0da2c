#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/value.hpp"
#include "probe/probe_answers.hpp"

namespace weir::probe {

// Loads the module, does with it what the gateway would, short of a request, and unloads it. Says each step, and at the
// end that it passed; the first refusal ends the process. `data` is a list as in module::ProbeInput. Returns whether
// the process may end in the ordinary way, which runs what a module that stays has registered for it.
bool runTrial(const std::filesystem::path& staged, const base::Value& data, std::vector<std::string> balancers,
              ProbeAnswers& answers);

}  // namespace weir::probe
