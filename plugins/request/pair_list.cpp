#include "pair_list.hpp"

#include <algorithm>

namespace weir::request {

namespace {

bool staysPlain(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           std::string_view("-._~/:@!$'()*,?").find(c) != std::string_view::npos;
}

std::string encode(std::string_view text) {
    static constexpr char kHex[] = "0123456789ABCDEF";
    std::string out;
    for (char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (staysPlain(c)) out += c;
        else out.append({'%', kHex[byte >> 4], kHex[byte & 15]});
    }
    return out;
}

int digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

// Whether `encoded` stands for `text`; a '%' without two hex digits behind it is one.
bool standsFor(std::string_view encoded, std::string_view text) {
    std::size_t at = 0;
    for (std::size_t i = 0; i < encoded.size(); ++i, ++at) {
        char c = encoded[i];
        if (c == '+') c = ' ';
        if (c == '%' && i + 2 < encoded.size() && digit(encoded[i + 1]) >= 0 && digit(encoded[i + 2]) >= 0) {
            c = static_cast<char>(digit(encoded[i + 1]) * 16 + digit(encoded[i + 2]));
            i += 2;
        }
        if (at == text.size() || text[at] != c) return false;
    }
    return at == text.size();
}

std::string_view nameOf(std::string_view pair) { return pair.substr(0, pair.find('=')); }

std::string_view trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t");
    if (first == text.npos) return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

}  // namespace

PairList::PairList(Kind kind, std::string_view text) : kind_(kind) { append(text); }

void PairList::append(std::string_view text) {
    const char separator = kind_ == Kind::Query ? '&' : ';';
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(separator), text.size());
        const std::string_view pair = kind_ == Kind::Query ? text.substr(0, end) : trimmed(text.substr(0, end));
        if (!pair.empty()) pairs_.emplace_back(pair);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
}

void PairList::add(const Texts& pairs) {
    for (const auto& [name, value] : pairs) pairs_.push_back(written(name) + "=" + written(value));
}

void PairList::set(const Texts& pairs) {
    for (const auto& [name, value] : pairs) {
        const auto same = [&, wanted = std::string_view(name)](const std::string& pair) { return named(pair, wanted); };
        std::string made = written(name) + "=" + written(value);
        const auto first = std::ranges::find_if(pairs_, same);
        if (first == pairs_.end()) {
            pairs_.push_back(std::move(made));
            continue;
        }
        pairs_.erase(std::remove_if(first + 1, pairs_.end(), same), pairs_.end());
        *first = std::move(made);
    }
}

void PairList::rename(const Texts& renames) {
    for (const auto& [from, to] : renames)
        for (std::string& pair : pairs_)
            if (named(pair, from)) pair.replace(0, nameOf(pair).size(), written(to));
}

void PairList::remove(const std::vector<std::string>& names) {
    for (const std::string& name : names)
        std::erase_if(pairs_, [&](const std::string& pair) { return named(pair, name); });
}

std::string PairList::text() const {
    std::string out;
    for (const std::string& pair : pairs_) {
        if (!out.empty()) out += kind_ == Kind::Query ? "&" : "; ";
        out += pair;
    }
    return out;
}

std::string PairList::written(std::string_view text) const {
    return kind_ == Kind::Query ? encode(text) : std::string(text);
}

bool PairList::named(std::string_view pair, std::string_view name) const {
    return kind_ == Kind::Query ? standsFor(nameOf(pair), name) : nameOf(pair) == name;
}

}  // namespace weir::request
