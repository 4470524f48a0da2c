#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "general_context_handle.hpp"
#include "weir/http_field.hpp"
#include "weir/module.hpp"

namespace {

using weir::general_context::Entry;
using weir::general_context::GeneralContextHandle;

using Attachments = std::vector<std::pair<std::string_view, std::string>>;

bool isBlank(std::string_view text) { return text.find_first_not_of(" \t") == text.npos; }

// The attribute has a line for each attachment, with '=' behind the key.
bool isKey(std::string_view text) { return weir::isFieldValue(text) && text.find('=') == text.npos; }

bool prepareEntry(Entry& entry, const std::string& path, weir_error* error) {
    const std::string keyPath = path + ".generalContextKey";
    const std::string valuePath = path + ".generalContextValue";
    if (isBlank(entry.generalContextValue)) entry.generalContextValue.clear();
    if (entry.fromHeader()) {
        if (!weir::isFieldName(entry.generalContextKey))
            return weir::refuse(error, keyPath,
                                "expected the name of a header, found '" + entry.generalContextKey + "'");
        if (entry.generalContextValue.empty()) entry.generalContextValue = entry.generalContextKey;
        if (!isKey(entry.generalContextValue))
            return weir::refuse(error, valuePath, "an attachment's key has no '=' and no control characters");
        return true;
    }
    if (isBlank(entry.generalContextKey) || !isKey(entry.generalContextKey))
        return weir::refuse(error, keyPath,
                            "an attachment's key is not blank and has no '=' and no control characters");
    return weir::isFieldValue(entry.generalContextValue) ||
           weir::refuse(error, valuePath, "an attachment's value has no control characters");
}

bool prepareEntries(std::vector<Entry>& entries, const std::string& type, weir_error* error) {
    for (std::size_t i = 0; i < entries.size(); ++i)
        if (!prepareEntry(entries[i], type + "[" + std::to_string(i) + "]", error)) return false;
    return true;
}

const std::vector<Entry>* entriesFor(const GeneralContextHandle& handle, std::string_view type) {
    if (type == "dubbo") return &handle.dubbo;
    if (type == "grpc") return &handle.grpc;
    if (type == "sofa") return &handle.sofa;
    if (type == "tars") return &handle.tars;
    return nullptr;
}

// The values of all lines of a header.
std::optional<std::string> headerValues(weir::Request request, std::string_view name) {
    std::optional<std::string> joined;
    request.forEachHeader([&](std::string_view each, std::string_view value) {
        if (!weir::equalsIgnoreCase(each, name)) return;
        if (joined) joined->append(", ").append(value);
        else joined = std::string(value);
    });
    return joined;
}

// As in a map: a later value takes an earlier one's place.
void put(Attachments& attachments, std::string_view key, std::string value) {
    const auto same = [&](const auto& each) { return each.first == key; };
    const auto found = std::find_if(attachments.begin(), attachments.end(), same);
    if (found == attachments.end()) attachments.emplace_back(key, std::move(value));
    else found->second = std::move(value);
}

class GeneralContext final : public weir::RulePlugin<GeneralContextHandle> {
public:
    bool prepareRule(GeneralContextHandle& handle, weir_error* error) override {
        return prepareEntries(handle.dubbo, "dubbo", error) && prepareEntries(handle.grpc, "grpc", error) &&
               prepareEntries(handle.sofa, "sofa", error) && prepareEntries(handle.tars, "tars", error);
    }

    weir::Answer onRequest(weir::Exchange& exchange, const GeneralContextHandle& handle) override {
        const std::vector<Entry>* entries = entriesFor(handle, exchange.slot(weir::Slot::RpcType));
        if (!entries) return weir::Answer::Next;
        Attachments attachments;
        for (const Entry& entry : *entries) {
            if (!entry.fromHeader()) put(attachments, entry.generalContextKey, entry.generalContextValue);
            else if (auto values = headerValues(exchange.request(), entry.generalContextKey))
                put(attachments, entry.generalContextValue, std::move(*values));
        }
        std::string lines;
        for (const auto& [key, value] : attachments) lines.append(key).append("=").append(value).append("\n");
        if (!lines.empty()) exchange.setAttribute(attribute_, lines);
        return weir::Answer::Next;
    }

private:
    // "generalContext", ShenYu's name for it; for the plugin that makes the call.
    const std::uint32_t attribute_ = host().attributeId("generalContext");
};

}  // namespace

WEIR_MODULE(weir::plugin<GeneralContext>("generalContext",
                                         {.order = 125, .rpcTypes = {"dubbo", "grpc", "sofa", "tars"}}))
