#pragma once

#include <memory>
#include <string>

#include "base/result.hpp"
#include "match/providers.hpp"
#include "module/loaded_module.hpp"
#include "module/manifest.hpp"
#include "weir/abi.h"

namespace weir::gateway {

// A parameter type, an operator or a match strategy of a module, as conditions use it. What was bound to a condition
// keeps the module loaded for as long as the condition is in any snapshot. Control thread.
struct MatchPart {
    std::string interface;
    std::string key;
    // One of them is set.
    std::shared_ptr<const match::ParameterType> parameterType;
    std::shared_ptr<const match::Operator> operation;
    std::shared_ptr<const match::Strategy> strategy;

    // Whether modules provide matching by that interface.
    static bool isInterface(std::string_view interface);
    static base::Result<MatchPart> create(const std::shared_ptr<module::LoadedModule>& module,
                                          const module::Provided& provided, const weir_host& host);

    void addTo(match::Providers& providers) const;
};

}  // namespace weir::gateway
