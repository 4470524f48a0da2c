#pragma once

#include "manage/data_control.hpp"
#include "manage/explain_control.hpp"
#include "manage/module_control.hpp"

namespace weir::manage {

// What the management port can change; null: nothing of that kind.
struct Controls {
    DataControl* data = nullptr;
    ModuleControl* modules = nullptr;
    bool upload = false;  // extPlugin.upload: modules come in plugin data
    ExplainControl* explain = nullptr;
};

}  // namespace weir::manage
