#include "base/json_path.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/json_text.hpp"
#include "base/utf8.hpp"
#include "base/value.hpp"

namespace weir::base {

using Id = JsonTree::Id;

class JsonPath::Parser {
public:
    explicit Parser(std::string_view text) : text_(text) {}

    Result<JsonPath> parse() {
        JsonPath path;
        const bool sound = parseSegments(path.segments_);
        if (!sound) return Error{ErrorCode::InvalidConfig, "", std::move(fault_)};
        return path;
    }

private:
    bool at(char c) const { return at_ < text_.size() && text_[at_] == c; }
    bool take(char c) {
        if (!at(c)) return false;
        ++at_;
        return true;
    }
    void skipSpace() {
        while (at(' ')) ++at_;
    }

    bool fail(std::string_view expected) {
        const std::size_t length = std::max<std::size_t>(utf8Length(text_.substr(at_)), 1);
        const std::string found = at_ < text_.size() ? jsonQuote(text_.substr(at_, length)) : "the end";
        fault_ = "position " + std::to_string(at_ + 1) + ": expected " + std::string(expected) + ", found " + found +
                 ": " + std::string(text_);
        return false;
    }

    bool parseSegments(std::vector<Segment>& segments) {
        if (text_.empty()) return fail("a path like $.name");
        if (at('@')) return fail("$ or a name");
        if (!take('$') && !at('[') && !parseDotted(segments.emplace_back())) return false;
        while (at_ < text_.size()) {
            Segment& segment = segments.emplace_back();
            if (take('.')) {
                segment.descendants = take('.');
                if (!at('[')) {
                    if (!parseDotted(segment)) return false;
                    continue;
                }
            }
            if (!parseBracketed(segment)) return false;
        }
        return true;
    }

    // What stands behind a dot: a name, or *.
    bool parseDotted(Segment& segment) {
        Selector& selector = segment.selectors.emplace_back();
        if (take('*')) return true;
        const auto ends = [](char c) { return std::string_view(" .[]()'\",*?").find(c) != std::string_view::npos; };
        const std::size_t start = at_;
        while (at_ < text_.size() && !ends(text_[at_])) {
            const std::size_t length = utf8Length(text_.substr(at_));
            if (length == 0 || static_cast<unsigned char>(text_[at_]) < 0x20) return fail("a name in UTF-8");
            at_ += length;
        }
        if (at_ == start) return fail("a name or *");
        if (at_ < text_.size() && !at('.') && !at('['))
            return fail("\".\", \"[\" or the end behind a name (another name is written ['...'])");
        selector.kind = Selector::Kind::Name;
        selector.name = text_.substr(start, at_ - start);
        return true;
    }

    bool parseBracketed(Segment& segment) {
        if (!take('[')) return fail("\".\", \"[\" or the end");
        do {
            skipSpace();
            if (!parseSelector(segment.selectors.emplace_back())) return false;
            skipSpace();
        } while (take(','));
        return take(']') || fail("\",\" or \"]\"");
    }

    bool parseSelector(Selector& selector) {
        if (take('*')) return true;
        if (at('\'') || at('"')) return parseQuoted(selector);
        selector.kind = Selector::Kind::Index;
        const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), selector.index);
        if (error != std::errc()) return fail("a quoted name, an index or * (filters and slices are not supported)");
        at_ = static_cast<std::size_t>(end - text_.data());
        return !at(':') || fail("\",\" or \"]\" (slices are not supported)");
    }

    bool parseQuoted(Selector& selector) {
        selector.kind = Selector::Kind::Name;
        const char quote = text_[at_++];
        while (!take(quote)) {
            if (at_ == text_.size()) return fail(std::string("the closing ") + quote);
            if (!parseUnit(selector.name)) return false;
        }
        return true;
    }

    // A character or an escape within quotes: JSON's, and \'.
    bool parseUnit(std::string& name) {
        std::size_t length = utf8Length(text_.substr(at_));
        if (text_.substr(at_).starts_with("\\'")) {
            name += '\'';
            length = 2;
        } else if (at('\\')) {
            length = readJsonEscape(text_.substr(at_), name).length;
            if (length == 0) return fail("an escape of JSON");
        } else {
            if (length == 0) return fail("a name in UTF-8");
            name += text_.substr(at_, length);
        }
        at_ += length;
        return true;
    }

    std::string_view text_;
    std::size_t at_ = 0;
    std::string fault_;
};

Result<JsonPath> JsonPath::compile(std::string_view text) { return Parser(text).parse(); }

namespace {

// Keeps what comes for the first time.
class Seen {
public:
    explicit Seen(const JsonTree& tree) : seen_(tree.size()) {}
    bool add(Id id) {
        if (seen_[id]) return false;
        return seen_[id] = true;
    }

private:
    std::vector<bool> seen_;
};

std::vector<Id> withDescendants(const JsonTree& tree, std::vector<Id> open) {
    std::vector<Id> all;
    Seen seen(tree);
    while (!open.empty()) {
        const Id id = open.back();
        open.pop_back();
        if (!seen.add(id)) continue;
        all.push_back(id);
        for (Id child = tree.first(id); child != JsonTree::kNone; child = tree.next(child)) open.push_back(child);
    }
    return all;
}

}  // namespace

void JsonPath::select(const JsonTree& tree, Id parent, const Selector& selector, std::vector<Id>& found) {
    if (selector.kind == Selector::Kind::Index && !tree.isArray(parent)) return;
    std::int64_t index = selector.index;
    if (index < 0) {
        for (Id id = tree.first(parent); id != JsonTree::kNone; id = tree.next(id)) ++index;
        if (index < 0) return;
    }
    for (Id id = tree.first(parent); id != JsonTree::kNone; id = tree.next(id)) {
        if (selector.kind == Selector::Kind::Index) {
            if (index-- == 0) return found.push_back(id);
        } else if (selector.kind == Selector::Kind::Wildcard || tree.hasKey(id, selector.name)) {
            found.push_back(id);
        }
    }
}

std::vector<Id> JsonPath::select(const JsonTree& tree) const {
    std::vector<Id> found{JsonTree::kRoot};
    for (const Segment& segment : segments_) {
        const std::vector<Id> parents =
            segment.descendants ? withDescendants(tree, std::move(found)) : std::move(found);
        found.clear();
        for (const Id parent : parents) {
            for (const Selector& selector : segment.selectors) select(tree, parent, selector, found);
        }
        if (segment.selectors.size() == 1) continue;
        Seen seen(tree);
        std::erase_if(found, [&](Id id) { return !seen.add(id); });
    }
    return found;
}

}  // namespace weir::base
