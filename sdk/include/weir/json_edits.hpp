#pragma once

#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weir/exchange.hpp"
#include "weir/text.hpp"

namespace weir {

// One change of a JSON text, at every value that `path` leads to (JSONPath of names, indexes, * and ..; "a.b" means
// "$.a.b"). A path that leads nowhere, or to what is no object where one is meant, changes nothing.
struct JsonEdit {
    enum class Change {
        Add = WEIR_JSON_ADD,           // in an object: the member `key` is the text `value`; one of that name goes
        AddList = WEIR_JSON_ADD_LIST,  // the same with a list of that one text
        Rename = WEIR_JSON_RENAME,     // in an object: the member `key` becomes the member `value`
        Remove = WEIR_JSON_REMOVE,     // the value is gone
    };
    Change change = Change::Add;
    std::string where;  // where the handle has the path, for a refusal: "addBodyKeys[0].path"
    std::string path;
    std::string key;    // unused by Remove
    std::string value;  // unused by Remove
};

// Changes of JSON texts, compiled by the gateway. Made and destroyed on the control thread: a handle owns them.
class JsonEdits {
public:
    JsonEdits() = default;  // none
    JsonEdits(JsonEdits&& other) noexcept : raw_(std::exchange(other.raw_, nullptr)) {}
    JsonEdits& operator=(JsonEdits&& other) noexcept {
        std::swap(raw_, other.raw_);
        return *this;
    }
    ~JsonEdits() {
        if (raw_) detail::hostTable->json_edits_release(raw_);
    }

    // They are made in the order given. false: refused, the reason is in `error` under that edit's `where`.
    bool compile(std::span<const JsonEdit> edits, weir_error* error) {
        std::vector<weir_json_edit> list;
        for (const JsonEdit& edit : edits) {
            list.push_back({sizeof(weir_json_edit), static_cast<std::int32_t>(edit.change), detail::str(edit.where),
                            detail::str(edit.path), detail::str(edit.key), detail::str(edit.value)});
        }
        weir_json_edits* made = nullptr;
        if (detail::hostTable->json_edits_compile(detail::hostTable, list.data(), list.size(), &made, error) != WEIR_OK)
            return false;
        if (raw_) detail::hostTable->json_edits_release(raw_);
        raw_ = made;
        return true;
    }
    explicit operator bool() const { return raw_; }  // whether any were compiled

    // Loop thread. The changed text, which lives until the exchange ends: compact, with numbers and texts that were not
    // touched spelled as they were. nullopt: `json` is not JSON (RFC 8259), nested deeper than 64 or of more than 200,000 values. Takes memory of
    // about 50 bytes for each value in it while it runs, so bodies need a limit. Throws std::bad_alloc.
    std::optional<std::string_view> apply(Exchange& exchange, std::string_view json) const {
        if (!raw_) return json;
        weir_str out{};
        const weir_status status =
            detail::hostTable->json_edits_apply(raw_, exchange.raw(), detail::str(json), &out);
        if (status == WEIR_NO_MEMORY) throw std::bad_alloc();
        if (status != WEIR_OK) return std::nullopt;
        return detail::view(out);
    }

private:
    weir_json_edits* raw_ = nullptr;
};

}  // namespace weir
