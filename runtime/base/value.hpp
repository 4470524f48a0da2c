#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace weir::base {

// A place in a text, both counted from 1; 0 means unknown (the value did not come from a file).
struct Mark {
    int line = 0;
    int column = 0;
};

// A tree read from YAML or JSON, kept as written: a scalar is its text and whether it was quoted, and what it means is
// decided where it is read. So `name: no` is the text "no" for a string field and false for a boolean one (one rule for
// both formats). Null is a JSON null or a YAML key without a value; a plain `~` or `null` is a scalar that isNull()
// too.
class Value {
public:
    enum class Kind { Null, Scalar, Array, Object };
    struct Member;

    Value() = default;
    static Value null(Mark mark = {});
    static Value scalar(std::string text, bool quoted, Mark mark = {});
    static Value array(Mark mark = {});
    static Value object(Mark mark = {});

    Kind kind() const { return kind_; }
    Mark mark() const { return mark_; }
    bool isScalar() const { return kind_ == Kind::Scalar; }
    bool isArray() const { return kind_ == Kind::Array; }
    bool isObject() const { return kind_ == Kind::Object; }
    // Null, or a plain scalar `~`, `null`, `Null`, `NULL`.
    bool isNull() const;

    // Scalars. text() is "" for the other kinds.
    const std::string& text() const { return text_; }
    bool quoted() const { return quoted_; }
    // true/false/yes/no/on/off in any case, quoted or not; nullopt for everything else.
    std::optional<bool> toBool() const;
    // Decimal digits with an optional sign, within int64; nullopt for everything else.
    std::optional<std::int64_t> toInt() const;
    // A decimal number with optional fraction and exponent, finite; nullopt for everything else.
    std::optional<double> toDouble() const;
    // "a number", "a text", "a list", "a map", "nothing": for messages.
    std::string_view describe() const;

    // Arrays and objects. Order is the order of the text; keys are unique (the readers refuse duplicates).
    const std::vector<Value>& items() const { return items_; }
    const std::vector<Member>& members() const { return members_; }
    const Value* find(std::string_view key) const;
    Value& append(Value item);
    Value& set(std::string key, Value value, Mark keyMark = {});

private:
    Kind kind_ = Kind::Null;
    bool quoted_ = false;
    Mark mark_;
    std::string text_;
    std::vector<Value> items_;
    std::vector<Member> members_;
};

struct Value::Member {
    std::string key;
    Mark keyMark;
    Value value;
};

// JSON text (RFC 8259) as a Value. Refuses what is not JSON, duplicate keys and nesting over 64, naming line and column
// of `text`. Numbers keep their spelling.
Result<Value> parseJson(std::string_view text);

// Compact JSON: plain scalars that spell a JSON number, true, false or null stay bare, all others are quoted.
std::string toJson(const Value& value);
// `text` as a JSON string with its quotes; invalid UTF-8 becomes U+FFFD.
std::string jsonQuote(std::string_view text);

// The candidate nearest to `word` by edit distance (at most a third of its length), for "did you mean"; "" if none.
std::string_view nearest(std::string_view word, const std::vector<std::string_view>& candidates);

}  // namespace weir::base
