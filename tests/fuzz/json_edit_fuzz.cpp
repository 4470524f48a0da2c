// Input: lines of edits - one letter of a Kind (a, l, n, r), then path, key and value between tabs - up to an empty
// line, and a JSON text behind it. An edited text must be one the editor takes again; without edits it must keep every
// value, and editing again what an edit has made must change nothing more.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/assert.hpp"
#include "base/json_edit.hpp"
#include "base/value.hpp"

namespace {

using namespace weir::base;

std::string_view takeUpTo(std::string_view& rest, char end) {
    const std::size_t at = std::min(rest.find(end), rest.size());
    const std::string_view part = rest.substr(0, at);
    rest.remove_prefix(std::min(at + 1, rest.size()));
    return part;
}

bool parseEdit(std::string_view line, JsonEdit& edit) {
    const std::size_t kind = std::string_view("alnr").find(line[0]);
    if (kind == std::string_view::npos) return false;
    line.remove_prefix(1);
    edit.kind = static_cast<JsonEdit::Kind>(kind);
    edit.path = takeUpTo(line, '\t');
    edit.key = takeUpTo(line, '\t');
    edit.value = line;
    return true;
}

std::string applied(const JsonEdits& edits, std::string_view json) {
    std::string out;
    WEIR_ASSERT(edits.apply(json, out));
    return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::string_view rest(reinterpret_cast<const char*>(data), size);
    JsonEdits edits;
    JsonEdits last;
    bool repeatable = false;
    for (int i = 0; i < 16; ++i) {
        const std::string_view line = takeUpTo(rest, '\n');
        JsonEdit edit;
        if (line.empty() || !parseEdit(line, edit)) break;
        const auto appended = edits.append(edit);
        if (!appended.ok()) {
            WEIR_ASSERT(!appended.error().message.empty());
            continue;
        }
        last = JsonEdits();
        WEIR_ASSERT(last.append(edit).ok());
        // An index leads to another value once one is removed, and what is added may be led to itself.
        repeatable = edit.kind == JsonEdit::Kind::Rename && edit.path == "$";
    }

    std::string out;
    const bool taken = edits.apply(rest, out);
    const auto value = parseJson(rest);
    const auto reason = [&](const char* words) { return value.error().message.find(words) != std::string::npos; };
    WEIR_ASSERT(value ? taken : !taken || reason("is there twice") || reason("half of a surrogate pair"));
    if (!taken) {
        WEIR_ASSERT(out.empty());
        return 0;
    }
    WEIR_ASSERT(applied(JsonEdits(), out) == out);
    if (value) WEIR_ASSERT(toJson(*parseJson(applied(JsonEdits(), rest))) == toJson(*value));
    if (repeatable) WEIR_ASSERT(applied(last, out) == out);
    return 0;
}
