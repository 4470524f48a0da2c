#pragma once

#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weir/exchange.hpp"
#include "weir/fields.hpp"
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

// A member of a JSON object, as handles name it: ShenYu's {path, key, value}.
struct JsonKey {
    std::string path;
    std::string key;
    std::string value;
    static constexpr auto fields = weir::fields(
        weir::field("path", &JsonKey::path).required().about("JSONPath of the object; $ is the whole body"),
        weir::field("key", &JsonKey::key).required().about("the member's name"),
        weir::field("value", &JsonKey::value).about("its text, or its new name"));
};

// The edits that a handle's lists ask for; `place`: the list's name in the handle.
inline void addEdits(std::vector<JsonEdit>& edits, JsonEdit::Change change, const std::string& place,
                     const std::vector<JsonKey>& keys) {
    for (std::size_t i = 0; i < keys.size(); ++i)
        edits.push_back({change, place + "[" + std::to_string(i) + "].path", keys[i].path, keys[i].key, keys[i].value});
}
inline void addRemovals(std::vector<JsonEdit>& edits, const std::string& place, const std::vector<std::string>& paths) {
    for (std::size_t i = 0; i < paths.size(); ++i)
        edits.push_back({JsonEdit::Change::Remove, place + "[" + std::to_string(i) + "]", paths[i], "", ""});
}

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
