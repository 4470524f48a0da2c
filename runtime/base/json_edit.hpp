#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json_path.hpp"
#include "base/result.hpp"

namespace weir::base {

// One change of a JSON text, at every value that `path` leads to; where it leads nowhere nothing happens. As Jayway's
// JsonPath has them (fact sheet 5.3), except that what is an error there - a path that is missing, a list where an
// object is meant - changes nothing here.
struct JsonEdit {
    enum class Kind {
        Add,      // in an object: the member `key` is the text `value`; it replaces one of that name
        AddList,  // the same with a list of that one text
        Rename,   // in an object: the member `key` becomes the member `value`, at the end; it replaces one of that name
        Remove,   // the value itself is gone
    };
    Kind kind = Kind::Add;
    std::string_view path;
    std::string_view key;    // unused by Remove
    std::string_view value;  // unused by Remove
};

// Changes that are made one after the other. Filled on the control thread; any thread may apply.
class JsonEdits {
public:
    // Copies the edit's texts. InvalidConfig when the path is none, with the position in it; nothing is appended then.
    Result<void> append(const JsonEdit& edit);
    bool empty() const { return edits_.empty(); }

    // Appends the changed text to `out`: compact, with numbers, texts and keys that are not touched spelled as they
    // were, and keys that were there twice too. False, with nothing appended, when it is not JSON (see JsonTree). Time
    // and memory are linear in the text.
    bool apply(std::string_view json, std::string& out) const;

private:
    struct Edit {
        JsonEdit::Kind kind;
        JsonPath path;
        std::string from;   // of Rename, decoded
        std::string name;   // decoded
        std::string key;    // the name as JSON
        std::string value;  // as JSON
    };
    static void apply(const Edit& edit, JsonTree& tree);

    std::vector<Edit> edits_;
};

}  // namespace weir::base
