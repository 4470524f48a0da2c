#pragma once

#include "manage/data_control.hpp"
#include "manage/explain_control.hpp"
#include "manage/module_control.hpp"
#include "manage/upstream_page.hpp"

namespace weir::manage {

// What the management port can do beside telling how the gateway is; null: nothing of that kind.
struct Controls {
    DataControl* data = nullptr;
    ModuleControl* modules = nullptr;
    bool upload = false;  // extPlugin.upload: modules come in plugin data
    ExplainControl* explain = nullptr;
    const UpstreamSource* upstreams = nullptr;
};

}  // namespace weir::manage
