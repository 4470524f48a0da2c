#include "request_read.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "json_text.hpp"

namespace weir::mock {

namespace {

using Pair = std::pair<std::string, std::string>;

int hexDigit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    const char lower = static_cast<char>(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

std::string decode(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool encoded = text[i] == '%' && i + 2 < text.size() && hexDigit(text[i + 1]) >= 0 &&
                             hexDigit(text[i + 2]) >= 0;
        if (encoded) {
            out += static_cast<char>(hexDigit(text[i + 1]) * 16 + hexDigit(text[i + 2]));
            i += 2;
        } else {
            out += text[i] == '+' ? ' ' : text[i];
        }
    }
    return out;
}

// The first of each name counts, as in ShenYu. Names of fields compare without case.
void addFirst(std::vector<Pair>& all, std::string name, std::string value, bool anyCase) {
    const auto same = [&](const Pair& one) {
        return std::ranges::equal(one.first, name, [anyCase](char a, char b) {
            return a == b || (anyCase && (a | 0x20) == (b | 0x20) && (a | 0x20) >= 'a' && (a | 0x20) <= 'z');
        });
    };
    if (std::ranges::none_of(all, same)) all.emplace_back(std::move(name), std::move(value));
}

std::vector<Pair> queriesOf(std::string_view query) {
    std::vector<Pair> all;
    while (!query.empty()) {
        const std::string_view one = query.substr(0, query.find('&'));
        query.remove_prefix(std::min(one.size() + 1, query.size()));
        if (one.empty()) continue;
        const std::size_t sign = std::min(one.find('='), one.size());
        addFirst(all, decode(one.substr(0, sign)), decode(one.substr(std::min(sign + 1, one.size()))), false);
    }
    return all;
}

std::vector<Pair> headersOf(const RequestData& request) {
    std::vector<Pair> all;
    request.forEachHeader([&](std::string_view name, std::string_view value) {
        addFirst(all, std::string(name), std::string(value), true);
    });
    return all;
}

Value object(const std::vector<Pair>& all) {
    Value made{"{"};
    for (const auto& [name, value] : all) {
        if (made.text.size() > 1) made.text += ',';
        made.text.append(quoteJson(name)).append(":").append(quoteJson(value));
    }
    made.text += '}';
    return made;
}

const Value kNull{"null"};

}  // namespace

std::string Value::json() const { return isString ? quoteJson(text) : text; }

std::optional<RequestRead> RequestRead::make(std::string_view part, std::vector<Step> path) {
    static constexpr std::string_view kParts[] = {"headers", "queries", "method", "uri", "json"};
    const auto* const found = std::ranges::find(kParts, part);
    if (found == std::end(kParts)) return std::nullopt;
    RequestRead made;
    made.part_ = static_cast<Part>(found - std::begin(kParts));
    made.path_ = std::move(path);
    const bool isMap = made.part_ == Part::Headers || made.part_ == Part::Queries;
    if (isMap && made.path_.size() > 1) return std::nullopt;
    if (isMap && !made.path_.empty() && !made.path_[0].byName) return std::nullopt;
    if (!isMap && part != "json" && !made.path_.empty()) return std::nullopt;
    return made;
}

std::optional<Value> RequestRead::from(const RequestData& request) const {
    switch (part_) {
        case Part::Method: return Value{std::string(request.method()), true};
        case Part::Uri: return Value{request.uri(), true};
        case Part::Json: return fromJson(request.body());
        case Part::Headers: {
            if (path_.empty()) return object(headersOf(request));
            const auto value = request.header(path_[0].name);
            return value ? Value{std::string(*value), true} : kNull;
        }
        case Part::Queries: break;
    }
    const std::vector<Pair> all = queriesOf(request.query());
    if (path_.empty()) return object(all);
    const auto found = std::ranges::find(all, path_[0].name, &Pair::first);
    return found == all.end() ? kNull : Value{found->second, true};
}

std::optional<Value> RequestRead::fromJson(std::string_view body) const {
    if (body.find_first_not_of(" \t\r\n") == body.npos) return kNull;
    std::optional<std::string_view> value = jsonValue(body);
    if (!value) return std::nullopt;
    for (const Step& step : path_) {
        value = step.byName ? jsonMember(*value, step.name) : jsonElement(*value, step.index);
        if (!value) return kNull;
    }
    if (value->starts_with('"')) return Value{unquoteJson(*value), true};
    return Value{std::string(*value)};
}

}  // namespace weir::mock
