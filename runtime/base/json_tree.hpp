#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weir::base {

// A JSON text that is going to be changed: its structure beside views of the text, so that what is not touched is
// written as it was spelled. base::Value is for reading settings: it decodes, and refuses keys that are there twice.
// Takes about 50 bytes for each value of the text. One thread; the text, and texts that are put in, outlive it.
class JsonTree {
public:
    using Id = std::uint32_t;  // of a value; valid as long as the tree, removed values included
    static constexpr Id kNone = 0xFFFFFFFF;
    static constexpr Id kRoot = 0;

    // False when `text` is not JSON (RFC 8259), nested deeper than 64, has more than kMaxValues values, or is over 4 GiB;
    // the tree is of no use then. A key may be there twice.
    bool parse(std::string_view text);
    // A few bytes, compressed, can be millions of values: this many take a loop about 20 ms.
    static constexpr std::size_t kMaxValues = 200000;

    bool isArray(Id id) const { return nodes_[id].kind == Kind::Array; }
    bool isObject(Id id) const { return nodes_[id].kind == Kind::Object; }
    Id first(Id container) const { return standing(nodes_[container].first); }  // kNone: it has no values
    Id next(Id id) const { return standing(nodes_[id].next); }
    // Whether a value of an object has this key, given decoded.
    bool hasKey(Id id, std::string_view key) const;
    std::size_t size() const { return nodes_.size(); }  // ids are below

    // The object's member `key` becomes a string, or a list of one: at the place of the last member of that name if
    // there is one, else at the end. Both texts are JSON strings with their quotes; `name` is the key decoded.
    void put(Id object, std::string_view key, std::string_view name, std::string_view string, bool list);
    // The object's last member `from` becomes its only member `name`, at the end. Nothing when it has none.
    void rename(Id object, std::string_view from, std::string_view key, std::string_view name);
    void remove(Id id) { nodes_[id].removed = true; }

    // Compact, behind what `out` has.
    void write(std::string& out) const { write(kRoot, out); }

private:
    enum class Kind : std::uint8_t { Scalar, Array, Object };
    struct Node {
        std::string_view key;   // as spelled, with its quotes; in an object
        std::string_view text;  // of a scalar, as spelled
        Id first = kNone;
        Id last = kNone;
        Id next = kNone;
        Kind kind = Kind::Scalar;
        bool removed = false;
    };
    struct Reader;

    Id standing(Id id) const {
        while (id != kNone && nodes_[id].removed) id = nodes_[id].next;
        return id;
    }
    Id append(Id parent, const Node& node);
    void link(Id parent, Id id);
    void unlink(Id parent, Id id);
    Id lastMember(Id object, std::string_view name) const;  // of several with a name, the one that counts
    void removeMembers(Id object, std::string_view name, Id except);
    void write(Id id, std::string& out) const;

    std::vector<Node> nodes_;
};

}  // namespace weir::base
