#pragma once

#include <algorithm>
#include <cctype>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "match/subject.hpp"

namespace weir::match {

// A request of plain values.
struct FakeSubject final : Subject {
    std::string path = "/";
    std::string verb = "GET";
    std::string query;
    std::string host = "example.org";
    std::string client = "192.0.2.7";
    std::vector<std::pair<std::string, std::string>> headers;
    std::map<ContextField, std::string> fields;

    std::string_view uri() const noexcept override { return path; }
    std::string_view method() const noexcept override { return verb; }
    std::string_view rawQuery() const noexcept override { return query; }
    std::string_view domain() const noexcept override { return host; }
    std::string_view clientIp() const noexcept override { return client; }
    std::string_view header(std::string_view name) const noexcept override {
        const auto same = [](char a, char b) { return std::tolower(a) == std::tolower(b); };
        for (const auto& [key, value] : headers) {
            if (std::equal(key.begin(), key.end(), name.begin(), name.end(), same)) return value;
        }
        return {};
    }
    std::string_view contextField(ContextField field) const noexcept override {
        const auto found = fields.find(field);
        return found == fields.end() ? std::string_view() : found->second;
    }
};

}  // namespace weir::match
