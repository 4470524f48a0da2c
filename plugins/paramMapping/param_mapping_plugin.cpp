#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "form_body.hpp"
#include "param_mapping_handle.hpp"
#include "weir/http_field.hpp"
#include "weir/module.hpp"

namespace {

using weir::JsonEdit;
using weir::param_mapping::formEncoded;
using weir::param_mapping::formFromJson;
using weir::param_mapping::formPath;
using weir::param_mapping::formToJson;
using weir::param_mapping::ParamMappingHandle;

// Of a Content-Type, without its parameters.
bool isType(std::string_view contentType, std::string_view type) {
    std::string_view own = contentType.substr(0, contentType.find(';'));
    while (own.ends_with(' ') || own.ends_with('\t')) own.remove_suffix(1);
    return weir::equalsIgnoreCase(own, type);
}

// With two of them the upstream might read the body by the other one.
std::string_view contentType(const weir::Request& request) {
    int lines = 0;
    request.forEachHeader(
        [&lines](std::string_view name, std::string_view) { lines += weir::equalsIgnoreCase(name, "Content-Type"); });
    if (lines > 1) throw weir::Error(400, 400, "the request has more than one Content-Type");
    return request.header("Content-Type").value_or("");
}

std::vector<JsonEdit> jsonEdits(const ParamMappingHandle& handle) {
    std::vector<JsonEdit> edits;
    weir::addEdits(edits, JsonEdit::Change::Add, "addParameterKeys", handle.addParameterKeys);
    weir::addEdits(edits, JsonEdit::Change::Rename, "replaceParameterKeys", handle.replaceParameterKeys);
    weir::addRemovals(edits, "removeParameterKeys", handle.removeParameterKeys);
    return edits;
}

// The same of a form: names and values are encoded there, and a value is one of a list.
std::vector<JsonEdit> formEdits(std::vector<JsonEdit> edits) {
    for (JsonEdit& edit : edits) {
        if (edit.change == JsonEdit::Change::Add) edit.change = JsonEdit::Change::AddList;
        edit.path = formPath(edit.path);
        edit.key = formEncoded(edit.key);
        edit.value = formEncoded(edit.value);
    }
    return edits;
}

class ParamMapping final : public weir::RulePlugin<ParamMappingHandle> {
public:
    bool prepareRule(ParamMappingHandle& handle, weir_error* error) override {
        const std::vector<JsonEdit> edits = jsonEdits(handle);
        handle.edits = !edits.empty();
        return handle.json.compile(edits, error) && handle.form.compile(formEdits(edits), error);
    }

    weir::Task<> execute(weir::Exchange& exchange, weir::Next next, const ParamMappingHandle& handle) override {
        const std::string_view type = contentType(exchange.request());
        const bool form = isType(type, "application/x-www-form-urlencoded");
        if (handle.edits && (form || isType(type, "application/json"))) co_await edit(exchange, handle, form);
        co_await next();
    }

private:
    // A body that can not be edited is refused: the rule may keep something from the upstream.
    weir::Task<> edit(weir::Exchange& exchange, const ParamMappingHandle& handle, bool form) {
        weir::Request request = exchange.request();
        const std::string_view body = co_await request.body(handle.maxBodyBytes);
        if (body.empty()) co_return;
        const std::string_view coding = request.header("Content-Encoding").value_or("");
        const std::optional<std::string_view> plain = exchange.decode(coding, body, handle.maxBodyBytes);
        if (!plain) {
            throw weir::Error(415, 415,
                              "the request body's Content-Encoding can not be decoded, or it is longer than " +
                                  std::to_string(handle.maxBodyBytes) + " bytes");
        }
        if (form) {
            const std::string fields = formToJson(*plain);
            const std::optional<std::string_view> edited = handle.form.apply(exchange, fields);
            request.setBody(edited ? formFromJson(*edited) : std::string(*plain));
        } else {
            const std::optional<std::string_view> edited = handle.json.apply(exchange, *plain);
            if (!edited) throw weir::Error(400, 400, "the request body is not JSON, or has too many values or levels");
            request.setBody(*edited);
        }
        request.removeHeader("Content-Encoding");
        for (std::string_view name : weir::kBodyDigests) request.removeHeader(name);
    }
};

}  // namespace

WEIR_MODULE(weir::plugin<ParamMapping>("paramMapping", {.order = 70}))
