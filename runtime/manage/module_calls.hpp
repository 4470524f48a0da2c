#pragma once

#include <optional>
#include <string_view>

#include "base/value.hpp"
#include "manage/module_control.hpp"
#include "manage/page.hpp"

namespace weir::manage {

// {"code": "probe_crashed", "field": ..., "found": ..., "wanted": ..., "remedy": ..., "message": all of it in words};
// parts that do not apply are left out.
base::Value toValue(const module::Refusal& refusal);

// 400 with the refusal.
PageReply refusalPage(const module::Refusal& refusal);

// Calls for extension modules: POST /plugins/{id}:reload, :disable, :enable, :rollback, :clear, and POST
// /plugins:validate with a module's bytes as body. nullopt: the path is none of them. 404: no such module; 409: it was
// refused, with the refusal; 503: not now. The caller has checked the token.
std::optional<PageReply> moduleCall(const PageRequest& request, ModuleControl& control);
// Whether the path is one of these calls, which need the token wherever they come from.
bool isModuleCall(std::string_view path);

// GET /plugins/{id}/history; nullopt: the path is another.
std::optional<PageReply> historyPage(std::string_view path, const ModuleControl& control);

}  // namespace weir::manage
