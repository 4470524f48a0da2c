#include "base/json_tree.hpp"

#include <utility>

#include "base/json_text.hpp"

namespace weir::base {

namespace {

constexpr int kMaxDepth = 64;

}  // namespace

struct JsonTree::Reader {
    JsonTree& tree;
    std::string_view rest;

    void skipSpace() {
        while (!rest.empty() && (rest[0] == ' ' || rest[0] == '\t' || rest[0] == '\r' || rest[0] == '\n'))
            rest.remove_prefix(1);
    }
    bool take(char c) {
        skipSpace();
        if (!rest.starts_with(c)) return false;
        rest.remove_prefix(1);
        return true;
    }
    std::string_view takeText(std::size_t length) {
        const std::string_view text = rest.substr(0, length);
        rest.remove_prefix(length);
        return text;
    }
    std::size_t scalarLength() const {
        if (rest.starts_with('"')) return jsonStringLength(rest);
        for (std::string_view word : {"true", "false", "null"}) {
            if (rest.starts_with(word)) return word.size();
        }
        return jsonNumberLength(rest);
    }

    bool readValue(Id parent, std::string_view key, int depth) {
        if (tree.size() == kMaxValues) return false;
        Node node{.key = key, .text = {}};
        const bool array = take('[');
        if (array || take('{')) {
            if (depth == kMaxDepth) return false;
            node.kind = array ? Kind::Array : Kind::Object;
            const Id id = tree.append(parent, node);
            return array ? readItems(id, depth + 1) : readMembers(id, depth + 1);
        }
        node.text = takeText(scalarLength());
        tree.append(parent, node);
        return !node.text.empty();
    }
    bool readItems(Id array, int depth) {
        if (take(']')) return true;
        do {
            if (!readValue(array, {}, depth)) return false;
        } while (take(','));
        return take(']');
    }
    bool readMembers(Id object, int depth) {
        if (take('}')) return true;
        do {
            skipSpace();
            const std::string_view key = takeText(jsonStringLength(rest));
            if (key.empty() || !take(':') || !readValue(object, key, depth)) return false;
        } while (take(','));
        return take('}');
    }
};

bool JsonTree::parse(std::string_view text) {
    nodes_.clear();
    if (text.size() >= kNone) return false;
    Reader reader{*this, text};
    if (!reader.readValue(kNone, {}, 0)) return false;
    reader.skipSpace();
    return reader.rest.empty();
}

JsonTree::Id JsonTree::append(Id parent, const Node& node) {
    const Id id = static_cast<Id>(nodes_.size());
    nodes_.push_back(node);
    if (parent != kNone) link(parent, id);
    return id;
}

void JsonTree::link(Id parent, Id id) {
    Node& container = nodes_[parent];
    if (container.first == kNone) container.first = id;
    else nodes_[container.last].next = id;
    container.last = id;
}

void JsonTree::unlink(Id parent, Id id) {
    Node& container = nodes_[parent];
    Id before = kNone;
    for (Id at = container.first; at != id; at = nodes_[at].next) before = at;
    (before == kNone ? container.first : nodes_[before].next) = nodes_[id].next;
    if (container.last == id) container.last = before;
    nodes_[id].next = kNone;
}

bool JsonTree::hasKey(Id id, std::string_view key) const {
    if (nodes_[id].key.empty()) return false;
    std::string_view spelled = nodes_[id].key.substr(1, nodes_[id].key.size() - 2);
    if (spelled.find('\\') == spelled.npos) return spelled == key;
    if (spelled.size() < key.size()) return false;  // an escape is never shorter than what it stands for
    std::string decoded;
    while (!spelled.empty()) {
        std::size_t length = 1;
        if (spelled[0] != '\\') decoded += spelled[0];
        else length = readJsonEscape(spelled, decoded).length;
        if (length == 0) return false;  // half of a surrogate pair is in no key that is asked for
        spelled.remove_prefix(length);
    }
    return decoded == key;
}

JsonTree::Id JsonTree::lastMember(Id object, std::string_view name) const {
    Id found = kNone;
    for (Id id = first(object); id != kNone; id = next(id)) {
        if (hasKey(id, name)) found = id;
    }
    return found;
}

// A member that hid behind another of its name must not come to light.
void JsonTree::removeMembers(Id object, std::string_view name, Id except) {
    for (Id id = first(object); id != kNone; id = next(id)) {
        if (id != except && hasKey(id, name)) remove(id);
    }
}

void JsonTree::put(Id object, std::string_view key, std::string_view name, std::string_view string, bool list) {
    Id id = lastMember(object, name);
    if (id == kNone) id = append(object, Node{.key = key, .text = {}});
    removeMembers(object, name, id);
    Node& node = nodes_[id];
    node.first = node.last = kNone;
    node.kind = list ? Kind::Array : Kind::Scalar;
    if (list) append(id, Node{.key = {}, .text = string});
    else node.text = string;
}

void JsonTree::rename(Id object, std::string_view from, std::string_view key, std::string_view name) {
    const Id id = lastMember(object, from);
    if (id == kNone || from == name) return;
    removeMembers(object, name, kNone);
    removeMembers(object, from, id);
    unlink(object, id);
    nodes_[id].key = key;
    link(object, id);
}

void JsonTree::write(Id id, std::string& out) const {
    const Node& node = nodes_[id];
    if (node.kind == Kind::Scalar) {
        out += node.text;
        return;
    }
    const bool array = node.kind == Kind::Array;
    out += array ? '[' : '{';
    for (Id child = first(id); child != kNone; child = next(child)) {
        if (child != first(id)) out += ',';
        if (!array) out.append(nodes_[child].key) += ':';
        write(child, out);
    }
    out += array ? ']' : '}';
}

}  // namespace weir::base
