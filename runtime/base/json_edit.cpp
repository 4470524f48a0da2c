#include "base/json_edit.hpp"

#include <utility>

#include "base/value.hpp"

namespace weir::base {

Result<void> JsonEdits::append(const JsonEdit& edit) {
    auto path = JsonPath::compile(edit.path);
    if (!path) return std::move(path).error();
    if (edit.kind == JsonEdit::Kind::Remove && path->isRoot())
        return Error{ErrorCode::InvalidConfig, "", "expected a path within the body, found $, which is all of it"};
    const bool rename = edit.kind == JsonEdit::Kind::Rename;
    const std::string_view name = rename ? edit.value : edit.key;
    edits_.push_back({edit.kind, std::move(path).value(), std::string(rename ? edit.key : ""), std::string(name),
                      jsonQuote(name), jsonQuote(edit.value)});
    return {};
}

void JsonEdits::apply(const Edit& edit, JsonTree& tree) {
    for (const JsonTree::Id id : edit.path.select(tree)) {
        if (edit.kind == JsonEdit::Kind::Remove) {
            tree.remove(id);
        } else if (!tree.isObject(id)) {
            continue;
        } else if (edit.kind == JsonEdit::Kind::Rename) {
            tree.rename(id, edit.from, edit.key, edit.name);
        } else {
            tree.put(id, edit.key, edit.name, edit.value, edit.kind == JsonEdit::Kind::AddList);
        }
    }
}

bool JsonEdits::apply(std::string_view json, std::string& out) const {
    JsonTree tree;
    if (!tree.parse(json)) return false;
    for (const Edit& edit : edits_) apply(edit, tree);
    tree.write(out);
    return true;
}

}  // namespace weir::base
