#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "modify_response_handle.hpp"
#include "weir/http_field.hpp"
#include "weir/module.hpp"

namespace {

using weir::JsonEdit;
using weir::modify_response::ModifyResponseHandle;

bool prepareHeaders(const ModifyResponseHandle::Headers& headers, const char* place, weir_error* error) {
    return std::ranges::all_of(headers, [&](const auto& header) {
        const std::string path = std::string(place) + "." + header.first;
        return weir::checkFieldName(header.first, path, error) && weir::checkFieldValue(header.second, path, error);
    });
}

bool prepareBody(ModifyResponseHandle& handle, weir_error* error) {
    std::vector<JsonEdit> edits;
    weir::addEdits(edits, JsonEdit::Change::Add, "addBodyKeys", handle.addBodyKeys);
    weir::addEdits(edits, JsonEdit::Change::Rename, "replaceBodyKeys", handle.replaceBodyKeys);
    weir::addRemovals(edits, "removeBodyKeys", handle.removeBodyKeys);
    handle.editsBody = !edits.empty();
    return !handle.editsBody || handle.edits.compile(edits, error);
}

// What such a body is can be told without reading it, and some of it never ends.
bool mayBeJson(std::string_view type) {
    constexpr std::array<std::string_view, 7> kOthers = {
        "image/", "video/", "audio/", "font/", "multipart/", "text/event-stream", "application/x-ndjson"};
    return std::ranges::none_of(kOthers, [type](std::string_view other) {
        return weir::equalsIgnoreCase(type.substr(0, other.size()), other);
    });
}

void editHeaders(weir::Response& response, const ModifyResponseHandle& handle) {
    for (const auto& [name, value] : handle.addHeaders) response.addHeader(name, value);
    for (const auto& [name, value] : handle.setHeaders) response.setHeader(name, value);
    for (const auto& [name, value] : handle.replaceHeaderKeys)
        if (response.header(name)) response.setHeader(name, value);
    for (const std::string& name : handle.removeHeaderKeys) response.removeHeader(name);
}

// What described the bytes of the old body is not true of the new one (RFC 9110 8.8.3, RFC 9530).
void describeNewBody(weir::Exchange& exchange, weir::Response& response) {
    for (std::string_view name : {"Content-Encoding", "Accept-Ranges"}) response.removeHeader(name);
    for (std::string_view name : weir::kBodyDigests) response.removeHeader(name);
    const std::string_view tag = exchange.keep(response.header("ETag").value_or(""));
    if (tag.starts_with('"')) response.setHeader("ETag", "W/" + std::string(tag));
}

class ModifyResponse final : public weir::RulePlugin<ModifyResponseHandle> {
public:
    bool prepareRule(ModifyResponseHandle& handle, weir_error* error) override {
        if (handle.statusCode != 0 && handle.statusCode < 200)
            return weir::refuse(error, "statusCode", "expected 0 or a final status from 200 to 999");
        return prepareHeaders(handle.addHeaders, "addHeaders", error) &&
               prepareHeaders(handle.setHeaders, "setHeaders", error) &&
               prepareHeaders(handle.replaceHeaderKeys, "replaceHeaderKeys", error) && prepareBody(handle, error);
    }

    weir::Task<> execute(weir::Exchange& exchange, weir::Next next, const ModifyResponseHandle& handle) override {
        co_await next();
        weir::Response response = exchange.response();
        if (response.status() == 101) co_return;  // what follows is not HTTP
        editHeaders(response, handle);
        if (handle.statusCode != 0) response.setStatus(handle.statusCode);
        if (handle.editsBody) co_await editBody(exchange, response, handle);
    }

private:
    // Apart, so that the frame of those who leave the body alone is small.
    weir::Task<> editBody(weir::Exchange& exchange, weir::Response& response, const ModifyResponseHandle& handle) {
        const bool part = response.header("Content-Range").has_value();
        if (part || !mayBeJson(response.header("Content-Type").value_or(""))) co_return;
        const std::optional<std::string_view> body = co_await response.body(handle.maxBodyBytes);
        if (!body) {
            stays(exchange, handle, "it is longer than maxBodyBytes (" + std::to_string(handle.maxBodyBytes) + ")");
            co_return;
        }
        if (body->empty()) co_return;
        const std::string_view coding = response.header("Content-Encoding").value_or("");
        const std::optional<std::string_view> plain = exchange.decode(coding, *body, handle.maxBodyBytes);
        const std::optional<std::string_view> edited = plain ? handle.edits.apply(exchange, *plain) : std::nullopt;
        if (!edited) {
            stays(exchange, handle,
                  plain ? "it is not JSON" : "its Content-Encoding '" + std::string(coding) + "' can not be decoded");
            co_return;
        }
        if (response.setBody(*edited)) describeNewBody(exchange, response);
    }

    // Once for each rule: such a body is likely to come with every request.
    void stays(weir::Exchange& exchange, const ModifyResponseHandle& handle, const std::string& why) {
        if (handle.warned->exchange(true, std::memory_order_relaxed)) return;
        host().log(weir::LogLevel::Warning, "modifyResponse: a response's body stays as it is: " + why + " (" +
                                                std::string(exchange.request().method()) + " " +
                                                std::string(exchange.request().path()) +
                                                "); the rule's next ones are not reported");
    }
};

}  // namespace

WEIR_MODULE(weir::plugin<ModifyResponse>("modifyResponse", {.order = 220}))
