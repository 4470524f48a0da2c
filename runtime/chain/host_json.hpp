#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "base/json_edit.hpp"
#include "module/abi_text.hpp"
#include "upstream/control_error.hpp"
#include "weir/abi.h"

namespace weir::chain {

// The host table's changes of JSON texts, for the gateway's table and the probe's. They may throw for want of memory.
struct HostJson {
    static weir_status compile(const weir_host*, const weir_json_edit* edits, std::size_t count, weir_json_edits** out,
                               weir_error* error) {
        auto made = std::make_unique<base::JsonEdits>();
        for (std::size_t i = 0; i < count; ++i) {
            const weir_json_edit& edit = edits[i];
            const base::Result<void> appended = known(edit.change)
                ? made->append({static_cast<base::JsonEdit::Kind>(edit.change), module::view(edit.path),
                                module::view(edit.key), module::view(edit.value)})
                : base::Error{base::ErrorCode::Unsupported, "", "a change that this gateway does not know", false};
            if (appended.ok()) continue;
            error->path = module::view(edit.where);
            error->text = appended.error().message;
            return WEIR_INVALID;
        }
        *out = reinterpret_cast<weir_json_edits*>(made.release());
        return WEIR_OK;
    }
    static void release(weir_json_edits* edits) { delete reinterpret_cast<base::JsonEdits*>(edits); }
    // False: `json` is not JSON. Else what it became is appended to `out`.
    static bool apply(const weir_json_edits* edits, weir_str json, std::string& out) {
        return reinterpret_cast<const base::JsonEdits*>(edits)->apply(module::view(json), out);
    }

private:
    static bool known(std::int32_t change) { return change >= WEIR_JSON_ADD && change <= WEIR_JSON_REMOVE; }

    static_assert(static_cast<int>(base::JsonEdit::Kind::Add) == WEIR_JSON_ADD &&
                  static_cast<int>(base::JsonEdit::Kind::AddList) == WEIR_JSON_ADD_LIST &&
                  static_cast<int>(base::JsonEdit::Kind::Rename) == WEIR_JSON_RENAME &&
                  static_cast<int>(base::JsonEdit::Kind::Remove) == WEIR_JSON_REMOVE);
};

}  // namespace weir::chain
