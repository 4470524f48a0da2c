#include "form_body.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weir::param_mapping {

namespace {

int hexValue(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

// A '%' that begins no %XX stands for itself (WHATWG URL 1.3).
std::string formDecoded(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        const int high = text[i] == '%' && i + 2 < text.size() ? hexValue(text[i + 1]) : -1;
        const int low = high >= 0 ? hexValue(text[i + 2]) : -1;
        if (low >= 0) {
            out += static_cast<char>(high * 16 + low);
            i += 2;
        } else {
            out += text[i] == '+' ? ' ' : text[i];
        }
    }
    return out;
}

// The text behind the quote at `at`, which is moved behind its end.
std::string_view quoted(std::string_view json, std::size_t& at) {
    const std::size_t begin = at + 1;
    const std::size_t end = json.find('"', begin);
    at = end == json.npos ? json.size() : end + 1;
    return json.substr(begin, end == json.npos ? json.npos : end - begin);
}

}  // namespace

std::string formEncoded(std::string_view text) {
    static constexpr char kHex[] = "0123456789ABCDEF";
    std::string out;
    out.reserve(text.size());
    for (const char c : text) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '*' ||
                           c == '-' || c == '.' || c == '_';
        if (plain) {
            out += c;
        } else if (c == ' ') {
            out += '+';
        } else {
            const auto byte = static_cast<unsigned char>(c);
            out += {'%', kHex[byte >> 4], kHex[byte & 15]};
        }
    }
    return out;
}

std::string formPath(std::string_view path) {
    std::string out;
    for (std::size_t at = 0; at < path.size();) {
        const char c = path[at];
        if (c == '\'' || c == '"') {  // a name in brackets, whose own quote is escaped
            std::string name;
            for (++at; at < path.size() && path[at] != c; ++at) {
                if (path[at] == '\\' && at + 1 < path.size()) ++at;
                name += path[at];
            }
            ++at;
            out.append(1, c).append(formEncoded(name)).append(1, c);
        } else if (c == '.' && at + 1 < path.size() && path.find_first_of(".[*", at + 1) != at + 1) {
            const std::size_t end = std::min(path.find_first_of(".[", at + 1), path.size());
            out.append("['").append(formEncoded(path.substr(at + 1, end - at - 1))).append("']");
            at = end;
        } else {
            out += c;
            ++at;
        }
    }
    return out;
}

std::string formToJson(std::string_view form) {
    std::vector<std::pair<std::string, std::string>> lists;  // name, its values as a JSON list without brackets
    std::unordered_map<std::string, std::size_t> places;
    for (std::size_t begin = 0; begin < form.size();) {
        const std::size_t end = std::min(form.find('&', begin), form.size());
        const std::string_view pair = form.substr(begin, end - begin);
        begin = end + 1;
        if (pair.empty()) continue;
        const std::size_t equals = pair.find('=');
        const std::string name = formEncoded(formDecoded(pair.substr(0, equals)));
        const std::string value =
            equals == pair.npos ? std::string() : formEncoded(formDecoded(pair.substr(equals + 1)));
        const auto [place, fresh] = places.try_emplace(name, lists.size());
        if (fresh) lists.emplace_back(name, "");
        std::string& list = lists[place->second].second;
        if (!list.empty()) list += ',';
        list.append("\"").append(value).append("\"");
    }
    std::string json = "{";
    for (const auto& [name, list] : lists) {
        if (json.size() > 1) json += ',';
        json.append("\"").append(name).append("\":[").append(list).append("]");
    }
    return json + "}";
}

std::string formFromJson(std::string_view json) {
    std::string form;
    std::string_view name;
    bool inList = false;
    for (std::size_t at = 0; at < json.size();) {
        if (json[at] != '"') {
            if (json[at] == '[') inList = true;
            if (json[at] == ']') inList = false;
            ++at;
        } else if (!inList) {
            name = quoted(json, at);
        } else {
            if (!form.empty()) form += '&';
            form.append(name).append("=").append(quoted(json, at));
        }
    }
    return form;
}

}  // namespace weir::param_mapping
