#include "header_edits.hpp"

#include <algorithm>

#include "weir/http_field.hpp"

namespace weir::request {

namespace {

// Of all lines of that name. The views outlive the edits: they live until the exchange ends.
std::vector<std::string_view> valuesOf(Headers headers, std::string_view name) {
    std::vector<std::string_view> values;
    headers.forEachHeader([&](std::string_view each, std::string_view value) {
        if (equalsIgnoreCase(each, name)) values.push_back(value);
    });
    return values;
}

void replaceBy(Headers headers, std::string_view name, const std::vector<std::string_view>& values) {
    headers.removeHeader(name);
    for (std::string_view value : values) headers.addHeader(name, value);
}

}  // namespace

void editHeaders(Headers headers, const HeaderEdits& edits) {
    for (const auto& [name, value] : edits.addHeaders) headers.addHeader(name, value);
    for (const auto& [name, value] : edits.setHeaders) headers.setHeader(name, value);
    for (const auto& [from, to] : edits.replaceHeaderKeys) {
        const std::vector<std::string_view> values = valuesOf(headers, from);
        headers.removeHeader(from);
        for (std::string_view value : values) headers.addHeader(to, value);
    }
    for (const std::string& name : edits.removeHeaderKeys) headers.removeHeader(name);
}

void keepUnique(Headers headers, const std::vector<std::string>& names, std::string_view strategy) {
    for (const std::string& name : names) {
        std::vector<std::string_view> values = valuesOf(headers, name);
        if (values.size() < 2) continue;
        if (strategy == "RETAIN_FIRST") {
            values.resize(1);
        } else if (strategy == "RETAIN_LAST") {
            values = {values.back()};
        } else {
            std::vector<std::string_view> unique;
            for (std::string_view value : values)
                if (std::ranges::find(unique, value) == unique.end()) unique.push_back(value);
            values = std::move(unique);
        }
        replaceBy(headers, name, values);
    }
}

}  // namespace weir::request
